import Chat
import Store
import Testing

@Suite("T4–T11, T15 · Subscriptions")
struct SubscriptionTests {
  @Test(arguments: StoreEngine.all)
  func T5_theRootsAuthorFollowsFromTheMomentOfSending(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.sendFully(.ann, "root")
    #expect(root.fetched.viewer.threadSubscribed)
    #expect(root.events.count == 1)
    #expect(try world.isSubscribed(.ann, root.fetched.message.id))
    #expect(try !world.isSubscribed(.bob, root.fetched.message.id))
    // The author's own reply changes nothing either.
    let reply = try world.sendFully(.ann, "more", parent: root.fetched.message.id)
    #expect(subscriptionChanges(reply.events) == [])
  }

  @Test(arguments: StoreEngine.all)
  func T4_replyingSubscribesTheReplierOnceAndNobodyElse(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "root")
    let first = try world.sendFully(.bob, "1", parent: root.id)
    #expect(subscriptionChanges(first.events) == ["\(root.id.value + 2) bob on reply"])
    #expect(first.fetched.viewer.threadSubscribed)
    let second = try world.sendFully(.bob, "2", parent: root.id)
    #expect(subscriptionChanges(second.events) == [])
    #expect(try world.isSubscribed(.bob, root.id))
    #expect(try !world.isSubscribed(.cyd, root.id))
  }

  @Test(arguments: StoreEngine.all)
  func T4_aMentionInTheRootSubscribesToItsThread(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.sendFully(.ann, "<@uid:bob> <@uid:ann> <@uid:dan>")
    let id = root.fetched.message.id
    #expect(subscriptionChanges(root.events) == ["\(id.value + 1) bob on mention"])
    #expect(try world.isSubscribed(.bob, id))
    guard case .threadSubscription(let change) = root.events.last?.body else {
      Issue.record("The last event has to be the subscription.")
      return
    }
    #expect(change.root == id)
    #expect(change.conversation == .group(.team))
  }

  @Test(arguments: StoreEngine.all)
  func T4_mentioningAllSubscribesNobody(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.sendFully(.ann, "<@all:all>")
    #expect(subscriptionChanges(root.events) == [])
    #expect(try !world.isSubscribed(.bob, root.fetched.message.id))
  }

  @Test(arguments: StoreEngine.all)
  func T4_aReplierWhoMentionsHimselfIsSubscribedOnce(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "root")
    let reply = try world.sendFully(.bob, "<@uid:bob>", parent: root.id)
    #expect(subscriptionChanges(reply.events) == ["\(root.id.value + 2) bob on reply"])
  }

  @Test(arguments: StoreEngine.all)
  func T6_subscribingIsExplicitAndIdempotent(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "root without replies")
    let n = root.id.value
    #expect(subscriptionChanges(try world.subscribe(.bob, root.id)) == ["\(n + 1) bob on explicit"])
    #expect(subscriptionChanges(try world.subscribe(.bob, root.id)) == [])
    #expect(subscriptionChanges(try world.subscribe(.bob, root.id, false)) == ["\(n + 2) bob off explicit"])
    #expect(subscriptionChanges(try world.subscribe(.bob, root.id, false)) == [])
    #expect(try world.reader.head().value == n + 2)
    // One-on-one too, and by the one who did not author it.
    let pair = try world.send(.ann, "pair", to: .user(.bob))
    #expect(subscriptionChanges(try world.subscribe(.bob, pair.id)) == ["\(n + 4) bob on explicit"])
    #expect(try world.isSubscribed(.bob, pair.id))
  }

  @Test(arguments: StoreEngine.all)
  func T6_othersReplyDoesNotResubscribe(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "root")
    #expect(try world.subscribe(.ann, root.id, false).count == 1)
    let reply = try world.sendFully(.bob, "C100: without a mention", parent: root.id)
    #expect(subscriptionChanges(reply.events) == ["\(reply.fetched.message.id.value + 1) bob on reply"])
    #expect(try !world.isSubscribed(.ann, root.id))
  }

  @Test(arguments: StoreEngine.all)
  func C101_ownReplyAndMentionSubscribeAgain(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "root")
    _ = try world.subscribe(.ann, root.id, false)
    let own = try world.sendFully(.ann, "own reply", parent: root.id)
    #expect(subscriptionChanges(own.events) == ["\(own.fetched.message.id.value + 1) ann on reply"])
    #expect(try world.isSubscribed(.ann, root.id))
    _ = try world.subscribe(.ann, root.id, false)
    #expect(try !world.isSubscribed(.ann, root.id))
    let mention = try world.send(.bob, "<@uid:ann>", parent: root.id)
    #expect(try world.isSubscribed(.ann, root.id))
    #expect(try world.fetch(mention.id, by: .ann).viewer.mentionedMe)
  }

  @Test(arguments: StoreEngine.all)
  func T15_askingForWhatIsSoEmitsNothingAndTakesNoPosition(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "root")
    let head = try world.reader.head()
    #expect(try world.subscribe(.ann, root.id).isEmpty)
    #expect(try world.subscribe(.bob, root.id, false).isEmpty)
    #expect(try world.reader.head() == head)
    // Later causes are above the fence.
    let mention = try world.sendFully(.ann, "<@uid:bob>", parent: root.id)
    #expect(subscriptionChanges(mention.events) == ["\(head.value + 2) bob on mention"])
  }

  @Test(arguments: StoreEngine.all)
  func T7_theOrderWithinOneBatchDecides(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "root")
    let mention = Mutation(
      actor: .user(.ann), change: .sendMessage(world.outgoing("<@uid:bob>", parent: root.id)))
    let unsubscribe = Mutation(
      actor: .user(.bob), change: .setThreadSubscription(root: root.id, isSubscribed: false))
    _ = try world.writer.commit([mention, unsubscribe], at: world.now)
    #expect(try !world.isSubscribed(.bob, root.id))
    _ = try world.writer.commit([unsubscribe, mention], at: world.now)
    #expect(try world.isSubscribed(.bob, root.id))
  }

  @Test(arguments: StoreEngine.all)
  func T8_refusals(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "root")
    let reply = try world.send(.bob, "reply", parent: root.id)
    for isSubscribed in [true, false] {
      func refused(_ uid: UserID, _ id: MessageID) throws -> Refusal {
        try world.refusal(.user(uid), .setThreadSubscription(root: id, isSubscribed: isSubscribed))
      }
      let toReply = Refusal(.invalidParentMessageID, details: [.rootMessageID(root.id)])
      #expect(try refused(.ann, reply.id) == toReply)
      #expect(try refused(.ann, MessageID(9_999)) == Refusal(.messageIDNotFound))
      #expect(try refused(.dan, root.id) == Refusal(.messageIDNotFound))
    }
    try world.must(.user(.cyd), .leaveGroup(.team))
    let left = try world.refusal(.user(.cyd), .setThreadSubscription(root: root.id, isSubscribed: true))
    #expect(left == Refusal(.messageNoAccess))
  }

  @Test(arguments: StoreEngine.all)
  func T11_aReplyCarriesItsRootsState(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "root")
    let reply = try world.send(.bob, "1", parent: root.id)
    try world.send(.cyd, "2", parent: root.id)
    let byAnn = try world.fetch(reply.id, by: .ann).viewer
    #expect(byAnn == ViewerState(threadSubscribed: true, unreadRepliesCount: 2))
    let byBob = try world.fetch(reply.id, by: .bob).viewer
    #expect(byBob == ViewerState(threadSubscribed: true, unreadRepliesCount: 1))
    _ = try world.subscribe(.bob, root.id, false)
    #expect(try world.fetch(reply.id, by: .bob).viewer == ViewerState(threadSubscribed: false))
    let page = try world.reader.messages(MessageQuery(place: .group(.team)), actor: .user(.ann)).get()
    #expect(page.rows.map(\.viewer.threadSubscribed) == [true, true, true])
    #expect(page.rows.map(\.viewer.unreadRepliesCount) == [2, 2, 2])
  }

  @Test(arguments: StoreEngine.all)
  func M14_ownRepliesAreNotUnread(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "root")
    try world.send(.ann, "own", parent: root.id)
    let other = try world.send(.bob, "other", parent: root.id)
    #expect(try world.fetch(root.id, by: .ann).viewer.unreadRepliesCount == 1)
    // The author of a reply is answered with the thread's own count: Bob has not read Ann's.
    #expect(try world.sendFully(.bob, "again", parent: root.id).fetched.viewer.unreadRepliesCount == 1)
    #expect(try world.fetch(other.id, by: .cyd).viewer.unreadRepliesCount == 0)
  }

  @Test(arguments: StoreEngine.all)
  func T9_leavingDeletesSubscriptionsAndJoiningRestoresNone(_ engine: StoreEngine) throws {
    for change in [Mutation.Change.leaveGroup(.team), .kickMember(.team, .bob)] {
      let world = try World(engine)
      let annsRoot = try world.send(.ann, "root <@uid:bob>")
      let bobsRoot = try world.send(.bob, "root of mine")
      try world.send(.ann, "unread for Bob", parent: bobsRoot.id)
      #expect(try world.fetch(bobsRoot.id, by: .bob).viewer.unreadRepliesCount == 1)
      let actor: Actor = if case .leaveGroup = change { .user(.bob) } else { .user(.ann) }
      try world.must(actor, change)
      // C111: at once.
      #expect(try world.reader.message(bobsRoot.id, actor: .user(.bob)).refusal == Refusal(.messageNoAccess))
      try world.must(.user(.ann), .addMembers(.team, [NewMember(uid: .bob, scope: .participant)]))
      #expect(try world.fetch(annsRoot.id, by: .bob).viewer == ViewerState(threadSubscribed: false, mentionedMe: true))
      #expect(try world.fetch(bobsRoot.id, by: .bob).viewer == ViewerState(threadSubscribed: false))
      // A new cause counts again, and only what came after joining is unread.
      try world.send(.ann, "<@uid:bob>", parent: bobsRoot.id)
      #expect(
        try world.fetch(bobsRoot.id, by: .bob).viewer == ViewerState(threadSubscribed: true, unreadRepliesCount: 1))
    }
  }

  @Test(arguments: StoreEngine.all)
  func T9_otherGroupsAndPeopleKeepTheirs(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let other = GroupID(stored: "other")
    try world.must(.user(.bob), .createGroup(Group(guid: other, name: "Other", owner: .bob)))
    let there = try world.send(.bob, "there", to: .group(other))
    let here = try world.send(.ann, "here <@uid:bob> <@uid:cyd>")
    let pair = try world.send(.ann, "pair <@uid:bob>", to: .user(.bob))
    try world.must(.user(.bob), .leaveGroup(.team))
    #expect(try world.isSubscribed(.bob, there.id))
    #expect(try world.isSubscribed(.bob, pair.id))
    #expect(try world.isSubscribed(.cyd, here.id))
  }
}
