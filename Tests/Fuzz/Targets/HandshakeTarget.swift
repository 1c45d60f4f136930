import HTTP1
import WebSocket

/// Requests into `ServerHandshake`, responses into `ResponseParser` and `ClientHandshake`.
///
/// Properties: an accepted request is answered with what our own client accepts for the offers that stood in it, with
/// the same parameters and none that was not asked for (C008); a response that is accepted agrees on nothing that was
/// not offered; how a response is cut changes nothing.
enum HandshakeTarget {
  static let rejections: Set<String> = [
    "405 An upgrade is a GET request.", "426 This address speaks WebSocket only.",
    "426 Only version N of the WebSocket protocol is spoken here.", "400 An upgrade has no body.",
    "400 Sec-WebSocket-Key must be N bytes in base64, once.", "400 Sec-WebSocket-Extensions is malformed.",
    "response 400 a CR without LF", "response 400 a line ends without CR", "response 400 the head holds a NUL",
    "response 400 the status line is missing", "response 431 the response head is too large",
    "response 400 the status line is malformed", "response 400 a header field is malformed", "refused status N",
    "invalid the response does not upgrade to websocket",
    "invalid the response's Connection field does not say Upgrade", "invalid the accept key does not match",
    "invalid a subprotocol was chosen that was not offered",
    "invalid extensions were answered that were not offered",
  ]

  private static let subprotocols = ["threadcast.v1.json", "chat"]

  /// - Options: a byte of setup (bit 0 the client's side; for a server bits 1–2 its policy, for a client bits 1–3 its
  ///   offer and 4 whether it names subprotocols), a byte of cutting.
  static func run(_ options: inout FuzzOptions, _ report: inout FuzzReport) {
    let choice = Int(options.byte())
    let cutting = Cutting(options.byte())
    if choice & 1 == 0 {
      serve(options.rest, policies[choice >> 1 & 3], &report)
    } else {
      let handshake = client(offers[choice >> 1 & 7], subprotocols: choice & 16 == 0 ? subprotocols : [])
      answer(options.rest, handshake, cutting, &report)
    }
  }

  // MARK: The server's side

  private static let policies: [DeflatePolicy?] = [
    DeflatePolicy(), nil, DeflatePolicy(serverNoContextTakeover: false, clientNoContextTakeover: false),
    DeflatePolicy(serverNoContextTakeover: false),
  ]

  private static func serve(_ bytes: [UInt8], _ policy: DeflatePolicy?, _ report: inout FuzzReport) {
    var parser = RequestParser()
    var memory = bytes
    let head: RequestHead? = memory.withUnsafeMutableBytes { whole in
      var input = whole
      guard case .head(let head) = parser.next(&input) else { return nil }
      return head
    }
    guard let head else { return }
    switch ServerHandshake.evaluate(head, subprotocols: subprotocols, deflate: policy) {
    case .refuse(let refusal): report.reject(refusal.status, refusal.reason)
    case .accept(let acceptance):
      report.accept()
      judge(acceptance, of: head, policy, &report)
    }
  }

  /// What the request's own sender makes of our answer.
  private static func judge(
    _ acceptance: UpgradeAcceptance, of head: RequestHead, _ policy: DeflatePolicy?, _ report: inout FuzzReport
  ) {
    report.check(head.method == "GET" && head.minorVersion == 1, "\(head.method) was upgraded")
    report.check(head.texts(of: "sec-websocket-version") == ["13"], "another version was accepted")
    let extensions = head.texts(of: "sec-websocket-extensions")
    report.check(acceptance.deflate == nil || policy != nil && !extensions.isEmpty, "deflate out of nothing")
    var peer = client(extensions.isEmpty ? nil : extensions.joined(separator: ","), subprotocols: subprotocols)
    peer.key = head.text(of: "sec-websocket-key") ?? ""
    peer.subprotocols = head.texts(of: "sec-websocket-protocol").flatMap { $0.split(separator: ",") }
      .map { String($0.trimmed()) }
    var response: [UInt8] = []
    acceptance.appendResponse(to: &response)
    guard case .head(let answer) = read(response, .oneByOne, &report) else {
      return report.check(false, "our response cannot be read")
    }
    guard case .accepted(let subprotocol, let deflate) = peer.evaluate(answer) else {
      return report.check(false, "our client refuses \(answer) for \(peer)")
    }
    report.check(subprotocol == acceptance.subprotocol, "\(subprotocol ?? "none") is not what was chosen")
    report.check(subprotocol.map(subprotocols.contains) ?? true, "a subprotocol that we do not speak")
    // With several offers the client may hold itself to a smaller window than was answered; never to a larger one.
    var expected = acceptance.deflate
    if let bits = deflate?.clientMaxWindowBits, bits <= expected?.clientMaxWindowBits ?? 0 {
      expected?.clientMaxWindowBits = bits
    }
    report.check(deflate == expected, "the client read \(String(describing: deflate)), the server \(acceptance)")
  }

