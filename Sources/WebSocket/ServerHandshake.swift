import Crypto
package import HTTP1

/// An accepted upgrade (RFC 6455 §4.2.2).
package struct UpgradeAcceptance: Hashable, Sendable {
  package var acceptKey: String
  /// Nil when none was offered that we speak.
  package var subprotocol: String?
  package var deflate: DeflateParameters?

  /// The 101, complete.
  package func appendResponse(to bytes: inout [UInt8]) {
    var head = ResponseHead(status: 101)
    head.append("Upgrade", "websocket")
    head.append("Connection", "Upgrade")
    head.append("Sec-WebSocket-Accept", acceptKey)
    if let subprotocol { head.append("Sec-WebSocket-Protocol", subprotocol) }
    if let deflate { head.append("Sec-WebSocket-Extensions", deflate.responseText) }
    head.write(into: &bytes)
  }
}

/// A request that is no upgrade we accept, and what to answer (RFC 6455 §4.2.1, §4.4).
package struct UpgradeRefusal: Error, Hashable, Sendable {
  package var status: Int
  package var reason: String
}

/// The server's side of the opening handshake.
package enum ServerHandshake {
  package enum Verdict: Hashable, Sendable {
    case accept(UpgradeAcceptance)
    case refuse(UpgradeRefusal)
  }

  /// Judges a request head.
  /// - Parameters:
  ///   - subprotocols: those we speak; the first of the client's that is among them is chosen. A client that offers
  ///     others only is accepted without one and decides for itself (§4.1).
  ///   - deflate: nil refuses compression.
  package static func evaluate(_ head: RequestHead, subprotocols: [String], deflate: DeflatePolicy?) -> Verdict {
    guard head.method == "GET" else {
      return .refuse(UpgradeRefusal(status: 405, reason: "An upgrade is a GET request."))
    }
    // RFC 9110 §7.8: an Upgrade field of HTTP/1.0 counts for nothing.
    guard head.minorVersion >= 1, head.hasToken("websocket", in: "upgrade"), head.hasToken("upgrade", in: "connection")
    else {
      return .refuse(UpgradeRefusal(status: 426, reason: "This address speaks WebSocket only."))
    }
    guard head.texts(of: "sec-websocket-version") == ["13"] else {
      return .refuse(UpgradeRefusal(status: 426, reason: "Only version 13 of the WebSocket protocol is spoken here."))
    }
    guard head.framing == .none || head.framing == .length(0) else {
      return .refuse(UpgradeRefusal(status: 400, reason: "An upgrade has no body."))
    }
    let keys = head.texts(of: "sec-websocket-key")
    guard keys.count == 1, isKey(keys[0]) else {
      return .refuse(UpgradeRefusal(status: 400, reason: "Sec-WebSocket-Key must be 16 bytes in base64, once."))
    }
    let offered = head.texts(of: "sec-websocket-protocol").flatMap { $0.split(separator: ",") }
      .map { String($0.trimmed()) }
    var agreed: DeflateParameters?
    if let deflate {
      let fields = head.texts(of: "sec-websocket-extensions")
      if !fields.isEmpty {
        guard let offers = ExtensionOffer.parse(fields.joined(separator: ",")) else {
          return .refuse(UpgradeRefusal(status: 400, reason: "Sec-WebSocket-Extensions is malformed."))
        }
        agreed = deflate.accept(offers)
      }
    }
    return .accept(
      UpgradeAcceptance(
        acceptKey: acceptKey(for: keys[0]), subprotocol: offered.first { subprotocols.contains($0) }, deflate: agreed))
  }

  /// The base64 form of exactly 16 bytes: 22 characters and `==`, with no bit left over (RFC 4648 §3.5).
  private static func isKey(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count == 24, bytes[22] == UInt8(ascii: "="), bytes[23] == UInt8(ascii: "=") else { return false }
    guard bytes[..<22].allSatisfy(Base64.isCharacter) else { return false }
    return "AQgw".utf8.contains(bytes[21])
  }

  /// §4.2.2: base64 of SHA-1 over the key and the protocol's own text.
  package static func acceptKey(for key: String) -> String {
    Base64.encode(SHA1.digest(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
  }
}
