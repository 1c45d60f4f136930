import Chat
import Primitives
import Store
import Telemetry
import Testing
import Wire

@testable import Gateway

@Suite("R2, R3, R7, L7: which replies a session hears of")
struct ReplyChoiceTests {
  /// Ann, and Bob with a choice, both in the team.
  private static func pair(_ choice: String, shards: Int = 1) throws -> (stage: Stage, ann: Peer, bob: Peer) {
    let stage = try Stage(shards: shards)
    let ann = Peer(stage)
    let bob = Peer(stage, shard: shards - 1)
    try ann.connect("dev-ann")
    try bob.connect("dev-bob", choice: choice)
    return (stage, ann, bob)
  }

  @Test(arguments: ["all", "subscribed", "open", "none"], ["group", "user"])
  func R2_aReplyComesToWhomChoseIt(choice: String, type: String) throws {
    let (_, ann, bob) = try Self.pair(choice, shards: 2)
    let to = type == "group" ? "team" : "bob"
    let root = try ann.say("root", to: to, in: type)
    #expect(bob.messages().seqs == [root])
    let plain = try ann.say("plain", to: to, in: type, parent: root)
    #expect(bob.messages().named("message").seqs == (choice == "all" ? [plain] : []))
    let mention = try ann.say("<@uid:bob>", to: to, in: type, parent: root)
    let heard = bob.messages()
    #expect(heard.named("message").seqs == [mention])
    // The mention has subscribed Bob: from now on the thread's replies come to who wants those.
    #expect(heard.named("thread.subscription").count == 1)
    let next = try ann.say("next", to: to, in: type, parent: root)
    #expect(bob.messages().named("message").seqs == (["all", "subscribed"].contains(choice) ? [next] : []))
  }

  @Test func R2_anOpenThreadsRepliesComeUntilItIsClosed() throws {
    let (_, ann, bob) = try Self.pair("none")
    let root = try ann.say("root", to: "team")
    _ = bob.messages()
    #expect(try bob.call("thread.open", #"{"parentMessageId":\#(root)}"#).bool("data.open") == true)
    #expect(try bob.call("thread.open", #"{"parentMessageId":\#(root)}"#).bool("data.open") == true)
    let heard = try ann.say("heard", to: "team", parent: root)
    #expect(bob.messages().seqs == [heard])
    #expect(try bob.call("thread.close", #"{"parentMessageId":\#(root)}"#).bool("data.open") == false)
    #expect(try bob.call("thread.close", #"{"parentMessageId":\#(root)}"#).bool("data.open") == false)
    try ann.say("not heard", to: "team", parent: root)
    #expect(bob.messages().named("message").isEmpty)
  }

  @Test func R2_threadsOpenedByConnectCount() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    let root = try ann.say("root", to: "team")
    let bob = Peer(stage)
    // A thread that is not there is no reason to refuse the session.
    try bob.connect("dev-bob", choice: "open", more: #","openThreads":[\#(root),999999]"#)
    let reply = try ann.say("reply", to: "team", parent: root)
    #expect(bob.messages().seqs == [reply])
  }