  // MARK: The client's side

  private static let chrome = "permessage-deflate; client_max_window_bits"
  private static let safari = "x-webkit-deflate-frame, permessage-deflate"
  private static let offers: [String?] = [
    nil, "permessage-deflate", chrome, safari, "permessage-deflate; client_max_window_bits=10",
    "permessage-deflate; server_max_window_bits=9; server_no_context_takeover",
    "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
    "permessage-deflate; server_max_window_bits=12, permessage-deflate; client_max_window_bits",
  ]

  private static func client(_ offer: String?, subprotocols: [String]) -> ClientHandshake {
    // Sixteen zeros: the corpus holds the accept key that belongs to them.
    ClientHandshake(
      host: "a", target: "/v1/live", nonce: [UInt8](repeating: 0, count: 16), subprotocols: subprotocols,
      extensionOffer: offer)
  }

  private static func answer(
    _ bytes: [UInt8], _ handshake: ClientHandshake, _ cutting: Cutting, _ report: inout FuzzReport
  ) {
    let event = read(bytes, .whole, &report)
    for other in cutting.all(for: bytes.count) where other != .whole {
      let again = read(bytes, other, &report)
      report.check(again == event, "cut \(other): \(again) instead of \(event)")
    }
    switch event {
    case .needMore: return
    case .failed(let failure): report.reject("response \(failure.status)", failure.reason)
    case .head(let head):
      switch handshake.evaluate(head) {
      case .refused(let status):
        report.check(status != 101, "a 101 was taken for a refusal")
        report.reject("refused", "status \(status)")
      case .invalid(let reason): report.reject("invalid", reason)
      case .accepted(let subprotocol, let deflate):
        report.accept()
        report.check(head.status == 101, "\(head.status) upgrades")
        report.check(subprotocol.map(handshake.subprotocols.contains) ?? true, "a subprotocol that was not offered")
        if let deflate { judge(deflate, for: handshake, &report) }
      }
    }
  }

  private static func judge(_ agreed: DeflateParameters, for handshake: ClientHandshake, _ report: inout FuzzReport) {
    guard let offer = handshake.extensionOffer else { return report.check(false, "deflate was not offered") }
    report.check((8...15).contains(agreed.serverMaxWindowBits), "a window of \(agreed.serverMaxWindowBits) bits")
    report.check((8...15).contains(agreed.clientMaxWindowBits), "a window of \(agreed.clientMaxWindowBits) bits")
    if !offer.contains("client_max_window_bits") {
      report.check(agreed.clientMaxWindowBits == 15, "a client window that was not offered")
    }
    if !offer.contains(","), offer.contains("server_no_context_takeover") {
      report.check(agreed.serverNoContextTakeover, "the server keeps a context that it was asked not to keep")
    }
  }

  private static func read(
    _ bytes: [UInt8], _ cutting: Cutting, _ report: inout FuzzReport
  ) -> ResponseParser.Event {
    var parser = ResponseParser()
    for range in cutting.pieces(of: bytes.count) {
      var piece = Array(bytes[range])
      let event = piece.withUnsafeMutableBytes { memory in
        var input = memory
        return parser.next(&input)
      }
      report.check(parser.heldBytes <= 2 * 16_384 + 64, "\(parser.heldBytes) bytes are held")
      if event != .needMore {
        report.check(parser.heldBytes == 0, "\(parser.heldBytes) bytes are held behind the head")
        return event
      }
    }
    return .needMore
  }
}
