import Chat
import Store
import Testing

@Suite("M7 · Idempotent sends")
struct MUIDTests {
  @Test(arguments: StoreEngine.all)
  func M7_sameMuidSameContentReturnsTheStoredMessage(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let first = try world.sendFully(.ann, "once", muid: "x")
    let head = try world.reader.head()
    world.now = UnixSeconds(world.now.value + 10)
    let second = try world.sendFully(.ann, "once", muid: "x")
    #expect(second.fetched == first.fetched)
    #expect(second.events.isEmpty)
    #expect(try world.reader.head() == head)
    #expect(try world.ids(MessageQuery(place: .group(.team)), by: .ann) == [first.fetched.message.id.value])
  }

  @Test(arguments: StoreEngine.all)
  func M7_theRepeatedAnswerIsTheMessageAsItIsNow(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "root", muid: "x")
    try world.send(.bob, "reply", parent: root.id)
    let again = try world.sendFully(.ann, "root", muid: "x").fetched
    #expect(again.message.id == root.id)
    #expect(again.message.replyCount == 1)
    #expect(again.viewer.unreadRepliesCount == 1)
  }

  @Test(arguments: StoreEngine.all)
  func C067_twentyRetriesInOneBatchAreOneMessage(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let send = Mutation(actor: .user(.ann), change: .sendMessage(world.outgoing("once", muid: "x")))
    let other = Mutation(actor: .user(.bob), change: .sendMessage(world.outgoing("neighbour")))
    let batch = Array(repeating: send, count: 10) + [other] + Array(repeating: send, count: 10)
    let commit = try world.writer.commit(batch, at: world.now)
    let ids = commit.outcomes.compactMap { $0.fetched?.message.id.value }
    let first = commit.previousHead.value + 1
    #expect(ids == Array(repeating: first, count: 10) + [first + 1] + Array(repeating: first, count: 10))
    #expect(
      commit.outcomes.map(\.events.count) == [1] + Array(repeating: 0, count: 9) + [1] + Array(repeating: 0, count: 10))
    #expect(commit.head.value == first + 1)
  }

  @Test(arguments: StoreEngine.all)
  func C067_aRetryAfterARestartIsTheSameMessage(_ engine: StoreEngine) throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/data"
    func attempt() throws -> (FetchedMessage?, [Event]) {
      let store = try engine.open(path)
      let writer = try store.makeWriter()
      let create = Mutation(actor: .application, change: .createUser(User(uid: .ann, name: "Ann")))
      let message = OutgoingMessage(receiver: .user(.ann), content: .text("once"), muid: "x")
      let commit = try writer.commit(
        [create, Mutation(actor: .user(.ann), change: .sendMessage(message))], at: UnixSeconds(1_772_000_000))
      return (commit.outcomes[1].fetched, commit.outcomes[1].events)
    }
    let first = try attempt()
    let second = try attempt()
    #expect(first.0 != nil)
    #expect(first.0 == second.0)
    #expect(first.1.count == 1)
    #expect(second.1.isEmpty)
  }

  @Test(arguments: StoreEngine.all)
  func C068_aRepeatedKeyInABatchTellsTheFirstIdAndLeavesItsNeighboursAlone(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let first = try world.send(.ann, "once", muid: "x")
    let texts = ["before", "once", "conflict", "after"]
    let commit = try world.writer.commit(
      zip(texts, ["", "x", "x", "y"]).map { text, muid in
        Mutation(actor: .user(.ann), change: .sendMessage(world.outgoing(text, muid: muid)))
      }, at: world.now)
    let ids = commit.outcomes.map { $0.fetched?.message.id.value }
    #expect(ids == [first.id.value + 1, first.id.value, nil, first.id.value + 2])
    #expect(commit.outcomes[2].refusal?.code == .muidConflict)
    #expect(commit.outcomes.map(\.events.count) == [1, 0, 0, 1])
    #expect(commit.head == Seq(first.id.value + 2))
    let stored = try world.ids(MessageQuery(place: .group(.team)), by: .bob)
    #expect(stored == [first.id.value, first.id.value + 1, first.id.value + 2])
  }

  @Test(arguments: StoreEngine.all)
  func C069_theSameKeyWithOtherContentIsAConflict(_ engine: StoreEngine) throws {
    let world = try World(engine)
    try world.send(.ann, "a", muid: "x")
    let otherText = world.outgoing("b", muid: "x")
    #expect(try world.refusal(.user(.ann), .sendMessage(otherText)) == Refusal(.muidConflict))
    let otherTarget = world.outgoing("a", to: .user(.bob), muid: "x")
    #expect(try world.refusal(.user(.ann), .sendMessage(otherTarget)) == Refusal(.muidConflict))
  }

  @Test(arguments: StoreEngine.all)
  func C069_theSameContentWithTwoKeysOrNoneIsTwoMessages(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let head = try world.reader.head().value
    #expect(try world.send(.ann, "ok", muid: "1").id.value == head + 1)
    #expect(try world.send(.ann, "ok", muid: "2").id.value == head + 2)
    #expect(try world.send(.ann, "ok").id.value == head + 3)
    #expect(try world.send(.ann, "ok").id.value == head + 4)
  }

  @Test(arguments: StoreEngine.all)
  func M7_keysBelongToTheirSender(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let a = try world.send(.ann, "same", muid: "x")
    let b = try world.send(.bob, "same", muid: "x")
    #expect(a.id < b.id)
  }

  @Test(arguments: StoreEngine.all)
  func M7_theKeyIsLookedUpBeforeRights(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let sent = try world.send(.bob, "before", muid: "x")
    try world.must(.user(.ann), .kickMember(.team, .bob))
    try world.send(.ann, "not for Bob's eyes", parent: sent.id)
    let repeated = try world.sendFully(.bob, "before", muid: "x").fetched
    #expect(repeated.message.id == sent.id)
    // T9: Bob follows nothing there any more.
    #expect(repeated.viewer == ViewerState(threadSubscribed: false))
    let other = world.outgoing("after", muid: "x")
    #expect(try world.refusal(.user(.bob), .sendMessage(other)).code == .muidConflict)
    #expect(try world.refusal(.user(.bob), .sendMessage(world.outgoing("after", muid: "y"))).code == .groupNotJoined)
  }

  @Test(arguments: StoreEngine.all)
  func M7_aRefusedSendLeavesItsKeyFree(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let refused = world.outgoing("x", parent: MessageID(9_999), muid: "k")
    #expect(try world.refusal(.user(.ann), .sendMessage(refused)).code == .messageNotFound)
    #expect(try world.send(.ann, "another content", muid: "k").content == .text("another content"))
  }

  @Test(arguments: StoreEngine.all)
  func M7_aKeyHoldsForADay(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let sent = try world.send(.ann, "once", muid: "x")
    for _ in 0..<3 {
      world.now = UnixSeconds(world.now.value + 8 * 3600 - 100)
      try world.send(.bob, "time passes")
      #expect(try world.sendFully(.ann, "once", muid: "x").fetched.message.id == sent.id)
    }
  }
}
