import HTTP1
import Testing
import WebSocket

@Suite("RFC 7692 §7.1: negotiation")
struct NegotiationTests {
  /// A server that answers only what it is asked for.
  static let modest = DeflatePolicy(serverNoContextTakeover: false, clientNoContextTakeover: false)

  private func agreed(_ fields: [String], _ policy: DeflatePolicy) throws -> DeflateParameters? {
    let text = upgrade(more: fields.map { "Sec-WebSocket-Extensions: \($0)" })
    return try #require(verdict(text, deflate: policy)).get().deflate
  }

  /// What browsers send, and our answer to it: no client parameter that was not offered, and none left unanswered.
  @Test(arguments: [
    // Chrome and Edge; then Firefox; then Safari.
    (
      "permessage-deflate; client_max_window_bits",
      "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
    ),
    ("permessage-deflate", "permessage-deflate; server_no_context_takeover; client_no_context_takeover"),
    (
      "permessage-deflate; client_max_window_bits=15; server_no_context_takeover",
      "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
    ),
    // A library that limits both windows; one that names both flags.
    (
      "permessage-deflate; server_max_window_bits=12; client_max_window_bits=10",
      "permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=12; "
        + "client_max_window_bits=10"
    ),
    (
      "permessage-deflate; client_no_context_takeover; server_no_context_takeover",
      "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
    ),
  ])
  func C008_L1_offersAreAnswered(_ offer: String, _ answer: String) throws {
    #expect(try #require(try agreed([offer], DeflatePolicy())).responseText == answer)
  }

  /// A server that keeps context answers with what was asked for and no more.
  @Test(arguments: [
    ("permessage-deflate", "permessage-deflate"),
    ("permessage-deflate; client_max_window_bits", "permessage-deflate"),
    ("permessage-deflate; client_max_window_bits=15", "permessage-deflate"),
    ("permessage-deflate; client_max_window_bits=9", "permessage-deflate; client_max_window_bits=9"),
    ("permessage-deflate; server_max_window_bits=15", "permessage-deflate"),
    ("permessage-deflate; server_max_window_bits=8", "permessage-deflate; server_max_window_bits=8"),
    ("permessage-deflate; server_no_context_takeover", "permessage-deflate; server_no_context_takeover"),
    ("permessage-deflate; client_no_context_takeover", "permessage-deflate; client_no_context_takeover"),
    // Quoted values are the same values; an escape stands for its character.
    ("permessage-deflate; server_max_window_bits=\"10\"", "permessage-deflate; server_max_window_bits=10"),
    ("permessage-deflate; server_max_window_bits=\"\\1\\0\"", "permessage-deflate; server_max_window_bits=10"),
    ("permessage-deflate ;\tclient_max_window_bits = 11", "permessage-deflate; client_max_window_bits=11"),
    // The first offer that can be had, in the client's order.
    (
      "permessage-deflate; server_max_window_bits=10, permessage-deflate",
      "permessage-deflate; server_max_window_bits=10"
    ),
    ("permessage-deflate; server_max_window_bits=7, permessage-deflate", "permessage-deflate"),
    (
      "permessage-deflate; colour=red, permessage-deflate; server_max_window_bits=9",
      "permessage-deflate; server_max_window_bits=9"
    ),
    (
      "x-webkit-deflate-frame, permessage-deflate; client_no_context_takeover",
      "permessage-deflate; client_no_context_takeover"
    ),
    (", ,permessage-deflate,", "permessage-deflate"),
  ])
  func C008_theAnswerHoldsWhatWasOffered(_ offer: String, _ answer: String) throws {
    #expect(try #require(try agreed([offer], Self.modest)).responseText == answer)
  }

  @Test func offersMayStandInSeveralFields() throws {
    let fields = ["permessage-deflate; server_max_window_bits=99", "permessage-deflate; server_max_window_bits=11"]
    #expect(
      try #require(try agreed(fields, Self.modest)).responseText == "permessage-deflate; server_max_window_bits=11")
  }

  @Test(arguments: [
    "permessage-deflate; unknown", "permessage-deflate; unknown=1", "permessage-deflate; server_max_window_bits",
    "permessage-deflate; server_max_window_bits=7", "permessage-deflate; server_max_window_bits=16",
    "permessage-deflate; server_max_window_bits=0", "permessage-deflate; server_max_window_bits=010",
    "permessage-deflate; server_max_window_bits=-9", "permessage-deflate; server_max_window_bits=+9",
    "permessage-deflate; server_max_window_bits=9x", "permessage-deflate; client_max_window_bits=7",
    "permessage-deflate; client_max_window_bits=16", "permessage-deflate; client_max_window_bits=ten",
    "permessage-deflate; server_no_context_takeover=1", "permessage-deflate; client_no_context_takeover=true",
    "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
    "permessage-deflate; client_max_window_bits; client_max_window_bits=10",
    "permessage-deflate; server_max_window_bits=10; server_max_window_bits=10", "x-webkit-deflate-frame",
    "permessage-bzip2", "permessage-deflate; server_max_window_bits=99999999999999999999",
  ])
  func otherOffersAreDeclined(_ offer: String) throws {
    #expect(try agreed([offer], DeflatePolicy()) == nil)
    #expect(try agreed([offer], Self.modest) == nil)
  }

  /// Both our sides agree on the same thing.
  @Test(arguments: [
    "permessage-deflate", "permessage-deflate; client_max_window_bits",
    "permessage-deflate; client_max_window_bits=9; server_max_window_bits=10; server_no_context_takeover",
  ])
  func C008_bothSidesAgree(_ offer: String) throws {
    for policy in [DeflatePolicy(), Self.modest] {
      let acceptance = try #require(
        verdict(upgrade(more: ["Sec-WebSocket-Extensions: \(offer)"]), deflate: policy)
      ).get()
      let client = ClientHandshake(
        host: "example.com", target: "/", nonce: ClientHandshakeTests.nonce, extensionOffer: offer)
      let parameters = try #require(acceptance.deflate)
      let answer = [
        ("upgrade", "websocket"), ("connection", "Upgrade"), ("sec-websocket-accept", acceptance.acceptKey),
        ("sec-websocket-extensions", parameters.responseText),
      ]
      let head = ResponseParser.Head(status: 101, fields: answer.map { .init(name: $0.0, value: $0.1) })
      #expect(client.evaluate(head) == .accepted(subprotocol: nil, deflate: parameters))
    }
  }
}
