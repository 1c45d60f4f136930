import Chat
import Foundation
import Glibc
import Primitives
import Telemetry
import Testing
import WebSocket

@testable import Gateway

@Suite("L3, L5, L8, R7: a live socket")
struct SocketTests {
  @Test(arguments: [("7", "7"), (#""a-b""#, #""a-b""#), ("0", "0"), ("9007199254740991", "9007199254740991")])
  func L3_theReplyEchoesTheId(id: String, echoed: String) throws {
    let ann = Peer(try Stage())
    try ann.connect("dev-ann")
    ann.text(#"{"id":\#(id),"op":"ping"}"#)
    #expect(ann.rawMessages() == [#"{"id":\#(echoed),"ok":true,"data":{}}"#])
  }

  @Test func L3_aFailureHasCodeTextAndRetryable() throws {
    let ann = Peer(try Stage())
    try ann.connect("dev-ann")
    let reply = try ann.call("message.get", #"{"id":999}"#)
    #expect(reply.bool("ok") == false)
    #expect(reply.string("error.code") == "ERR_MESSAGE_ID_NOT_FOUND")
    #expect(reply.string("error.message")?.isEmpty == false)
    #expect(reply.bool("error.retryable") == false)
    #expect(try ann.call("no.such").string("error.code") == "ERR_API_NOT_FOUND")
  }

  @Test func L3_aReplyToASendNeverFollowsALaterEvent() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    let bob = Peer(stage)
    try ann.connect("dev-ann")
    try bob.connect("dev-bob")
    for round in 1...5 {
      let send = #""op":"message.send","data":{"receiverUid":"team","receiverType":"group","text":"x"}"#
      ann.text(#"{"id":"a\#(round)",\#(send)}"#)
      bob.text(#"{"id":"b\#(round)",\#(send)}"#)
    }
    // One batch holds all ten: both hear replies and events in the order of seq.
    for peer in [ann, bob] {
      let seqs = peer.messages().compactMap { $0.int("seq") ?? $0.int("data.id") }
      #expect(seqs.count == 10)
      #expect(seqs == seqs.sorted())
    }
  }

  @Test func L8_aBinaryFrameIsRefusedWith1003() throws {
    let ann = Peer(try Stage())
    try ann.connect("dev-ann")
    ann.send(ann.frame(.binary, [1, 2, 3]))
    #expect(ann.closed() == 1003)
  }

  @Test func L8_badUTF8Is1007AndBadJSONAnErrorWithoutId() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    ann.text("{")
    let reply = try #require(ann.messages().first)
    #expect(reply["id"] == nil)
    #expect(reply.string("error.code") == "ERR_BAD_REQUEST")
    #expect(try ann.call("ping").bool("ok") == true)
    ann.send(ann.frame(.text, [0x7B, 0xC0, 0xAF]))
    #expect(ann.closed() == 1007)
  }

  @Test func L8_ahundredMalformedFramesAMinuteAreForgivenNotMore() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    for _ in 0..<100 { ann.text("[]") }
    #expect(ann.closed() == nil)
    stage.advance(seconds: 61)
    for _ in 0..<100 { ann.text("[]") }
    #expect(ann.closed() == nil)
    ann.text("[]")
    #expect(ann.closed() == 1008)
  }

  @Test func L5_quietSessionsGetAPingAndTheirPosition() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    let bob = Peer(stage)
    try ann.connect("dev-ann")
    try bob.connect("dev-bob")
    let id = try bob.say("hi", to: "team")
    _ = ann.messages()
    stage.advance(seconds: 28)
    let beats = ann.messages()
    #expect(beats.map(\.text) == [#"{"event":"heartbeat","seq":\#(id)}"#])
    #expect(ann.pings == 1)
  }

  @Test func L5_twoUnansweredPingsEndTheSocketWith4002() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    stage.advance(seconds: 56)
    #expect(ann.closed() == nil)
    #expect(ann.pings == 2)
    stage.advance(seconds: 28)
    #expect(ann.closed() == 4002)
  }

  @Test func L5_anyByteFromThePeerCountsAsLife() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    for _ in 0..<12 {
      stage.advance(seconds: 20)
      ann.send(ann.frame(.pong, []))
    }
    #expect(ann.closed() == nil)
  }

  @Test func C022_noPingTimeoutWhileALongQueueIsBeingRead() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    let bob = Peer(stage)
    try ann.connect("dev-ann")
    try bob.connect("dev-bob")
    ann.isStalled = true
    for _ in 0..<20 { try bob.say(String(repeating: "x", count: 10_000), to: "team") }
    for _ in 0..<10 {
      stage.advance(seconds: 28)
      // The socket takes a little of the queue, as a slow link does.
      ann.shard.core.outlets.wrote(ann.handle.index, byteCount: 500)
      bob.send(bob.frame(.pong, []))
    }
    #expect(ann.shard.core.connection(ann.handle)?.phase == .live)
  }

