import Chat
import Foundation
import HTTP1
import Store
import Testing
import WebSocket

@testable import Gateway

@Suite("L1, L2, L4: from the upgrade to the hello")
struct ConnectTests {
  @Test func L1_withoutAnUpgradeTheAnswerIs426() throws {
    let stage = try Stage()
    let peer = Peer(stage)
    peer.send("GET /v1/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let answer = peer.rawText()
    #expect(answer.hasPrefix("HTTP/1.1 426 Upgrade Required\r\n"))
    #expect(answer.contains("\r\nUpgrade: websocket\r\n"))
    #expect(answer.contains("\r\nSec-WebSocket-Version: 13\r\n"))
    #expect(peer.isEnded)
  }

  @Test func L1_ourSubprotocolIsEchoed() throws {
    let peer = Peer(try Stage())
    let head = try peer.upgrade()
    #expect(head.status == 101)
    #expect(head.values(of: "sec-websocket-protocol") == ["threadcast.v1.json"])
  }

  @Test(arguments: ["", "Sec-WebSocket-Protocol: chat\r\n"])
  func L1_otherSubprotocolsAreAcceptedWithoutOne(field: String) throws {
    let peer = Peer(try Stage())
    peer.send(
      "GET /v1/live HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\(field)"
        + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
    let answer = peer.rawText()
    #expect(answer.hasPrefix("HTTP/1.1 101 "))
    #expect(answer.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
    #expect(!answer.contains("Sec-WebSocket-Protocol"))
  }

  @Test func L1_deflateServesEverybodyFromOneState() throws {
    let peer = Peer(try Stage())
    let head = try peer.upgrade(offer: "permessage-deflate; client_max_window_bits; server_max_window_bits=12")
    #expect(
      head.values(of: "sec-websocket-extensions")
        == ["permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=12"])
  }

  @Test(arguments: ["Bearer nobody", "Bearer ", "Basic abc"])
  func L2_aBadTokenInTheUpgradeIs401BeforeThe101(field: String) throws {
    let peer = Peer(try Stage())
    let head = try peer.upgrade(fields: ["Authorization": field])
    #expect(head.status == 401)
    #expect(peer.isEnded)
  }

  @Test func L2_aBadTokenInTheQueryIs401BeforeThe101() throws {
    let peer = Peer(try Stage())
    #expect(try peer.upgrade("/v1/live?access_token=nobody").status == 401)
  }

  @Test(arguments: [("/v1/live?access_token=dev-ann", ""), ("/v1/live", "Bearer dev-ann")])
  func L2_aTokenInTheUpgradeNeedsConnectAllTheSame(target: String, field: String) throws {
    let stage = try Stage()
    let peer = Peer(stage)
    #expect(try peer.upgrade(target, fields: field.isEmpty ? [:] : ["Authorization": field]).status == 101)
    #expect(peer.rawMessages().isEmpty)
    peer.text(#"{"id":"a","op":"connect"}"#)
    let hello = try #require(peer.messages().first)
    #expect(hello.bool("ok") == true)
    #expect(hello.string("data.uid") == "ann")
  }

  @Test(arguments: [
    (nil, 101), ("https://chat.example", 101), ("https://app.example:8443", 101), ("http://127.0.0.1:3000", 101),
    ("http://[::1]:3000", 101), ("null", 403), ("https://evil.example", 403), ("https://chat.example.evil.com", 403),
    ("https://CHAT.example", 403), ("https://chat.example:444", 403), ("http://chat.example", 403),
    ("http://localhost:3000", 403), ("http://127.0.0.1.evil.com", 403), ("https://app.example", 403), ("", 403),
  ])
  func A4_C186_onlyPagesOfAllowedOriginsConnect(origin: String?, status: Int) throws {
    var settings = GatewaySettings()
    settings.origins = OriginPolicy(allowed: ["https://app.example:8443"], publicNames: ["chat.example"])
    let peer = Peer(try Stage(settings: settings))
    let head = try peer.upgrade(fields: origin.map { ["Origin": $0] } ?? [:])
    #expect(head.status == status)
  }

  @Test(arguments: [("localhost:8080", 101), ("127.0.0.1", 101), ("[::1]:8080", 101), ("rebound.example", 421)])
  func A4_aDevelopmentGatewayAnswersToItsOwnNamesAlone(host: String, status: Int) throws {
    var settings = GatewaySettings()
    settings.isDevelopment = true
    let peer = Peer(try Stage(settings: settings))
    peer.send(
      "GET /v1/live HTTP/1.1\r\nHost: \(host)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
    #expect(peer.rawText().hasPrefix("HTTP/1.1 \(status) "))
  }

  @Test func L2_withoutConnectInTimeTheSocketIsClosed4200() throws {
    let stage = try Stage()
    let peer = Peer(stage)
    try peer.upgrade(fields: ["Authorization": "Bearer dev-ann"])
    stage.advance(seconds: 4)
    #expect(peer.closed() == nil)
    stage.advance(seconds: 2)
    #expect(peer.closed() == 4200)
  }

  @Test func L2_aBadTokenInConnectGetsAReplyAnd4200() throws {
    let peer = Peer(try Stage())
    try peer.upgrade()
    peer.text(#"{"id":"a","op":"connect","data":{"token":"nobody"}}"#)
    let reply = try #require(peer.messages().first)
    #expect(reply.bool("ok") == false)
    #expect(reply.string("id") == "a")
    #expect(reply.string("error.code") == "ERR_NOT_LOGGED_IN")
    #expect(peer.closed() == 4200)
  }

  @Test func L2_anExpiredTokenIs4101() throws {
    let stage = try Stage()
    stage.apply(.mintToken(UserID(stored: "ann"), hash: Secret.digest("old"), expiresAt: UnixSeconds(1)))
    let peer = Peer(stage)
    try peer.upgrade()
    peer.text(#"{"id":"a","op":"connect","data":{"token":"old"}}"#)
    #expect(peer.messages().first?.string("error.code") == "ERR_NOT_LOGGED_IN")
    #expect(peer.closed() == 4101)
  }

  @Test func L2_aRevokedTokenIs4201() throws {
    let stage = try Stage()
    stage.apply(.revokeToken(hash: Secret.digest("dev-ann")))
    let peer = Peer(stage)
    try peer.upgrade()
    peer.text(#"{"id":"a","op":"connect","data":{"token":"dev-ann"}}"#)
    #expect(peer.messages().first?.string("error.code") == "ERR_NOT_LOGGED_IN")
    #expect(peer.closed() == 4201)
  }

  @Test func L2_aTokenOfAnotherUserThanTheUpgradesIs4200() throws {
    let peer = Peer(try Stage())
    try peer.upgrade(fields: ["Authorization": "Bearer dev-ann"])
    peer.text(#"{"id":"a","op":"connect","data":{"token":"dev-bob"}}"#)
    #expect(peer.messages().first?.bool("ok") == false)
    #expect(peer.closed() == 4200)
  }

  @Test(arguments: [
    #"{"id":1,"op":"message.send","data":{"receiverUid":"bob","receiverType":"user","text":"x"}}"#,
    #"{"id":1,"op":"ping"}"#, "not json", #"{"id":1,"op":"connect"}"#,
  ])
  func L2_anyOtherFirstFrameIs4200(frame: String) throws {
    let stage = try Stage()
    let peer = Peer(stage)
    try peer.upgrade()
    peer.text(frame)
    #expect(peer.messages().first?.bool("ok") == false)
    #expect(peer.closed() == 4200)
    let watcher = Peer(stage)
    try watcher.connect("dev-bob")
    #expect(try watcher.call("messages.list").string("data.0.text") == nil)
  }

  @Test func L2_operationsBeforeTheHelloWaitAndFollowIt() throws {
    let stage = try Stage()
    let peer = Peer(stage)
    try peer.upgrade()
    peer.text(#"{"id":0,"op":"connect","data":{"token":"dev-ann"}}"#)
    for id in 1...16 { peer.text(#"{"id":\#(id),"op":"ping"}"#) }
    #expect(peer.messages().map { $0.int("id") } == Array(0...16))
  }

  @Test func L2_theSeventeenthOperationBeforeTheHelloIsTooMany() throws {
    let peer = Peer(try Stage())
    try peer.upgrade()
    peer.text(#"{"id":0,"op":"connect","data":{"token":"dev-ann"}}"#)
    for id in 1...17 { peer.text(#"{"id":\#(id),"op":"ping"}"#) }
    #expect(peer.closed() == 1008)
  }

  @Test func L2_noEventPrecedesTheHello() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    let bob = Peer(stage)
    try bob.upgrade()
    bob.text(#"{"id":0,"op":"connect","data":{"token":"dev-bob"}}"#)
    try ann.say("while bob comes in", to: "team")
    try ann.say("and after", to: "team")
    let seen = bob.messages()
    #expect(seen.first?.string("data.uid") == "bob")
    let position = try #require(seen.first?.int("data.seq"))
    #expect(seen.dropFirst().allSatisfy { ($0.int("seq") ?? 0) > position })
  }

  @Test func L4_theHelloTellsTheSessionItsPositionAndLimits() throws {
    let stage = try Stage()
    let hello = try Peer(stage).connect("dev-ann")
    #expect(hello.string("data.uid") == "ann")
    #expect(hello.string("data.user.name") == "Ann")
    #expect(hello.string("data.epoch") == stage.store.epoch)
    #expect(hello.int("data.seq") == Int(stage.shards[0].core.position.value))
    #expect(hello.bool("data.resumed") == false)
    #expect(hello["data.reset"] == nil)
    #expect(hello.int("data.heartbeatSeconds") == 25)
    #expect(hello.int("data.limits.frameBytes") == 65_536)
    #expect(hello.int("data.limits.textBytes") == 16_384)
    #expect(hello.string("data.sessionId")?.isEmpty == false)
    #expect(hello.string("data.version") == "0.1.0")
  }

  @Test func L4_twoSessionsHaveTwoIds() throws {
    let stage = try Stage()
    let first = try Peer(stage).connect("dev-ann").string("data.sessionId")
    let second = try Peer(stage).connect("dev-ann").string("data.sessionId")
    #expect(first != second)
  }

  @Test func L4_aSecondConnectIsRefusedAndTheSessionLives() throws {
    let ann = Peer(try Stage())
    try ann.connect("dev-ann")
    #expect(try ann.call("connect", #"{"token":"dev-ann"}"#).string("error.code") == "ERR_BAD_REQUEST")
    #expect(try ann.call("ping").bool("ok") == true)
  }

  @Test(arguments: [
    ("other", 0, "epoch_changed"), ("", 3, "epoch_changed"), ("own", 9_000, "bad_position"),
  ])
  func R6_whatCannotBeResumedIsSaid(epoch: String, seq: Int, reason: String) throws {
    let stage = try Stage()
    let peer = Peer(stage)
    try peer.upgrade()
    let named = epoch == "own" ? stage.store.epoch : epoch
    peer.text(
      #"{"id":0,"op":"connect","data":{"token":"dev-ann","resume":{"epoch":"\#(named)","seq":\#(seq)}}}"#)
    let hello = try #require(peer.messages().first)
    #expect(hello.bool("data.resumed") == false)
    #expect(hello.string("data.reset.reason") == reason)
  }

  @Test func R6_aSessionThatMissedNothingResumes() throws {
    let stage = try Stage()
    let position = stage.shards[0].core.position.value
    let peer = Peer(stage)
    try peer.upgrade()
    peer.text(
      #"{"id":0,"op":"connect","data":{"token":"dev-ann","resume":{"epoch":"\#(stage.store.epoch)","seq":\#(position)}}}"#
    )
    let hello = try #require(peer.messages().first)
    #expect(hello.bool("data.resumed") == true)
    #expect(hello["data.reset"] == nil)
  }

  @Test func C020_framesInTheUpgradesOwnSegmentAreRead() throws {
    let stage = try Stage()
    let peer = Peer(stage)
    let connect = peer.frame(.text, Array(#"{"id":0,"op":"connect","data":{"token":"dev-ann"}}"#.utf8))
    let ping = peer.frame(.text, Array(#"{"id":1,"op":"ping"}"#.utf8))
    try peer.upgrade(with: connect + Array(ping.prefix(9)))
    #expect(peer.messages().map { $0.int("id") } == [0])
    peer.send(Array(ping.dropFirst(9)))
    #expect(peer.messages().map { $0.int("id") } == [1])
  }

  @Test func C020_theSameWhileTheUpgradesTokenIsLookedUp() throws {
    let stage = try Stage()
    let peer = Peer(stage)
    let connect = peer.frame(.text, Array(#"{"id":0,"op":"connect"}"#.utf8))
    let ping = peer.frame(.text, Array(#"{"id":1,"op":"ping"}"#.utf8))
    try peer.upgrade(fields: ["Authorization": "Bearer dev-ann"], with: connect + ping)
    #expect(peer.messages().map { $0.int("id") } == [0, 1])
  }

  @Test func S7_aSendUnderWayIsAnsweredBeforeItsSessionGoes() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    let bob = Peer(stage)
    try ann.connect("dev-ann")
    try bob.connect("dev-bob")
    let send = #"{"id":5,"op":"message.send","data":{"receiverUid":"team","receiverType":"group","text":"last"}}"#
    ann.text(send)
    stage.post(.drain(seconds: 10))
    stage.stepMail()
    bob.pull()
    // Nothing that comes later is taken in.
    ann.text(send)
    #expect(stage.shards[0].core.writes.count == 1)
    #expect(ann.messages().map { $0.int("id") } == [5])
    #expect(ann.closed() == 4000)
    #expect(stage.shards[0].core.writes.isEmpty)
    ann.send(ann.frame(.close, [0x0F, 0xA0]))
    ann.pull()
    #expect(ann.isEnded)
    #expect(bob.closed() == 4000)
  }

  @Test func S7_aDrainClosesConnectionsThatHaveAskedNothing() throws {
    let stage = try Stage()
    let silent = Peer(stage)
    let between = Peer(stage)
    between.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(between.rawText().hasSuffix("\r\n\r\nok\n"))
    stage.post(.drain(seconds: 10))
    #expect(silent.rawBytes().isEmpty)
    #expect(between.rawBytes().isEmpty)
    #expect(silent.isEnded)
    #expect(between.isEnded)
  }

  @Test(arguments: ["Content-Length: 1048577\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n100001\r\n"])
  func M5_H_aBodyAboveItsLimitIs413AndNamesTheLimit(framing: String) throws {
    let peer = Peer(try Stage())
    peer.send("POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer dev-ann\r\n\(framing)")
    let answer = peer.rawText()
    #expect(answer.hasPrefix("HTTP/1.1 413 "))
    #expect(answer.contains(#""code":"ERR_TOO_LARGE""#))
    #expect(answer.contains(#""limit":{"name":"bodyBytes","value":1048576}"#))
    #expect(peer.isEnded)
  }

  @Test func S7_aDrainingNodeRefusesUpgradesAndSendsSessionsAway() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    stage.readiness.setDraining()
    stage.post(.drain(seconds: 10))
    #expect(ann.closed() == 4000)
    let delay = try #require(JSONObject(ann.closeReason).int("reconnectAfterMs"))
    #expect((0..<10_000).contains(delay))
    let late = Peer(stage)
    let head = try late.upgrade()
    #expect(head.status == 503)
    #expect(head.values(of: "retry-after") == ["1"])
  }
}
