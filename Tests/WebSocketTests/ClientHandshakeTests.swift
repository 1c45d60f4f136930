import HTTP1
import Testing
import WebSocket

@Suite("RFC 6455 §4.1: the client's handshake")
struct ClientHandshakeTests {
  /// The nonce of RFC 6455 §1.3, whose base64 form is its sample key.
  static let nonce = Array("the sample nonce".utf8)

  private func client(_ subprotocols: [String] = [], offer: String? = nil) -> ClientHandshake {
    ClientHandshake(
      host: "example.com", target: "/v1/live", nonce: Self.nonce, subprotocols: subprotocols, extensionOffer: offer)
  }

  /// A 101 with the fields of §1.3, some replaced, some more.
  private func response(
    _ replaced: [String: String?] = [:], status: Int = 101, more: [(String, String)] = []
  ) -> ResponseParser.Head {
    var fields: [ResponseParser.Head.Field] = []
    for (name, value) in [
      ("upgrade", "websocket"), ("connection", "Upgrade"), ("sec-websocket-accept", sampleAccept),
    ] {
      switch replaced[name] {
      case nil: fields.append(.init(name: name, value: value))
      case .some(nil): break
      case .some(let other?): fields.append(.init(name: name, value: other))
      }
    }
    for (name, value) in more { fields.append(.init(name: name, value: value)) }
    return ResponseParser.Head(status: status, fields: fields)
  }

  private func isInvalid(_ verdict: ClientHandshake.Verdict) -> Bool {
    if case .invalid = verdict { return true }
    return false
  }

