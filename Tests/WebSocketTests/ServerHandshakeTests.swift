import Testing
import WebSocket

@Suite("RFC 6455 §4.2: the server's handshake")
struct ServerHandshakeTests {
  /// The example of §1.3.
  @Test func theAcceptKeyOfSection1_3() { #expect(ServerHandshake.acceptKey(for: sampleKey) == sampleAccept) }

  @Test func L1_theResponseIsWrittenLineByLine() throws {
    let acceptance = try #require(verdict(upgrade())).get()
    #expect(acceptance.acceptKey == sampleAccept)
    #expect(acceptance.subprotocol == nil)
    #expect(acceptance.deflate == nil)
    var bytes: [UInt8] = []
    acceptance.appendResponse(to: &bytes)
    #expect(
      String(decoding: bytes, as: UTF8.self) == """
        HTTP/1.1 101 Switching Protocols\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r
        \r

        """)
  }

  @Test func L1_whatWasAgreedIsInTheResponse() throws {
    let text = upgrade(more: [
      "Sec-WebSocket-Protocol: threadcast.v1.json", "Sec-WebSocket-Extensions: permessage-deflate",
    ])
    let acceptance = try #require(verdict(text, subprotocols: ["threadcast.v1.json"], deflate: DeflatePolicy())).get()
    var bytes: [UInt8] = []
    acceptance.appendResponse(to: &bytes)
    #expect(
      String(decoding: bytes, as: UTF8.self) == """
        HTTP/1.1 101 Switching Protocols\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r
        Sec-WebSocket-Protocol: threadcast.v1.json\r
        Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; client_no_context_takeover\r
        \r

        """)
  }

  @Test(arguments: ["POST", "HEAD", "PUT", "get", "OPTIONS"]) func L1_otherMethodsAre405(_ method: String) {
    #expect(status(upgrade("\(method) /v1/live HTTP/1.1")) == 405)
  }

  @Test(
    arguments: [
      ["Upgrade": nil], ["Upgrade": "h2c"], ["Upgrade": "websocket2"], ["Upgrade": ""], ["Connection": nil],
      ["Connection": "keep-alive"], ["Connection": "close"], ["Connection": "Upgraded"],
    ] as [[String: String?]])
  func L1_withoutAnUpgradeItIs426(_ replaced: [String: String?]) { #expect(status(upgrade(replaced)) == 426) }

  /// RFC 9110 §7.8: an Upgrade field of HTTP/1.0 counts for nothing.
  @Test func L1_anUpgradeOfHTTP1_0Is426() { #expect(status(upgrade("GET /v1/live HTTP/1.0")) == 426) }

  @Test(
    arguments: [
      ["Upgrade": "WebSocket"], ["Upgrade": "WEBSOCKET"], ["Upgrade": "h2c, websocket"], ["Connection": "upgrade"],
      ["Connection": "keep-alive, Upgrade"], ["Connection": "keep-alive,upgrade"],
    ] as [[String: String?]])
  func listsAndCaseAreRead(_ replaced: [String: String?]) { #expect(status(upgrade(replaced)) == 101) }

  @Test(arguments: [nil, "8", "12", "14", "013", "13, 8", "13.0", "", "x"] as [String?])
  func L1_otherVersionsAre426(_ version: String?) {
    #expect(status(upgrade(["Sec-WebSocket-Version": version])) == 426)
  }

  @Test func aVersionTwiceIs426() {
    #expect(status(upgrade(more: ["Sec-WebSocket-Version: 13"])) == 426)
  }

  @Test(
    arguments: [
      nil, "", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25jZQ===",
      // 15 and 17 bytes.
      "dGhlIHNhbXBsZSBub25j", "dGhlIHNhbXBsZSBub25jZWE=",
      // 24 characters, but none of base64's, or with bits left over in the last.
      "dGhlIHNhbXBsZSBub25j*Q==", "dGhlIHNhbXBsZSBub25jZR==", "dGhlIHNhbXBsZSBub25j-_==", "dGhlIHNhbXBsZSBub25jZQQ=",
      "========================", "dGhlIHNhbXBsZSBub25 ZQ==",
    ] as [String?])
  func L1_keysThatAreNot16BytesAre400(_ key: String?) { #expect(status(upgrade(["Sec-WebSocket-Key": key])) == 400) }

  /// The last character before the padding holds two bits: A, Q, g or w.
  @Test(arguments: ["A", "Q", "g", "w"]) func everyWholeKeyIsTaken(_ last: String) {
    #expect(status(upgrade(["Sec-WebSocket-Key": "+/AZaz09+/AZaz09+/AZa\(last)=="])) == 101)
  }

  @Test func L1_aKeyTwiceIs400() { #expect(status(upgrade(more: ["Sec-WebSocket-Key: \(sampleKey)"])) == 400) }

  @Test(arguments: ["Content-Length: 5", "Transfer-Encoding: chunked"]) func anUpgradeWithABodyIs400(_ line: String) {
    #expect(status(upgrade(more: [line])) == 400)
  }

  @Test func anEmptyBodyIsNone() { #expect(status(upgrade(more: ["Content-Length: 0"])) == 101) }

  @Test(
    arguments: [
      ([], nil), (["threadcast.v1.json"], "threadcast.v1.json"), (["other"], nil),
      (["other, threadcast.v1.json"], "threadcast.v1.json"), (["other", "threadcast.v1.json"], "threadcast.v1.json"),
      (["b,a"], "b"), (["a ,\tb"], "a"), (["A"], nil), (["threadcast.v1.json2"], nil),
    ] as [([String], String?)])
  func L1_theFirstSubprotocolWeSpeakIsChosen(_ offered: [String], _ chosen: String?) throws {
    let text = upgrade(more: offered.map { "Sec-WebSocket-Protocol: \($0)" })
    let acceptance = try #require(verdict(text, subprotocols: ["threadcast.v1.json", "a", "b"])).get()
    #expect(acceptance.subprotocol == chosen)
  }

  @Test(arguments: [
    "permessage-deflate; =1", "permessage-deflate;", "permessage-deflate x", ";", "=", "a;b=\"", "a;b=\"\"",
    "a;b=\"x y\"", "a;b=c d", "a;;b",
  ])
  func malformedExtensionsAre400(_ value: String) {
    #expect(status(upgrade(more: ["Sec-WebSocket-Extensions: \(value)"]), deflate: DeflatePolicy()) == 400)
  }

  @Test func extensionsAreIgnoredWithoutCompression() throws {
    let text = upgrade(more: ["Sec-WebSocket-Extensions: permessage-deflate"])
    #expect(try #require(verdict(text)).get().deflate == nil)
  }
}