  @Test func R7_aFullQueueIs4001AndNobodyElseNotices() throws {
    var settings = GatewaySettings()
    settings.outboundBytes = 100_000
    let stage = try Stage(settings: settings)
    let ann = Peer(stage)
    let bob = Peer(stage)
    let cyd = Peer(stage)
    for (peer, token) in [(ann, "dev-ann"), (bob, "dev-bob"), (cyd, "dev-cyd")] { try peer.connect(token) }
    ann.isStalled = true
    var sent: [Int] = []
    for _ in 0..<30 {
      sent.append(try bob.say(String(repeating: "x", count: 4_000), to: "team"))
      cyd.pull()
    }
    #expect(ann.shard.core.outlets.queuedBytes(ann.handle) <= 100_000 + 6_000)
    #expect(ann.shard.core.connection(ann.handle)?.phase == .closing)
    ann.isStalled = false
    #expect(ann.closed() == 4001)
    #expect(cyd.messages().compactMap { $0.int("seq") } == sent)
  }

  @Test func R7_aReplyLongerThanTheLimitReachesAPeerThatReads() throws {
    var settings = GatewaySettings()
    settings.outboundBytes = 20_000
    let stage = try Stage(settings: settings)
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    for _ in 0..<10 { try ann.say(String(repeating: "x", count: 4_000), to: "team") }
    let page = try ann.call("messages.list", #"{"guid":"team"}"#)
    #expect(page.text.utf8.count > 40_000)
    #expect((page["data"] as? [Any])?.count == 10)
    #expect(try ann.call("ping").bool("ok") == true)
  }

  @Test func C023_aPongOvertakesWhatWaits() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    let bob = Peer(stage)
    try ann.connect("dev-ann")
    try bob.connect("dev-bob")
    ann.isStalled = true
    for _ in 0..<50 { try bob.say(String(repeating: "x", count: 10_000), to: "team") }
    ann.send(ann.frame(.ping, Array("now".utf8)))
    ann.isStalled = false
    let slices = UnsafeMutableBufferPointer<iovec>.allocate(capacity: 1)
    defer { slices.deallocate() }
    guard case .slices(1, let bytes) = ann.shard.core.outlets.gather(ann.handle.index, into: slices) else {
      Issue.record("nothing waits")
      return
    }
    #expect(bytes == 5)
    #expect(ann.rawMessages().count == 50)
    #expect(ann.pongs == ["now"])
  }

  @Test func C023_aFloodOfPingsKeepsTheQueueShortAndAnswersTheLatest() throws {
    let ann = Peer(try Stage())
    try ann.connect("dev-ann")
    ann.isStalled = true
    for number in 0..<10_000 { ann.send(ann.frame(.ping, Array("\(number)".utf8))) }
    #expect(ann.shard.core.outlets.queuedBytes(ann.handle) < 1_000)
    ann.isStalled = false
    #expect(ann.closed() == nil)
    #expect(ann.pongs.count == 64)
    #expect(ann.pongs.first == "0")
    #expect(ann.pongs.last == "9999")
    #expect(ann.shard.core.outlets.liveFrames == 0)
    #expect(ann.shard.core.outlets.queuedBytes == 0)
  }

  @Test func closeFramesAreAnsweredWithTheirCode() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    ann.send(ann.frame(.close, [0x03, 0xE8]))
    #expect(ann.closed() == 1000)
    #expect(ann.isEnded)
    #expect(stage.counters.sessions.value == 0)
  }

  @Test func C014_everyEndReturnsWhatTheConnectionHeld() throws {
    let stage = try Stage()
    let watcher = Peer(stage)
    try watcher.connect("dev-bob")
    for round in 0..<40 {
      let peer = Peer(stage)
      if round % 4 > 0 { try peer.upgrade() }
      if round % 4 > 1 { peer.text(#"{"id":0,"op":"connect","data":{"token":"dev-ann"}}"#) }
      if round % 4 > 2 {
        peer.isStalled = true
        try watcher.say("x", to: "team")
      }
      stage.settle()
      peer.vanish()
    }
    _ = watcher.messages()
    let shard = stage.shards[0]
    #expect(shard.core.connectionCount == 1)
    #expect(shard.core.routes.sessionCount == 1)
    #expect(stage.counters.sessions.value == 1)
    #expect(shard.core.outlets.liveFrames == 0)
    #expect(shard.core.outlets.queuedBytes == 0)
  }

  @Test func requestsUnderWayAreBoundedByNotReadingOn() throws {
    var settings = GatewaySettings()
    settings.requestsInFlight = 4
    let stage = try Stage(settings: settings)
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    let frames = (1...6).flatMap { id in
      ann.frame(.text, Array(#"{"id":\#(id),"op":"message.get","data":{"id":1}}"#.utf8))
    }
    ann.send(frames)
    #expect(ann.shard.core.reads.count == 4)
    #expect(ann.shard.core.connection(ann.handle)?.isReadingPaused == true)
    #expect(ann.messages().map { $0.int("id") } == [1, 2, 3, 4, 5, 6])
    #expect(ann.shard.core.connection(ann.handle)?.isReadingPaused == false)
  }
}