  @Test func theRequestIsWrittenLineByLine() {
    var handshake = client(["a", "b"], offer: "permessage-deflate; client_max_window_bits")
    handshake.fields = ["Origin": "http://localhost", "Authorization": "Bearer t"]
    var bytes: [UInt8] = []
    handshake.appendRequest(to: &bytes)
    #expect(
      String(decoding: bytes, as: UTF8.self) == """
        GET /v1/live HTTP/1.1\r
        Host: example.com\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Version: 13\r
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
        Sec-WebSocket-Protocol: a, b\r
        Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r
        Authorization: Bearer t\r
        Origin: http://localhost\r
        \r

        """)
  }

  @Test func aPlainAnswerIsAccepted() {
    #expect(client().evaluate(response()) == .accepted(subprotocol: nil, deflate: nil))
    #expect(
      client().evaluate(response(["upgrade": "WebSocket", "connection": "keep-alive, upgrade"]))
        == .accepted(subprotocol: nil, deflate: nil))
  }

  @Test(arguments: [200, 302, 400, 401, 403, 426, 503]) func anotherStatusIsARefusal(_ status: Int) {
    #expect(client().evaluate(response(status: status)) == .refused(status: status))
  }

  @Test(
    arguments: [
      ["upgrade": nil], ["upgrade": "h2c"], ["upgrade": "websocket, h2c"], ["connection": nil],
      ["connection": "close"], ["sec-websocket-accept": nil], ["sec-websocket-accept": ""],
      // The key itself, another key's answer, the right answer in small letters.
      ["sec-websocket-accept": "dGhlIHNhbXBsZSBub25jZQ=="], ["sec-websocket-accept": "HSmrc0sMlYUkAGmm5OPpG2HaGWk="],
      ["sec-websocket-accept": "s3pplmbitxaq9kygzzhzrbk+xoo="],
    ] as [[String: String?]])
  func aBrokenAnswerIsInvalid(_ replaced: [String: String?]) {
    #expect(isInvalid(client().evaluate(response(replaced))))
  }

  @Test func anAcceptKeyTwiceIsInvalid() {
    #expect(isInvalid(client().evaluate(response(more: [("sec-websocket-accept", sampleAccept)]))))
  }

  @Test func aSubprotocolMustHaveBeenOffered() {
    let chosen = response(more: [("sec-websocket-protocol", "b")])
    #expect(client(["a", "b"]).evaluate(chosen) == .accepted(subprotocol: "b", deflate: nil))
    #expect(isInvalid(client(["a"]).evaluate(chosen)))
    #expect(isInvalid(client().evaluate(chosen)))
    #expect(client(["a"]).evaluate(response()) == .accepted(subprotocol: nil, deflate: nil))
    let twice = response(more: [("sec-websocket-protocol", "a"), ("sec-websocket-protocol", "b")])
    #expect(isInvalid(client(["a", "b"]).evaluate(twice)))
  }

  /// RFC 7692 §7.1: the offer, the answer, and what is then agreed: server and client takeover off, then their windows.
  @Test(arguments: [
    ("permessage-deflate", "permessage-deflate", DeflateAgreed(false, false, 15, 15)),
    (
      "permessage-deflate", "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
      DeflateAgreed(true, true, 15, 15)
    ),
    ("permessage-deflate", "permessage-deflate; server_max_window_bits=9", DeflateAgreed(false, false, 9, 15)),
    (
      "permessage-deflate; client_max_window_bits", "permessage-deflate; client_max_window_bits=8",
      DeflateAgreed(false, false, 15, 8)
    ),
    ("permessage-deflate; client_max_window_bits", "permessage-deflate", DeflateAgreed(false, false, 15, 15)),
    // §7.1.2.2: a client keeps to the window of its own hint whatever the answer says.
    ("permessage-deflate; client_max_window_bits=10", "permessage-deflate", DeflateAgreed(false, false, 15, 10)),
    (
      "permessage-deflate; client_max_window_bits=10", "permessage-deflate; client_max_window_bits=12",
      DeflateAgreed(false, false, 15, 10)
    ),
    (
      "permessage-deflate; client_max_window_bits=10", "permessage-deflate; client_max_window_bits=9",
      DeflateAgreed(false, false, 15, 9)
    ),
    (
      "permessage-deflate; server_max_window_bits=10", "permessage-deflate; server_max_window_bits=10",
      DeflateAgreed(false, false, 10, 15)
    ),
    (
      "permessage-deflate; server_no_context_takeover", "permessage-deflate; server_no_context_takeover",
      DeflateAgreed(true, false, 15, 15)
    ),
  ])
  func agreements(_ offer: String, _ answer: String, _ agreed: DeflateAgreed) {
    let head = response(more: [("sec-websocket-extensions", answer)])
    #expect(client(offer: offer).evaluate(head) == .accepted(subprotocol: nil, deflate: agreed.parameters))
  }

  @Test(
    arguments: [
      (nil, "permessage-deflate"), ("permessage-deflate", "x-webkit-deflate-frame"), ("permessage-deflate", "=;"),
      ("permessage-deflate", "permessage-deflate, permessage-deflate"),
      ("permessage-deflate", "permessage-deflate; client_max_window_bits=10"),
      ("permessage-deflate; client_max_window_bits", "permessage-deflate; client_max_window_bits"),
      ("permessage-deflate; client_max_window_bits", "permessage-deflate; client_max_window_bits=7"),
      ("permessage-deflate; client_max_window_bits", "permessage-deflate; client_max_window_bits=16"),
      ("permessage-deflate", "permessage-deflate; server_max_window_bits"),
      ("permessage-deflate", "permessage-deflate; server_max_window_bits=08"),
      ("permessage-deflate", "permessage-deflate; server_no_context_takeover=1"),
      ("permessage-deflate", "permessage-deflate; client_no_context_takeover; client_no_context_takeover"),
      ("permessage-deflate", "permessage-deflate; window=9"),
      // What was asked for must be answered.
      ("permessage-deflate; server_no_context_takeover", "permessage-deflate"),
      ("permessage-deflate; server_max_window_bits=10", "permessage-deflate"),
      ("permessage-deflate; server_max_window_bits=10", "permessage-deflate; server_max_window_bits=11"),
    ] as [(String?, String)])
  func answersThatWereNotOfferedAreInvalid(_ offer: String?, _ answer: String) {
    let head = response(more: [("sec-websocket-extensions", answer)])
    #expect(isInvalid(client(offer: offer).evaluate(head)))
  }

  @Test func aNonceOfAnotherLengthIsOurMistake() async {
    await #expect(processExitsWith: .failure) {
      _ = ClientHandshake(host: "a", target: "/", nonce: [1, 2, 3])
    }
  }
}

/// Parameters in one line of a table.
struct DeflateAgreed: Sendable, CustomTestStringConvertible {
  var parameters: DeflateParameters

  /// Takeover given up by the server, by the client; window bits of the server, of the client.
  init(_ server: Bool, _ client: Bool, _ serverBits: Int, _ clientBits: Int) {
    parameters = DeflateParameters(
      serverNoContextTakeover: server, clientNoContextTakeover: client, serverMaxWindowBits: serverBits,
      clientMaxWindowBits: clientBits)
  }

  var testDescription: String { "\(parameters)" }
}
