import HTTP1
import Testing
import WebSocket

/// The key of RFC 6455 §1.3 and what must be answered to it.
let sampleKey = "dGhlIHNhbXBsZSBub25jZQ=="
let sampleAccept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

/// The head of a request as the HTTP parser reads it; nil when that refuses it.
func requestHead(_ text: String) -> RequestHead? {
  var parser = RequestParser()
  var bytes = Array(text.utf8)
  return bytes.withUnsafeMutableBytes { memory in
    var input = memory
    guard case .head(let head) = parser.next(&input) else { return nil }
    return head
  }
}

/// An upgrade with the fields of RFC 6455 §1.3, some of them replaced; a name with no value leaves its field out.
func upgrade(
  _ line: String = "GET /v1/live HTTP/1.1", _ replaced: [String: String?] = [:], more: [String] = []
) -> String {
  var text = line + "\r\n"
  for (name, value) in [
    ("Host", "example.com"), ("Upgrade", "websocket"), ("Connection", "Upgrade"),
    ("Sec-WebSocket-Key", sampleKey), ("Sec-WebSocket-Version", "13"),
  ] {
    switch replaced[name] {
    case nil: text += "\(name): \(value)\r\n"
    case .some(nil): break
    case .some(let other?): text += "\(name): \(other)\r\n"
    }
  }
  for line in more { text += line + "\r\n" }
  return text + "\r\n"
}

/// What the server says of a request: the acceptance, or the refusal's status; nil when the head itself is refused.
func verdict(
  _ text: String, subprotocols: [String] = [], deflate: DeflatePolicy? = nil
) -> Result<UpgradeAcceptance, UpgradeRefusal>? {
  guard let head = requestHead(text) else { return nil }
  switch ServerHandshake.evaluate(head, subprotocols: subprotocols, deflate: deflate) {
  case .accept(let acceptance): return .success(acceptance)
  case .refuse(let refusal): return .failure(refusal)
  }
}

/// The status of a refusal; 101 for an acceptance.
func status(_ text: String, subprotocols: [String] = [], deflate: DeflatePolicy? = nil) -> Int? {
  switch verdict(text, subprotocols: subprotocols, deflate: deflate) {
  case .success: 101
  case .failure(let refusal): refusal.status
  case nil: nil
  }
}

func upgrade(_ replaced: [String: String?]) -> String { upgrade("GET /v1/live HTTP/1.1", replaced) }
