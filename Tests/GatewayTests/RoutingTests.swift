import Chat
import Store
import Testing

@testable import Gateway

@Suite("R1, R4, R5, M15, T15: who hears of what")
struct RoutingTests {
  private static func team(_ stage: Stage) throws -> (ann: Peer, bob: Peer, cyd: Peer) {
    let peers = (ann: Peer(stage), bob: Peer(stage), cyd: Peer(stage))
    try peers.ann.connect("dev-ann")
    try peers.bob.connect("dev-bob")
    try peers.cyd.connect("dev-cyd")
    return peers
  }

  @Test func R1_aGroupMessageGoesToEverySessionButTheSenders() throws {
    let stage = try Stage()
    let (ann, bob, cyd) = try Self.team(stage)
    let secondAnn = Peer(stage)
    try secondAnn.connect("dev-ann")
    let id = try ann.say("hi", to: "team")
    for peer in [bob, cyd, secondAnn] {
      let events = peer.messages()
      #expect(events.map { $0.int("seq") } == [id])
      #expect(events.first?.string("event") == "message")
      #expect(events.first?.string("data.text") == "hi")
    }
    #expect(ann.messages().isEmpty)
  }

  @Test func M15_theSendersOtherSessionHearsItAndItsOwnDoesNot() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    let other = Peer(stage)
    try ann.connect("dev-ann")
    try other.connect("dev-ann")
    let id = try ann.say("note", to: "bob", in: "user")
    #expect(ann.messages().isEmpty)
    #expect(other.messages().map { $0.int("seq") } == [id])
  }

  @Test func M15_aSendOverHTTPReachesEverySessionOfTheSender() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    let door = Peer(stage)
    let body = #"{"receiverUid":"bob","receiverType":"user","text":"x"}"#
    door.send(
      "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer dev-ann\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    )
    #expect(door.rawText().hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(ann.messages().count == 1)
  }

  @Test func R1_aOneOnOneMessageGoesToTheTwoAndNobodyElse() throws {
    let stage = try Stage()
    let (ann, bob, cyd) = try Self.team(stage)
    let id = try ann.say("psst", to: "bob", in: "user")
    #expect(bob.messages().map { $0.int("seq") } == [id])
    #expect(cyd.messages().isEmpty)
  }

  @Test func R1_aMessageToOneselfReachesTheOtherSessionOnce() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    let other = Peer(stage)
    try ann.connect("dev-ann")
    try other.connect("dev-ann")
    try ann.say("note to self", to: "ann", in: "user")
    #expect(other.messages().count == 1)
  }

  @Test func R4_seqsRiseAcrossAllConversationsAndShards() throws {
    let stage = try Stage(shards: 2)
    let ann = Peer(stage, shard: 0)
    let bob = Peer(stage, shard: 1)
    let dan = Peer(stage, shard: 1)
    try ann.connect("dev-ann")
    try bob.connect("dev-bob")
    try dan.connect("dev-dan")
    for round in 0..<20 {
      ann.text(#"{"id":1,"op":"message.send","data":{"receiverUid":"team","receiverType":"group","text":"g"}}"#)
      bob.text(#"{"id":1,"op":"message.send","data":{"receiverUid":"dan","receiverType":"user","text":"d"}}"#)
      if round % 3 == 0 { stage.settle() }
    }
    let seqs = dan.messages().compactMap { $0.int("seq") }
    #expect(seqs.count == 40)
    #expect(seqs == Array(Set(seqs)).sorted())
  }

  @Test func R5_oneFrameServesEveryRecipient() throws {
    let stage = try Stage()
    let peers = try (0..<30).map { _ in
      let peer = Peer(stage)
      try peer.connect("dev-bob")
      peer.isStalled = true
      return peer
    }
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    try ann.say("hi", to: "team")
    // One frame in thirty queues, and none of its own for anybody.
    #expect(stage.shards[0].core.outlets.liveFrames == 1)
    for peer in peers { peer.isStalled = false }
    #expect(Set(peers.map { $0.rawMessages().joined() }).count == 1)
    #expect(stage.shards[0].core.outlets.liveFrames == 0)
  }

  @Test func R5_deflatedTwinsAreMadeOncePerWindow() throws {
    let stage = try Stage()
    let offers = [nil, "permessage-deflate", "permessage-deflate; server_max_window_bits=10", "permessage-deflate"]
    let peers = try offers.map { offer in
      let peer = Peer(stage)
      try peer.connect("dev-bob", offer: offer)
      peer.isStalled = true
      return peer
    }
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    try ann.say(String(repeating: "again and again ", count: 60), to: "team")
    // Plain, window 15 for two, window 10 for one.
    #expect(stage.shards[0].core.outlets.liveFrames == 3)
    let queued = peers.map { stage.shards[0].core.outlets.queuedBytes($0.handle) }
    #expect(queued[1] < queued[0] / 2)
    #expect(queued[1] == queued[3])
    for peer in peers { peer.isStalled = false }
    #expect(Set(peers.map { $0.rawMessages().joined() }).count == 1)
    #expect(stage.shards[0].core.outlets.liveFrames == 0)
  }

  @Test func R5_aBroadcastHoldsNothingOfItsReader() throws {
    let stage = try Stage()
    let (ann, bob, _) = try Self.team(stage)
    try ann.say("hi <@uid:bob>", to: "team")
    let event = try #require(bob.messages().first { $0.string("event") == "message" })
    for field in ["threadSubscribed", "mentionedMe", "unreadRepliesCount", "reactedByMe"] {
      #expect(event["data.\(field)"] == nil, "\(field) rides on a live event")
    }
  }

  @Test func T11_liveEventsDoNotReportTheSubscriptionFetchedOnesDo() throws {
    let stage = try Stage()
    let (ann, bob, _) = try Self.team(stage)
    let root = try ann.say("root", to: "team")
    #expect(bob.messages().first?["data.threadSubscribed"] == nil)
    #expect(try bob.call("message.get", #"{"id":\#(root)}"#).bool("data.threadSubscribed") == false)
    #expect(try ann.call("message.get", #"{"id":\#(root)}"#).bool("data.threadSubscribed") == true)
  }

  @Test func T15_anExplicitSubscriptionIsToldToTheOtherSessions() throws {
    let stage = try Stage()
    let (ann, bob, _) = try Self.team(stage)
    let secondBob = Peer(stage)
    try secondBob.connect("dev-bob")
    let root = try ann.say("root", to: "team")
    _ = (bob.messages(), secondBob.messages())
    let reply = try bob.call("thread.subscribe", #"{"parentMessageId":\#(root)}"#)
    #expect(reply.bool("data.threadSubscribed") == true)
    #expect(bob.messages().isEmpty)
    let events = secondBob.messages()
    #expect(events.map { $0.string("event") } == ["thread.subscription"])
    #expect(events.first?.bool("data.threadSubscribed") == true)
    // Asking again changes nothing and tells nobody.
    #expect(try bob.call("thread.subscribe", #"{"parentMessageId":\#(root)}"#).bool("ok") == true)
    #expect(secondBob.messages().isEmpty)
    #expect(ann.messages().isEmpty)
  }

  @Test func T15_anAutomaticSubscriptionIsToldToAllOfTheUsersSessions() throws {
    let stage = try Stage()
    let (ann, bob, _) = try Self.team(stage)
    let root = try ann.say("root", to: "team")
    _ = bob.messages()
    let reply = try bob.say("reply", to: "team", parent: root)
    let events = bob.messages()
    #expect(events.map { $0.string("event") } == ["thread.subscription"])
    #expect(events.first?.int("seq") == reply + 1)
    #expect(events.first?.string("data.cause") == "reply")
  }

  @Test func R8_aKickedMemberHearsOfItAndThenNothing() throws {
    let stage = try Stage()
    let (ann, bob, cyd) = try Self.team(stage)
    #expect(try ann.call("members.kick", #"{"guid":"team","uid":"bob"}"#).bool("ok") == true)
    for peer in [bob, cyd] {
      let events = peer.messages()
      #expect(events.map { $0.string("event") } == ["group.member"])
      #expect(events.first?.string("data.action") == "kicked")
    }
    try ann.say("without bob", to: "team")
    #expect(bob.messages().isEmpty)
    #expect(cyd.messages().count == 1)
    let refused = try bob.call("message.send", #"{"receiverUid":"team","receiverType":"group","text":"x"}"#)
    #expect(refused.string("error.code") == "ERR_GROUP_NOT_JOINED")
  }

  @Test func R1_anAddedMemberHearsTheGroupFromThenOn() throws {
    let stage = try Stage()
    stage.apply(.createUser(User(uid: UserID(stored: "fay"), name: "Fay")))
    stage.apply(.mintToken(UserID(stored: "fay"), hash: Secret.digest("fay"), expiresAt: .never))
    let (ann, _, _) = try Self.team(stage)
    let fay = Peer(stage)
    try fay.connect("fay")
    try ann.say("before", to: "team")
    #expect(fay.messages().isEmpty)
    #expect(try ann.call("members.add", #"{"guid":"team","members":[{"uid":"fay"}]}"#).bool("data.0.ok") == true)
    let id = try ann.say("after", to: "team")
    let events = fay.messages()
    #expect(events.map { $0.string("event") } == ["group.member", "message"])
    #expect(events.last?.int("seq") == id)
  }

  @Test func R8_arevokedTokenEndsItsSessionsAndNoOthers() throws {
    let stage = try Stage()
    stage.apply(.mintToken(UserID(stored: "ann"), hash: Secret.digest("second"), expiresAt: .never))
    let first = Peer(stage)
    let second = Peer(stage)
    try first.connect("dev-ann")
    try second.connect("second")
    stage.apply(.revokeToken(hash: Secret.digest("dev-ann")))
    #expect(first.closed() == 4201)
    #expect(second.closed() == nil)
    #expect(try second.call("ping").bool("ok") == true)
  }

  /// The two ways in which a session can be loaded beside the log: behind the shard, and ahead of it.
  @Test func C065_aMembershipThatChangesWhileASessionLoadsIsNotMissed() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    let bob = Peer(stage)
    try bob.upgrade()
    bob.text(#"{"id":0,"op":"connect","data":{"token":"dev-bob"}}"#)
    // The session is read now, and told later than the kick.
    stage.stepReads()
    stage.apply(.kickMember(GroupID(stored: "team"), UserID(stored: "bob")))
    let seen = bob.messages()
    #expect(seen.first?.string("data.uid") == "bob")
    try ann.say("without bob", to: "team")
    #expect(bob.messages().isEmpty)
  }

  @Test func C065_aSessionThatIsAheadOfItsShardWaitsForIt() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    let bob = Peer(stage)
    try bob.upgrade()
    bob.text(#"{"id":0,"op":"connect","data":{"token":"dev-bob"}}"#)
    let before = stage.shards[0].core.position
    ann.text(#"{"id":5,"op":"message.send","data":{"receiverUid":"team","receiverType":"group","text":"x"}}"#)
    // Committed before the session is read, mailed after it.
    stage.stepWrites()
    stage.stepReads()
    let seen = bob.messages()
    #expect(seen.count == 1)
    let position = try #require(seen.first?.int("data.seq"))
    #expect(position > Int(before.value))
    #expect(position == Int(stage.shards[0].core.position.value))
    #expect(try ann.say("next", to: "team") > position)
    #expect(bob.messages().count == 1)
  }

  @Test func C067_aRepeatedSendFansOutOnce() throws {
    let stage = try Stage()
    let (ann, bob, _) = try Self.team(stage)
    let send = #"{"receiverUid":"team","receiverType":"group","text":"once","muid":"m1"}"#
    let first = try ann.call("message.send", send)
    let second = try ann.call("message.send", send)
    #expect(first.int("data.id") == second.int("data.id"))
    #expect(second.bool("ok") == true)
    #expect(bob.messages().count == 1)
    let other = try ann.call(
      "message.send", #"{"receiverUid":"team","receiverType":"group","text":"other","muid":"m1"}"#)
    #expect(other.string("error.code") == "ERR_MUID_CONFLICT")
    #expect(bob.messages().isEmpty)
  }

  @Test func M8_nobodySeesASendBeforeItsCommit() throws {
    let stage = try Stage()
    let (ann, bob, _) = try Self.team(stage)
    ann.text(#"{"id":9,"op":"message.send","data":{"receiverUid":"team","receiverType":"group","text":"x"}}"#)
    ann.pull()
    bob.pull()
    stage.stepMail()
    #expect(stage.shards[0].core.outlets.liveFrames == 0)
    #expect(stage.shards[0].core.writes.count == 1)
    stage.stepWrites()
    #expect(stage.shards[0].core.outlets.liveFrames == 0)
    stage.stepMail()
    #expect(ann.rawMessages().count == 1)
    #expect(bob.rawMessages().count == 1)
  }
}
