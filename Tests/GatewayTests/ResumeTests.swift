import Chat
import Primitives
import Store
import Telemetry
import Testing
import Wire

@testable import Gateway

/// A client that keeps its position and comes back with it.
struct Position {
  var epoch: String
  var seq: Int
}

extension Peer {
  /// Upgrades and connects with a position; returns the hello.
  @discardableResult
  func resume(_ token: String, _ position: Position, more: String = "") throws -> JSONObject {
    try upgrade()
    text(
      #"{"id":0,"op":"connect","data":{"token":"\#(token)","resume":{"epoch":"\#(position.epoch)","#
        + #""seq":\#(position.seq)}\#(more)}}"#)
    stage.settle()
    pull()
    let hello = try #require(messages(limit: 1).first)
    return hello
  }

  /// Every message that comes, however many pages it takes.
  func everything() -> [JSONObject] {
    var all: [JSONObject] = []
    while true {
      let more = messages()
      if more.isEmpty { return all }
      all += more
    }
  }
}

extension Sequence where Element == JSONObject {
  var seqs: [Int] { compactMap { $0.int("seq") } }
  func named(_ event: String) -> [JSONObject] { filter { $0.string("event") == event } }
}

@Suite("R6, R11: a session that comes back")
struct ResumeTests {
  private static func position(_ stage: Stage) -> Position {
    Position(epoch: stage.store.epoch, seq: Int(stage.shards[0].core.position.value))
  }

  @Test func R6_whatWasMissedFollowsTheHelloInOrder() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    let before = Self.position(stage)
    var sent: [Int] = []
    for number in 0..<300 {
      sent.append(
        try ann.say("m\(number)", to: number % 3 == 0 ? "team" : "bob", in: number % 3 == 0 ? "group" : "user"))
    }
    let bob = Peer(stage)
    let hello = try bob.resume("dev-bob", before)
    #expect(hello.bool("data.resumed") == true)
    #expect(hello["data.reset"] == nil)
    #expect(hello.int("data.seq") == before.seq)
    let events = bob.everything()
    #expect(events.seqs == sent)
    #expect(events.map { $0.string("data.text") } == (0..<300).map { "m\($0)" })
    #expect(stage.shards[0].core.replaying.isEmpty)
    // Live again, with nothing between.
    let next = try ann.say("live", to: "team")
    #expect(bob.everything().seqs == [next])
  }

