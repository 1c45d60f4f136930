import HTTP1
import Testing
import WebSocket

@Suite("RFC 6455 §4.1 and RFC 7692 §5.1: what a client takes")
struct ClientVerdictTests {
  private func verdict(_ offer: String, _ answer: String?, upgrade: String = "websocket") -> ClientHandshake.Verdict {
    let handshake = ClientHandshake(
      host: "h", target: "/", nonce: Array("the sample nonce".utf8), extensionOffer: offer)
    var fields = [("upgrade", upgrade), ("connection", "upgrade"), ("sec-websocket-accept", sampleAccept)]
    if let answer { fields.append(("sec-websocket-extensions", answer)) }
    return handshake.evaluate(.init(status: 101, fields: fields.map { .init(name: $0.0, value: $0.1) }))
  }

  /// The answer may suit any of the offers.
  @Test func theSecondOfferMayBeAnswered() {
    let offer = "permessage-deflate; server_max_window_bits=9, permessage-deflate"
    let plain = DeflateParameters(serverNoContextTakeover: false, clientNoContextTakeover: false)
    #expect(verdict(offer, "permessage-deflate") == .accepted(subprotocol: nil, deflate: plain))
    #expect(
      verdict("permessage-deflate; server_max_window_bits=9", "permessage-deflate")
        == .invalid(reason: "extensions were answered that were not offered"))
  }

  /// U+212A lower-cases to `k` in Unicode, and is no `k` in HTTP.
  @Test func theKelvinSignIsNoLetterOfAToken() {
    #expect(verdict("x", nil, upgrade: "WebSocket") == .accepted(subprotocol: nil, deflate: nil))
    #expect(
      verdict("x", nil, upgrade: "websoc\u{212A}et") == .invalid(reason: "the response does not upgrade to websocket"))
  }
}