  @Test func T8_openingWhatCannotBeSeenIsRefused() throws {
    let (stage, ann, bob) = try Self.pair("none")
    stage.apply(.createUser(User(uid: UserID(stored: "fay"), name: "Fay")))
    stage.apply(.mintToken(UserID(stored: "fay"), hash: Secret.digest("fay"), expiresAt: .never))
    let root = try ann.say("root", to: "team")
    let reply = try ann.say("reply", to: "team", parent: root)
    #expect(
      try bob.call("thread.open", #"{"parentMessageId":\#(reply)}"#).string("error.code")
        == "ERR_INVALID_PARENT_MESSAGE_ID")
    let fay = Peer(stage)
    try fay.connect("fay")
    #expect(
      try fay.call("thread.open", #"{"parentMessageId":\#(root)}"#).string("error.code") == "ERR_MESSAGE_ID_NOT_FOUND")
    #expect(
      try fay.call("thread.open", #"{"parentMessageId":99999}"#).string("error.code") == "ERR_MESSAGE_ID_NOT_FOUND")
  }

  @Test func R2_at64OpenThreadsTheNextIsRefused() throws {
    let (stage, ann, bob) = try Self.pair("none")
    for _ in 0..<64 {
      let root = try ann.say("root", to: "team")
      #expect(try bob.call("thread.open", #"{"parentMessageId":\#(root)}"#).bool("ok") == true)
    }
    let root = try ann.say("root", to: "team")
    let refused = try bob.call("thread.open", #"{"parentMessageId":\#(root)}"#)
    #expect(refused.string("error.code") == "ERR_TOO_LARGE")
    #expect(refused.string("error.details.limit.name") == "openThreads")
    #expect(stage.shards[0].core.routes.openedCount(bob.handle.index) == 64)
  }

  @Test func R2_aRefusedOpeningTakesNoPlaceAndAClosedOneIsNotOpened() throws {
    let (stage, ann, bob) = try Self.pair("none")
    let root = try ann.say("root", to: "team")
    for number in 0..<70 {
      #expect(try bob.call("thread.open", #"{"parentMessageId":\#(90_000 + number)}"#).bool("ok") == false)
    }
    // Opened and closed before the store has answered.
    bob.text(#"{"id":1,"op":"thread.open","data":{"parentMessageId":\#(root)}}"#)
    bob.text(#"{"id":2,"op":"thread.close","data":{"parentMessageId":\#(root)}}"#)
    #expect(bob.messages().filter { $0.int("id") != nil }.map { $0.bool("data.open") } == [false, false])
    #expect(stage.shards[0].core.routes.seated(in: MessageID(Int64(root))).isEmpty)
    #expect(try bob.call("thread.open", #"{"parentMessageId":\#(root)}"#).bool("data.open") == true)
  }

  @Test func L7_aSessionChangesItsChoice() throws {
    let (_, ann, bob) = try Self.pair("all")
    let followed = try ann.say("followed", to: "team")
    let other = try ann.say("other", to: "team")
    _ = try bob.call("thread.subscribe", #"{"parentMessageId":\#(followed)}"#)
    _ = bob.messages()
    for (choice, expected) in [("subscribed", [true, false]), ("none", [false, false]), ("all", [true, true])] {
      let reply = try bob.call("session.update", #"{"replies":"\#(choice)","foreground":false}"#)
      #expect(reply.string("data.replies") == choice)
      #expect(reply.bool("data.foreground") == false)
      let sent = [
        try ann.say("1", to: "team", parent: followed), try ann.say("2", to: "team", parent: other),
      ]
      #expect(bob.messages().named("message").seqs == zip(sent, expected).filter(\.1).map(\.0), "\(choice)")
    }
    #expect(try bob.call("session.update").string("data.replies") == "all")
  }

  @Test func T5_theRootsAuthorHearsTheThreadWithoutAWord() throws {
    let (_, ann, bob) = try Self.pair("subscribed")
    let root = try bob.say("bob's root", to: "team")
    let reply = try ann.say("reply", to: "team", parent: root)
    #expect(bob.messages().named("message").seqs == [reply])
    _ = try bob.call("thread.unsubscribe", #"{"parentMessageId":\#(root)}"#)
    try ann.say("no more", to: "team", parent: root)
    #expect(bob.messages().named("message").isEmpty)
  }

  @Test func T4_theRepliersOtherSessionsHearTheReplyThatSubscribesThem() throws {
    let (stage, ann, bob) = try Self.pair("subscribed")
    let second = Peer(stage)
    try second.connect("dev-bob", choice: "subscribed")
    let root = try ann.say("root", to: "team")
    let reply = try bob.say("reply", to: "team", parent: root)
    #expect(second.messages().named("message").seqs == [root, reply])
    stage.advance(seconds: 2)
    #expect(second.messages().named("thread.updated").isEmpty)
    #expect(bob.messages().named("thread.updated").isEmpty)
  }

  @Test func T9_aMemberWhoLeftHearsNothingOfAThreadThatStaysOpen() throws {
    for choice in ["none", "subscribed"] {
      let (stage, ann, bob) = try Self.pair(choice)
      let root = try ann.say("root", to: "team")
      _ = try bob.call("thread.open", #"{"parentMessageId":\#(root)}"#)
      _ = try bob.call("thread.subscribe", #"{"parentMessageId":\#(root)}"#)
      _ = try ann.call("members.kick", #"{"guid":"team","uid":"bob"}"#)
      _ = bob.messages()
      try ann.say("reply", to: "team", parent: root)
      _ = try ann.call("members.add", #"{"guid":"team","members":[{"uid":"bob"}]}"#)
      try ann.say("another", to: "team", parent: root)
      stage.advance(seconds: 1)
      // Back again, Bob follows and has opened nothing: the hint alone tells of the thread.
      let events = bob.messages()
      #expect(events.named("message").isEmpty)
      #expect(events.named("thread.updated").count == 1)
      #expect(stage.shards[0].core.routes.seated(in: MessageID(Int64(root))).isEmpty)
    }
  }

  @Test func R3_aHintAtOnceAndThenOneASecondWithTheLastState() throws {
    let (stage, ann, bob) = try Self.pair("none")
    let root = try ann.say("root", to: "team")
    _ = bob.messages()
    let first = try ann.say("1", to: "team", parent: root)
    var hints = bob.messages()
    #expect(hints.map { $0.string("event") } == ["thread.updated"])
    #expect(hints.first?.int("data.lastReplyId") == first)
    #expect(hints.first?["seq"] == nil)
    var last = 0
    for number in 2...20 { last = try ann.say("\(number)", to: "team", parent: root) }
    #expect(bob.messages().isEmpty)
    stage.advance(seconds: 1)
    hints = bob.messages()
    #expect(hints.map { $0.int("data.lastReplyId") } == [last])
    #expect(hints.first?.int("data.replyCount") == 20)
    stage.advance(seconds: 1)
    #expect(bob.messages().isEmpty)
    #expect(stage.shards[0].core.hints.count == 0)
    // After the silence the next one comes at once again.
    try ann.say("again", to: "team", parent: root)
    #expect(bob.messages().count == 1)
  }

  @Test func R3_whoGotEveryReplyGetsNoHint() throws {
    let (stage, ann, bob) = try Self.pair("none")
    let cyd = Peer(stage)
    try cyd.connect("dev-cyd", choice: "none")
    let root = try ann.say("root", to: "team")
    try ann.say("<@uid:bob>", to: "team", parent: root)
    #expect(bob.messages().named("thread.updated").isEmpty)
    #expect(cyd.messages().named("thread.updated").count == 1)
    // Within the second: Bob wrote one of the two himself, Cyd none of them.
    try bob.say("mine", to: "team", parent: root)
    try ann.say("<@uid:bob> <@uid:cyd>", to: "team", parent: root)
    try cyd.say("cyd's", to: "team", parent: root)
    stage.advance(seconds: 1)
    #expect(bob.messages().named("thread.updated").count == 1)
    #expect(cyd.messages().named("thread.updated").count == 1)
  }

  @Test func R3_aMentionOfAllReachesEverybodyAndNeedsNoHint() throws {
    let (stage, ann, bob) = try Self.pair("none")
    let root = try ann.say("root", to: "team")
    let reply = try ann.say("<@all:everybody>", to: "team", parent: root)
    stage.advance(seconds: 1)
    let events = bob.messages()
    #expect(events.seqs == [root, reply])
    #expect(events.named("thread.updated").isEmpty)
  }

  @Test(arguments: ["all", "subscribed", "open", "none"])
  func R1_R2_M15_whatIsDoneToAMessageComesToWhoGotIt(choice: String) throws {
    let (stage, ann, bob) = try Self.pair(choice, shards: 2)
    let other = Peer(stage, shard: 1)
    try other.connect("dev-ann")
    let root = try ann.say("root", to: "team")
    let mention = try ann.say("<@uid:bob>", to: "team", parent: root)
    let plain = try ann.say("plain", to: "team", parent: root)
    _ = try bob.call("thread.unsubscribe", #"{"parentMessageId":\#(root)}"#)
    _ = bob.messages()
    _ = other.messages()
    func change(_ id: Int, _ text: String?) throws -> (Int, [JSONObject]) {
      let answer =
        try text.map { try ann.call("message.edit", #"{"id":\#(id),"text":"\#($0)"}"#) }
        ?? ann.call("message.delete", #"{"id":\#(id)}"#)
      #expect(answer.int("data.id") == id)
      #expect(answer.string("data.text") == text ?? "")
      #expect(ann.messages().isEmpty)
      let everything = other.messages()
      #expect(everything.map { $0.string("event") } == ["message", text == nil ? "message.deleted" : "message.edited"])
      #expect(everything[0].string("data.category") == "action")
      #expect(everything[0].string("data.action") == (text == nil ? "deleted" : "edited"))
      #expect(everything[0].int("data.actionOn") == id)
      #expect(everything[1].int("data.id") == id)
      return (everything[1].int("seq") ?? 0, everything)
    }
    let hearsAll = choice == "all"
    let (edited, _) = try change(root, "new root")
    #expect(bob.messages().seqs == [edited - 1, edited])
    // The edit takes the mention away, and is the last that Bob hears of the reply.
    let (unmentioned, _) = try change(mention, "nobody")
    #expect(bob.messages().seqs == (hearsAll ? [unmentioned - 1, unmentioned] : [unmentioned]))
    let (gone, _) = try change(mention, nil)
    #expect(bob.messages().seqs == (hearsAll ? [gone - 1, gone] : []))
    let (reworded, _) = try change(plain, "other words")
    #expect(bob.messages().seqs == (hearsAll ? [reworded - 1, reworded] : []))
    let (rootGone, _) = try change(root, nil)
    #expect(bob.messages().named("thread.updated").isEmpty)
    _ = rootGone
    stage.advance(seconds: 2)
    let hints = bob.messages()
    #expect(hints.map { $0.string("event") } == (hearsAll ? [] : ["thread.updated"]))
    if !hearsAll {
      #expect(hints[0].int("data.replyCount") == 1)
      #expect(hints[0].int("data.lastReplyId") == plain)
    }
  }

  @Test func R3_aThreadWhoseRepliesAreAllDeletedIsHintedAsEmpty() throws {
    let (stage, ann, bob) = try Self.pair("none")
    let root = try ann.say("root", to: "team")
    let reply = try ann.say("reply", to: "team", parent: root)
    stage.advance(seconds: 2)
    _ = bob.messages()
    _ = try ann.call("message.delete", #"{"id":\#(reply)}"#)
    let hints = bob.messages()
    #expect(hints.map { $0.string("event") } == ["thread.updated"])
    #expect(hints.first?.int("data.replyCount") == 0)
    #expect(hints.first?.int("data.lastReplyId") == 0)
    #expect(hints.first?.int("data.lastReplyAt") == 0)
  }

  @Test func R3_openingAThreadKeepsTheHintThatWaits() throws {
    let (stage, ann, bob) = try Self.pair("none")
    let root = try ann.say("root", to: "team")
    try ann.say("1", to: "team", parent: root)
    let second = try ann.say("2", to: "team", parent: root)
    _ = bob.messages()
    _ = try bob.call("thread.open", #"{"parentMessageId":\#(root)}"#)
    #expect(bob.messages().isEmpty)
    stage.advance(seconds: 1)
    #expect(bob.messages().map { $0.int("data.lastReplyId") } == [second])
    stage.advance(seconds: 2)
    #expect(bob.messages().isEmpty)
  }

  @Test(arguments: ["all", "subscribed"])
  func R3_anotherChoiceKeepsTheHintThatWaits(choice: String) throws {
    let (stage, ann, bob) = try Self.pair("none")
    // Bob follows the thread as its author, and would get its replies by his new choice.
    let root = try bob.say("root", to: "team")
    try ann.say("1", to: "team", parent: root)
    let second = try ann.say("2", to: "team", parent: root)
    _ = bob.messages()
    _ = try bob.call("session.update", #"{"replies":"\#(choice)"}"#)
    stage.advance(seconds: 2)
    #expect(bob.messages().map { $0.int("data.lastReplyId") } == [second])
  }

  @Test func R3_aPagesHintDoesNotReplaceANewerOne() throws {
    let place = ThreadPlace(root: MessageID(1), conversation: .group(GroupID(stored: "team")))
    let replay = Replay(after: Seq(1))
    replay.hold(hint: [2], of: place, asOf: Seq(7))
    replay.hold(hint: [1], of: place, asOf: Seq(5))
    #expect(replay.takeHeld() == [[2]])
    replay.hold(hint: [3], of: place, asOf: Seq(9))
    #expect(replay.takeHeld() == [[3]])
  }

  @Test func C042_typingIsShedFirstAndMessagesStay() throws {
    var settings = GatewaySettings()
    settings.outboundBytes = 100_000
    let stage = try Stage(settings: settings)
    let ann = Peer(stage)
    let bob = Peer(stage)
    try ann.connect("dev-ann")
    try bob.connect("dev-bob")
    bob.isStalled = true
    func queued() -> Int { stage.shards[0].core.outlets.queuedBytes(bob.handle) }
    let typing = #"{"receiverUid":"team","receiverType":"group"}"#
    var typed = 0
    while queued() < 45_000 {
      #expect(try ann.call("typing.start", typing).bool("ok") == true)
      typed += 1
    }
    var sent: [Int] = []
    while queued() < 60_000 { sent.append(try ann.say(String(repeating: "x", count: 1_000), to: "team")) }
    let full = queued()
    for _ in 0..<10 { _ = try ann.call("typing.stop", typing) }
    #expect(queued() == full)
    #expect(stage.counters.shedEvents.value == 10)
    bob.isStalled = false
    let heard = bob.everything()
    #expect(heard.named("message").seqs == sent)
    #expect(heard.named("typing").count == typed)
    #expect(bob.closed() == nil)
  }

  @Test func R9_typingComesToTheOthersOfTheConversationAndLeavesNoTrace() throws {
    let stage = try Stage(shards: 2)
    let ann = Peer(stage)
    let secondAnn = Peer(stage, shard: 1)
    let bob = Peer(stage, shard: 1)
    let cyd = Peer(stage)
    for (peer, token) in [(ann, "dev-ann"), (secondAnn, "dev-ann"), (bob, "dev-bob"), (cyd, "dev-cyd")] {
      try peer.connect(token)
    }
    let head = stage.shards[0].core.position
    #expect(
      try ann.call("typing.start", #"{"receiverUid":"bob","receiverType":"user","parentMessageId":7}"#).bool("ok")
        == true)
    let events = bob.messages()
    #expect(events.map { $0.string("event") } == ["typing"])
    #expect(events.first?["seq"] == nil)
    #expect(events.first?.string("data.senderUid") == "ann")
    #expect(events.first?.int("data.parentMessageId") == 7)
    #expect(events.first?.bool("data.typing") == true)
    _ = try ann.call("typing.stop", #"{"receiverUid":"team","receiverType":"group"}"#)
    #expect(bob.messages().first?.bool("data.typing") == false)
    #expect(cyd.messages().count == 1)
    #expect(secondAnn.messages().isEmpty)
    #expect(stage.shards[0].core.position == head)
    _ = try ann.call("members.kick", #"{"guid":"team","uid":"bob"}"#)
    #expect(
      try bob.call("typing.start", #"{"receiverUid":"team","receiverType":"group"}"#).string("error.code")
        == "ERR_GROUP_NOT_JOINED")
  }

  @Test func R7_whenAllQueuesTogetherAreLongEachMayHoldLess() throws {
    var settings = GatewaySettings()
    settings.outboundBytes = 80_000
    settings.outboundTotalBytes = 100_000
    let stage = try Stage(settings: settings)
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    let slow = try (0..<6).map { _ in
      let peer = Peer(stage)
      try peer.connect("dev-bob")
      peer.isStalled = true
      return peer
    }
    for _ in 0..<12 { try ann.say(String(repeating: "x", count: 1_000), to: "team") }
    #expect(stage.shards[0].core.outlets.queuedBytes <= settings.outboundTotalBytes)
    for peer in slow { peer.isStalled = false }
    #expect(slow.allSatisfy { $0.closed() == 4001 })
    #expect(stage.shards[0].core.hasRoom == true)
  }

  @Test func R2_nothingIsLeftOfSessionsThatAreGone() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    let roots = try (0..<5).map {
      try ann.say("root \($0)", to: $0 % 2 == 0 ? "team" : "bob", in: $0 % 2 == 0 ? "group" : "user")
    }
    let peers = try (0..<12).map { number in
      let peer = Peer(stage)
      let choice = ["all", "subscribed", "open", "none"][number % 4]
      try peer.connect("dev-bob", choice: choice, more: #","openThreads":\#(roots)"#)
      _ = try peer.call("thread.subscribe", #"{"parentMessageId":\#(roots[number % 5])}"#)
      _ = try peer.call("session.update", #"{"replies":"\#(["none", "subscribed", "all"][number % 3])"}"#)
      return peer
    }
    for root in roots { try ann.say("reply", to: root % 2 == 0 ? "team" : "team", parent: roots[0]) }
    for peer in peers { peer.vanish() }
    ann.vanish()
    #expect(stage.shards[0].core.routes.isEmpty)
    #expect(stage.shards[0].core.outlets.liveFrames == 0)
  }
}