  @Test func R6_ownMessagesArePartOfTheReplay() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    let before = Self.position(stage)
    let id = try ann.say("mine", to: "team")
    let again = Peer(stage)
    try again.resume("dev-ann", before)
    #expect(again.everything().seqs == [id])
  }

  @Test func R6_whatHappensDuringTheReplayFollowsItOnceAndInOrder() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    let before = Self.position(stage)
    var sent: [Int] = []
    for number in 0..<200 { sent.append(try ann.say("old \(number)", to: "team")) }
    let bob = Peer(stage)
    try bob.resume("dev-bob", before)
    var heard: [Int] = []
    for number in 0..<200 {
      sent.append(try ann.say("new \(number)", to: "team"))
      if number % 7 == 0 { heard += bob.messages().seqs }
    }
    heard += bob.everything().seqs
    #expect(heard == sent)
  }

  @Test func R6_moreThanIsHeldDuringTheReplayIsReadFromTheStore() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    let before = Self.position(stage)
    var sent: [Int] = []
    for number in 0..<700 { sent.append(try ann.say("old \(number)", to: "team")) }
    let bob = Peer(stage)
    try bob.resume("dev-bob", before)
    bob.isStalled = true
    for number in 0..<(Replay.heldEvents + 200) { sent.append(try ann.say("new \(number)", to: "team")) }
    #expect(bob.shard.core.connection(bob.handle)?.replay != nil)
    bob.isStalled = false
    #expect(bob.everything().seqs == sent)
    #expect(bob.closed() == nil)
  }

  @Test func M15_whatTheSessionSendsDuringItsReplayIsNotToldToIt() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    let before = Self.position(stage)
    var sent: [Int] = []
    for number in 0..<150 { sent.append(try ann.say("old \(number)", to: "team")) }
    let bob = Peer(stage)
    try bob.resume("dev-bob", before)
    // The send is under way while the next page is read.
    bob.text(#"{"id":9,"op":"message.send","data":{"receiverUid":"team","receiverType":"group","text":"own"}}"#)
    let messages = bob.everything()
    let own = try #require(messages.first { $0.int("id") == 9 }?.int("data.id"))
    #expect(messages.seqs == sent)
    #expect(!messages.seqs.contains(own))
  }

  @Test func R7_aReplayDoesNotCountAgainstTheQueuesLimit() throws {
    var settings = GatewaySettings()
    settings.outboundBytes = 64 << 10
    let stage = try Stage(settings: settings)
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    let before = Self.position(stage)
    let text = String(repeating: "x", count: 15_000)
    var sent: [Int] = []
    for _ in 0..<40 { sent.append(try ann.say(text, to: "team")) }
    let bob = Peer(stage)
    try bob.resume("dev-bob", before)
    #expect(bob.everything().seqs == sent)
    #expect(bob.closed() == nil)
  }

  @Test func R6_aPageIsReadOnlyWhenTheOneBeforeHasLeft() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    let before = Self.position(stage)
    let text = String(repeating: "x", count: 8_000)
    for _ in 0..<200 { try ann.say(text, to: "team") }
    let bob = Peer(stage)
    try bob.resume("dev-bob", before)
    bob.isStalled = true
    for _ in 0..<20 { stage.settle() }
    #expect(stage.shards[0].core.outlets.queuedBytes(bob.handle) <= stage.settings.replayPageBytes + 20_000)
    bob.isStalled = false
    #expect(bob.everything().count == 200)
  }

  @Test func L5_theHeartbeatOfAReplayTellsItsOwnPosition() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    let before = Self.position(stage)
    let text = String(repeating: "x", count: 8_000)
    for _ in 0..<100 { try ann.say(text, to: "team") }
    let bob = Peer(stage)
    try bob.resume("dev-bob", before)
    bob.isStalled = true
    stage.advance(seconds: 30)
    bob.isStalled = false
    let messages = bob.everything()
    let index = try #require(messages.firstIndex { $0.string("event") == "heartbeat" })
    #expect(messages[index].int("seq") == messages[..<index].seqs.last)
    #expect(messages.filter { $0.string("event") == "message" }.count == 100)
  }

  @Test func R6_tooManyIsAResetAndNothingElse() throws {
    var settings = GatewaySettings()
    settings.limits.resumeEvents = 10
    let stage = try Stage(settings: settings)
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    let before = Self.position(stage)
    for number in 0..<10 { try ann.say("m\(number)", to: "team") }
    let within = Peer(stage)
    #expect(try within.resume("dev-bob", before).bool("data.resumed") == true)
    #expect(within.everything().count == 10)
    try ann.say("one more", to: "team")
    _ = within.everything()
    let bob = Peer(stage)
    let hello = try bob.resume("dev-bob", before)
    #expect(hello.bool("data.resumed") == false)
    #expect(hello.string("data.reset.reason") == "too_many")
    #expect(hello.int("data.seq") == Self.position(stage).seq)
    #expect(bob.everything().isEmpty)
  }

  @Test func R6_theEndOfAMembershipIsToldAndNothingElseOfTheGroup() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    let before = Self.position(stage)
    try ann.say("seen by members", to: "team")
    _ = try ann.call("members.kick", #"{"guid":"team","uid":"bob"}"#)
    try ann.say("after bob", to: "team")
    let direct = try ann.say("direct", to: "bob", in: "user")
    let bob = Peer(stage)
    try bob.resume("dev-bob", before)
    let events = bob.everything()
    #expect(events.map { $0.string("event") } == ["group.member", "message"])
    #expect(events.first?.string("data.action") == "kicked")
    #expect(events.last?.int("seq") == direct)
  }

  @Test func C125_aMemberWhoCameBackGetsNothingOfTheTimeBetween() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    let before = Self.position(stage)
    _ = try ann.call("members.kick", #"{"guid":"team","uid":"bob"}"#)
    try ann.say("between", to: "team")
    _ = try ann.call("members.add", #"{"guid":"team","members":[{"uid":"bob"}]}"#)
    let after = try ann.say("after", to: "team")
    let bob = Peer(stage)
    try bob.resume("dev-bob", before)
    let events = bob.everything()
    #expect(events.map { $0.string("data.action") ?? "message" } == ["kicked", "added", "message"])
    #expect(events.last?.int("seq") == after)
  }

  @Test func T15_subscriptionsAreReplayed() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    let other = Peer(stage)
    try ann.connect("dev-ann")
    try other.connect("dev-bob")
    let root = try ann.say("root", to: "team")
    let before = Self.position(stage)
    _ = try other.call("thread.subscribe", #"{"parentMessageId":\#(root)}"#)
    let bob = Peer(stage)
    try bob.resume("dev-bob", before)
    let events = bob.everything()
    #expect(events.map { $0.string("event") } == ["thread.subscription"])
    #expect(events.first?.int("data.parentMessageId") == root)
    #expect(events.first?.bool("data.threadSubscribed") == true)
    #expect(events.first?.string("data.cause") == "explicit")
    let cyd = Peer(stage)
    try cyd.resume("dev-cyd", before)
    #expect(cyd.everything().isEmpty)
  }

  @Test(arguments: [
    ("subscribed", "", [1, 2, 4]), ("open", #","openThreads":[ROOT]"#, [0, 1, 2, 3, 4]), ("open", "", [1, 2]),
    ("none", "", [1, 2]), ("all", "", [0, 1, 2, 3, 4]),
  ])
  func R6_theReplayAppliesTheChoiceOfThisConnect(choice: String, more: String, expected: [Int]) throws {
    let stage = try Stage()
    let ann = Peer(stage)
    let bob = Peer(stage)
    try ann.connect("dev-ann")
    try bob.connect("dev-bob")
    let first = try ann.say("first root", to: "team")
    let second = try ann.say("second root", to: "team")
    let before = Self.position(stage)
    let replies = [
      try ann.say("plain", to: "team", parent: first),
      // Bob's own: part of every replay. It also subscribes him to the first thread when it is an answer there.
      try bob.say("own", to: "team", parent: choice == "subscribed" ? second : first),
      try ann.say("hi <@uid:bob>", to: "team", parent: second),
      try ann.say("plain again", to: "team", parent: first),
      try ann.say("followed", to: "team", parent: choice == "subscribed" ? second : first),
    ]
    let again = Peer(stage)
    try again.resume(
      "dev-bob", before,
      more: #","replies":"\#(choice)""# + more.replacing("ROOT", with: "\(first)"))
    let events = again.everything()
    #expect(events.named("message").seqs == expected.map { replies[$0] }, "\(choice)")
    // R3: one hint for each thread of which something was left out.
    let left = replies.indices.filter { !expected.contains($0) }.count
    let hints = events.named("thread.updated")
    #expect(hints.map { $0.int("data.parentMessageId") } == (left == 0 ? [] : [first]))
    if let hint = hints.first {
      #expect(hint["seq"] == nil)
      #expect(hint.int("data.lastReplyId") == (choice == "subscribed" ? replies[3] : replies[4]))
    }
  }

  @Test func R3_aHintThatWasLostWithTheConnectionComesOnResume() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    let root = try ann.say("root", to: "team")
    let reply = try ann.say("reply", to: "team", parent: root)
    let bob = Peer(stage)
    try bob.resume("dev-bob", Self.position(stage), more: #","replies":"none""#)
    let events = bob.everything()
    #expect(events.map { $0.string("event") } == ["thread.updated"])
    #expect(events.first?.int("data.lastReplyId") == reply)
    #expect(events.first?.int("data.replyCount") == 1)
  }

  @Test func C065_nothingIsLostBetweenTheLoadAndTheLiveEvents() throws {
    let stage = try Stage(shards: 2)
    let ann = Peer(stage, shard: 0)
    try ann.connect("dev-ann")
    let before = Self.position(stage)
    var sent: [Int] = []
    for number in 0..<100 {
      sent.append(try ann.say("m\(number)", to: "team"))
      guard number % 10 == 5 else { continue }
      // The session is loaded, then something commits, and only then the shard hears of either.
      let bob = Peer(stage, shard: 1)
      try bob.upgrade()
      bob.text(
        #"{"id":0,"op":"connect","data":{"token":"dev-bob","resume":{"epoch":"\#(before.epoch)","seq":\#(before.seq)}}}"#
      )
      stage.stepReads()
      ann.text(#"{"id":1,"op":"message.send","data":{"receiverUid":"team","receiverType":"group","text":"x"}}"#)
      stage.stepWrites()
      stage.stepReads()
      let heard = bob.everything().seqs
      sent.append(try #require(ann.messages().last?.int("data.id")))
      #expect(heard == sent)
      bob.vanish()
    }
  }

  @Test func R6_aStoreThatDoesNotAnswerLeavesTheClientItsPosition() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    let before = Self.position(stage)
    try ann.say("missed", to: "team")
    let bob = Peer(stage)
    try bob.upgrade()
    bob.text(
      #"{"id":0,"op":"connect","data":{"token":"dev-bob","resume":{"epoch":"\#(before.epoch)","seq":\#(before.seq)}}}"#)
    stage.stepReads()
    stage.stepMail()
    let asked = stage.shards[0].core.takeReads()
    #expect(asked.count == 1)
    stage.shards[0].core.refuseOverloaded(asked)
    #expect(bob.closed() == 4000)
    #expect(bob.closeReason == #"{"reconnectAfterMs":1000}"#)
  }

  @Test func L4_aDeviceThatConnectsAgainReplacesItself() throws {
    let stage = try Stage(shards: 2)
    let peers = try [0, 1, 0].map { shard in
      let peer = Peer(stage, shard: shard)
      try peer.upgrade()
      peer.text(#"{"id":0,"op":"connect","data":{"token":"dev-ann","device":{"id":"phone"}}}"#)
      #expect(peer.messages().first?.bool("ok") == true)
      return peer
    }
    let other = Peer(stage)
    try other.upgrade()
    other.text(#"{"id":0,"op":"connect","data":{"token":"dev-bob","device":{"id":"phone"}}}"#)
    #expect(other.messages().first?.bool("ok") == true)
    #expect(peers.map { $0.closed() } == [4204, 4204, nil])
    #expect(try peers[2].call("ping").bool("ok") == true)
    #expect(try other.call("ping").bool("ok") == true)
    #expect(stage.counters.sessions.value == 2)
  }
}
