import Chat
import Testing
import Wire

/// Decodes one frame.
func frame(_ text: String, limits: Limits = Limits()) -> FrameRequest {
  Array(text.utf8).withUnsafeBytes { RequestDecoder(limits: limits).decodeFrame($0) }
}

/// Decodes an operation over the socket; a malformed frame is an issue.
func overSocket(_ op: String, _ data: String, limits: Limits = Limits()) -> Result<Operation, Refusal> {
  switch frame("{\"id\":1,\"op\":\"\(op)\",\"data\":\(data)}", limits: limits) {
  case .request(_, let result): return result
  case .malformed(let refusal): return .failure(refusal)
  }
}

/// Routes and decodes a request over HTTP.
func overHTTP(
  _ method: String, _ target: String, _ body: String = "", limits: Limits = Limits()
) -> Result<Operation, Refusal> {
  let sides = target.split(separator: "?", maxSplits: 1)
  guard case .operation(let definition, let parameters) = HTTPRouter().route(method: method, path: String(sides[0]))
  else { return .failure(Refusal(.apiNotFound)) }
  guard let query = HTTPQuery.parse(sides.count > 1 ? String(sides[1]) : "") else {
    return .failure(Refusal(.badRequest))
  }
  return Array(body.utf8).withUnsafeBytes {
    RequestDecoder(limits: limits).decodeHTTP(definition, parameters: parameters, query: query, body: $0)
  }
}

/// Decodes a message.send with these members beside its receiver.
func send(_ members: String, limits: Limits = Limits()) -> Result<Operation, Refusal> {
  overSocket("message.send", "{\"receiverUid\":\"bob\",\"receiverType\":\"user\",\(members)}", limits: limits)
}

extension Result where Success == Operation, Failure == Refusal {
  var code: RefusalCode? {
    if case .failure(let refusal) = self { refusal.code } else { nil }
  }

  /// The field that the refusal names.
  var field: String? {
    guard case .failure(let refusal) = self else { return nil }
    for case .field(let name) in refusal.details { return name }
    return nil
  }

  /// The limit that the refusal names.
  var limit: Refusal.Detail? {
    guard case .failure(let refusal) = self else { return nil }
    for case .limit(let name, let value) in refusal.details { return .limit(name: name, value: value) }
    return nil
  }

  var message: OutgoingMessage? {
    if case .success(.messageSend(let message)) = self { message } else { nil }
  }
}

let bob = UserID(stored: "bob")
let ann = UserID(stored: "ann")
let crew = GroupID(stored: "crew")
