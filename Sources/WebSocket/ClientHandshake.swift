import Crypto
package import HTTP1

/// The client's side of the opening handshake (RFC 6455 §4.1).
package struct ClientHandshake: Hashable, Sendable {
  package var host: String
  package var target: String
  package var key: String
  package var subprotocols: [String]
  /// The offer as sent, for example `permessage-deflate; client_max_window_bits`; nil offers none.
  package var extensionOffer: String?
  package var fields: [String: String]

  /// - Parameter nonce: 16 unpredictable bytes.
  package init(
    host: String, target: String, nonce: [UInt8], subprotocols: [String] = [], extensionOffer: String? = nil,
    fields: [String: String] = [:]
  ) {
    precondition(nonce.count == 16, "a handshake's nonce has 16 bytes")
    self.host = host
    self.target = target
    key = Base64.encode(nonce)
    self.subprotocols = subprotocols
    self.extensionOffer = extensionOffer
    self.fields = fields
  }

  /// The request, complete.
  package func appendRequest(to bytes: inout [UInt8]) {
    bytes += "GET \(target) HTTP/1.1\r\nHost: \(host)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n".utf8
    bytes += "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: \(key)\r\n".utf8
    if !subprotocols.isEmpty { bytes += "Sec-WebSocket-Protocol: \(subprotocols.joined(separator: ", "))\r\n".utf8 }
    if let extensionOffer { bytes += "Sec-WebSocket-Extensions: \(extensionOffer)\r\n".utf8 }
    for (name, value) in fields.sorted(by: { $0.key < $1.key }) { bytes += "\(name): \(value)\r\n".utf8 }
    bytes += "\r\n".utf8
  }

  package enum Verdict: Hashable, Sendable {
    case accepted(subprotocol: String?, deflate: DeflateParameters?)
    /// The server answered with another status.
    case refused(status: Int)
    /// The answer breaks the handshake's rules; the connection must be failed.
    case invalid(reason: String)
  }

  /// Judges the response: nothing may be in it that was not offered.
  package func evaluate(_ response: ResponseParser.Head) -> Verdict {
    guard response.status == 101 else { return .refused(status: response.status) }
    guard response.values(of: "upgrade").count == 1,
      response.values(of: "upgrade")[0].equalsIgnoringASCIICase("websocket")
    else {
      return .invalid(reason: "the response does not upgrade to websocket")
    }
    let connection = response.values(of: "connection").flatMap { $0.listElements() }
    guard connection.contains(where: { $0.equalsIgnoringASCIICase("upgrade") }) else {
      return .invalid(reason: "the response's Connection field does not say Upgrade")
    }
    guard response.values(of: "sec-websocket-accept") == [ServerHandshake.acceptKey(for: key)] else {
      return .invalid(reason: "the accept key does not match")
    }
    let chosen = response.values(of: "sec-websocket-protocol")
    guard chosen.count <= 1, chosen.allSatisfy(subprotocols.contains) else {
      return .invalid(reason: "a subprotocol was chosen that was not offered")
    }
    let fields = response.values(of: "sec-websocket-extensions")
    guard !fields.isEmpty else { return .accepted(subprotocol: chosen.first, deflate: nil) }
    guard let agreed = ExtensionOffer.parse(fields.joined(separator: ",")), agreed.count == 1,
      agreed[0].name == "permessage-deflate", let parameters = parameters(agreed[0])
    else { return .invalid(reason: "extensions were answered that were not offered") }
    return .accepted(subprotocol: chosen.first, deflate: parameters)
  }

  /// RFC 7692 §7.1: the answer must suit one of the offers.
  private func parameters(_ answer: ExtensionOffer) -> DeflateParameters? {
    let offers = extensionOffer.flatMap(ExtensionOffer.parse) ?? []
    return offers.lazy.filter { $0.name == "permessage-deflate" }.compactMap { Self.agreement($0, answer) }.first
  }

  /// What an answer to this offer agrees on; nil when it may not be given to this offer.
  private static func agreement(_ offer: ExtensionOffer, _ answer: ExtensionOffer) -> DeflateParameters? {
    var agreed = DeflateParameters(serverNoContextTakeover: false, clientNoContextTakeover: false)
    var seen: Set<String> = []
    for parameter in answer.parameters {
      guard seen.insert(parameter.name).inserted else { return nil }
      switch (parameter.name, parameter.value) {
      case ("server_no_context_takeover", nil): agreed.serverNoContextTakeover = true
      case ("client_no_context_takeover", nil): agreed.clientNoContextTakeover = true
      case ("server_max_window_bits", let value?):
        guard let bits = DeflatePolicy.windowBits(value) else { return nil }
        agreed.serverMaxWindowBits = bits
      case ("client_max_window_bits", let value?):
        guard let bits = DeflatePolicy.windowBits(value) else { return nil }
        agreed.clientMaxWindowBits = bits
      default: return nil
      }
    }
    for parameter in offer.parameters {
      let bits = parameter.value.flatMap(DeflatePolicy.windowBits)
      switch parameter.name {
      case "server_no_context_takeover": guard agreed.serverNoContextTakeover else { return nil }
      case "server_max_window_bits": guard agreed.serverMaxWindowBits <= bits ?? 15 else { return nil }
      case "client_max_window_bits":
        // §7.1.2.2: an offer's value is the client's promise, whatever is answered to it.
        agreed.clientMaxWindowBits = min(agreed.clientMaxWindowBits, bits ?? 15)
      default: break
      }
    }
    // §7.1.2.2: only what was offered may be answered.
    let isOffered = offer.parameters.contains { $0.name == "client_max_window_bits" }
    guard isOffered || !seen.contains("client_max_window_bits") else { return nil }
    return agreed
  }
}
