import Chat
import Store
import Testing

@Suite("M11, M9, T3, T4, T10 · Editing and deleting")
struct ChangeTests {
  private func edit(_ world: World, _ actor: Actor, _ id: MessageID, _ edit: MessageEdit) throws -> Outcome {
    try world.must(actor, .editMessage(id, edit))
  }

  private func change(_ outcome: Outcome) throws -> MessageChange {
    let changes = outcome.events.compactMap { event -> MessageChange? in
      if case .messageChanged(let change) = event.body { change } else { nil }
    }
    try #require(changes.count == 1)
    return changes[0]
  }

  /// The action message that an outcome begins with.
  private func action(_ outcome: Outcome) throws -> Message {
    guard case .message(let message)? = outcome.events.first?.body else { throw World.Unexpected(what: "no action") }
    return message
  }

  private func page(_ world: World, _ place: MessageQuery.Place, by uid: UserID = .ann) throws -> [Message] {
    try world.reader.messages(MessageQuery(place: place), actor: .user(uid)).get().rows.map(\.message)
  }

  @Test(arguments: StoreEngine.all, [Receiver.group(.team), .user(.bob)])
  func M11_M1_anEditIsAnActionMessageAndThenTheChange(_ engine: StoreEngine, _ receiver: Receiver) throws {
    let world = try World(engine)
    let sent = try world.send(.ann, "first", to: receiver)
    world.now = UnixSeconds(world.now.value + 60)
    let outcome = try edit(world, .user(.ann), sent.id, MessageEdit(text: "second", tags: ["x"]))
    let action = try action(outcome)
    let change = try change(outcome)
    #expect(outcome.events.map(\.seq.value) == [sent.id.value + 1, sent.id.value + 2])
    #expect(action.id.seq == outcome.events[0].seq)
    #expect(action.content == .action("edited", by: .ann, on: .message(sent.id)))
    #expect(action.parent == nil)
    #expect(change.kind == .edited)
    var expected = sent
    expected.content = .text("second")
    expected.extras.tags = ["x"]
    expected.editedAt = world.now
    expected.editedBy = .ann
    expected.updatedAt = world.now
    #expect(change.message == expected)
    #expect(try world.fetch(sent.id, by: .bob).message == expected)
    guard case .success(.changedMessage(let answered)) = outcome.result else { throw World.Unexpected(what: "answer") }
    #expect(answered == (try world.fetch(sent.id, by: .ann)))
    let place: MessageQuery.Place = receiver == .user(.bob) ? .user(.bob) : .group(.team)
    #expect(try page(world, place) == [expected, action])
  }

  @Test(arguments: StoreEngine.all)
  func M11_whatAnEditMayChangeOfEachKind(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let file = Attachment(name: "a", fileExtension: "png", size: 1, mimeType: "image/png", url: "https://f.example/a")
    func send(_ content: Content) throws -> MessageID {
      let outcome = try world.must(
        .user(.ann), .sendMessage(OutgoingMessage(receiver: .group(.team), content: content)))
      return try #require(outcome.fetched).message.id
    }
    let text = try send(.text("t"))
    let media = try send(.media(.image, attachments: [file], caption: nil))
    let data = JSONText(unchecked: #"{"q":1}"#)
    let custom = try send(.custom(type: "poll", data: .emptyObject))
    let kinds: [(MessageID, MessageEdit, Content)] = [
      (text, MessageEdit(text: "T"), .text("T")),
      (media, MessageEdit(caption: "C"), .media(.image, attachments: [file], caption: "C")),
      (custom, MessageEdit(customData: data), .custom(type: "poll", data: data)),
    ]
    for (id, fitting, after) in kinds {
      for (_, other, _) in kinds where other != fitting {
        let refused = try world.refusal(.user(.ann), .editMessage(id, other))
        #expect(refused.code == .badRequest)
        #expect(
          refused.details == [.field(other.text != nil ? "text" : other.caption != nil ? "caption" : "customData")])
      }
      #expect(try change(edit(world, .user(.ann), id, fitting)).message.content == after)
      let labelled = try edit(world, .user(.ann), id, MessageEdit(metadata: data, tags: ["a", "b"]))
      #expect(try change(labelled).message.extras == MessageExtras(metadata: data, tags: ["a", "b"]))
      let bared = try edit(world, .user(.ann), id, MessageEdit(metadata: .emptyObject, tags: []))
      #expect(try change(bared).message.extras == MessageExtras())
      #expect(try world.fetch(id, by: .bob).message.content == after)
    }
  }

  @Test(arguments: StoreEngine.all)
  func M11_anEditThatChangesNothingIsSilent(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let sent = try world.send(.ann, "same")
    let outcome = try edit(world, .user(.ann), sent.id, MessageEdit(text: "same", metadata: .emptyObject, tags: []))
    #expect(outcome.events.isEmpty)
    #expect(try world.fetch(sent.id, by: .ann).message == sent)
    #expect(try world.reader.head() == sent.id.seq)
  }

  @Test(arguments: StoreEngine.all)
  func M11_M4_anEditToWhatOnlyLooksTheSameCounts(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let (whole, apart) = ("\u{e9}", "e\u{301}")
    func json(_ key: String) -> JSONText { JSONText(unchecked: #"{"\#(key)":1}"#) }
    let id = try world.send(.ann, whole).id
    _ = try edit(world, .user(.ann), id, MessageEdit(metadata: json(whole), tags: [whole]))
    for change in [MessageEdit(text: apart), MessageEdit(metadata: json(apart)), MessageEdit(tags: [apart])] {
      #expect(try edit(world, .user(.ann), id, change).events.count == 2)
      #expect(try edit(world, .user(.ann), id, change).events.isEmpty)
    }
    let stored = try world.fetch(id, by: .bob).message
    guard case .text(let text) = stored.content else { throw World.Unexpected(what: "no text") }
    #expect(Array(text.utf8) == Array(apart.utf8))
    #expect(Array(stored.extras.metadata.text.utf8) == Array(json(apart).text.utf8))
    #expect(stored.extras.tags.map { Array($0.utf8) } == [Array(apart.utf8)])
  }

  @Test(arguments: StoreEngine.all)
  func M11_D5_whoMayChangeAMessage(_ engine: StoreEngine) throws {
    let world = try World(engine)
    try world.must(.user(.ann), .addMembers(.team, [NewMember(uid: .dan, scope: .moderator)]))
    let inTeam = try world.send(.bob, "by bob").id
    let alone = try world.send(.bob, "by bob", to: .user(.ann)).id
    func changes(_ id: MessageID, _ text: String) -> [Mutation.Change] {
      [.editMessage(id, MessageEdit(text: text)), .deleteMessage(id)]
    }
    for change in changes(inTeam, "no") {
      #expect(try world.refusal(.user(.cyd), change) == Refusal(.messageNotASender))
    }
    for change in changes(alone, "no") {
      #expect(try world.refusal(.user(.ann), change) == Refusal(.messageNotASender))
      #expect(try world.refusal(.user(.cyd), change) == Refusal(.messageIDNotFound))
    }
    for (number, actor) in [Actor.user(.bob), .user(.dan), .user(.ann), .application].enumerated() {
      let changed = try change(edit(world, actor, inTeam, MessageEdit(text: "\(number)"))).message
      #expect(changed.editedBy == actor.uid)
      #expect(changed.sender.uid == .bob)
      let deleted = try change(world.must(actor, .deleteMessage(world.send(.bob, "x").id))).message
      #expect(deleted.deletedBy == actor.uid)
    }
    try world.must(.application, .deleteMessage(alone))
  }

  @Test(arguments: StoreEngine.all)
  func M11_T2_whatCannotBeChanged(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let sent = try world.send(.bob, "x")
    let action = try action(edit(world, .user(.bob), sent.id, MessageEdit(text: "y")))
    let gone = try world.send(.bob, "gone").id
    try world.must(.user(.bob), .deleteMessage(gone))
    func both(_ uid: UserID, _ id: MessageID) throws -> Set<RefusalCode> {
      let changes: [Mutation.Change] = [.editMessage(id, MessageEdit(text: "z")), .deleteMessage(id)]
      return Set(try changes.map { try world.refusal(.user(uid), $0).code })
    }
    #expect(try both(.bob, action.id) == [.messageActionNotAllowed])
    #expect(try both(.ann, action.id) == [.messageActionNotAllowed])
    #expect(try both(.bob, gone) == [.messageIDNotFound])
    #expect(try both(.bob, MessageID(999_999)) == [.messageIDNotFound])
    #expect(try both(.dan, sent.id) == [.messageIDNotFound])
    try world.must(.user(.bob), .leaveGroup(.team))
    #expect(try both(.bob, sent.id) == [.messageNoAccess])
  }

  @Test(arguments: StoreEngine.all)
  func M11_aDeletionKeepsTheRowAndNothingInIt(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let quoted = try world.send(.cyd, "quoted words")
    let extras = MessageExtras(
      subType: "s", conversationText: "shown", updateConversation: true, sendNotification: true,
      metadata: JSONText(unchecked: #"{"a":1}"#), tags: ["t"])
    let message = OutgoingMessage(
      receiver: .group(.team), content: .text("secret <@uid:bob> <@all:all>"), quoted: quoted.id, muid: "m",
      extras: extras)
    let sent = try #require(try world.must(.user(.ann), .sendMessage(message)).fetched).message
    try world.send(.bob, "reply", parent: sent.id)
    world.now = UnixSeconds(world.now.value + 5)
    let deleted = try change(world.must(.user(.ann), .deleteMessage(sent.id)))
    var expected = Message(
      id: sent.id, muid: "m", conversation: sent.conversation, sender: sent.sender, receiver: sent.receiver,
      content: .deleted(type: "text", category: .message), sentAt: sent.sentAt, updatedAt: world.now,
      deletedAt: world.now, deletedBy: .ann, replyCount: 1)
    expected.extras.updateConversation = true
    expected.extras.sendNotification = true
    #expect(deleted.message == expected)
    #expect(deleted.formerMentions == [.bob])
    #expect(deleted.formerlyMentionedAll)
    let seen = try world.fetch(sent.id, by: .bob)
    #expect(seen.message == expected)
    #expect(!seen.viewer.mentionedMe)
    // M7: a late repetition of the send is told what became of it.
    let again = try world.must(.user(.ann), .sendMessage(message))
    #expect(again.fetched?.message == expected)
    #expect(again.events.isEmpty)
  }

  @Test(arguments: StoreEngine.all)
  func M11_T3_ofAReplyTheActionIsInTheThreadAndIsNoReply(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "root").id
    let replies = try (1...4).map { try world.send(.bob, "\($0)", parent: root).id }
    func stand(_ outcome: Outcome) throws -> [Int64] {
      let thread = try #require(outcome.events[0].thread)
      #expect(outcome.events[1].thread == thread)
      #expect(thread.asOf == outcome.events[1].seq)
      return [Int64(thread.replyCount), thread.lastReply?.value ?? 0, thread.lastReplyAt.value]
    }
    let at = world.now.value
    let edited = try edit(world, .user(.bob), replies[0], MessageEdit(text: "one"))
    #expect(try action(edited).parent == root)
    #expect(try stand(edited) == [4, replies[3].value, at])
    #expect(try stand(world.must(.user(.bob), .deleteMessage(replies[1]))) == [3, replies[3].value, at])
    #expect(try stand(world.must(.user(.bob), .deleteMessage(replies[3]))) == [2, replies[2].value, at])
    #expect(try world.fetch(root, by: .ann).message.replyCount == 2)
    #expect(try stand(world.must(.user(.ann), .deleteMessage(replies[2]))) == [1, replies[0].value, at])
    #expect(try stand(world.must(.user(.ann), .deleteMessage(replies[0]))) == [0, 0, 0])
    #expect(try page(world, .thread(root)).count == 9)
    #expect(try page(world, .group(.team)).count == 10)
    let next = try world.sendFully(.bob, "next", parent: root)
    #expect(next.events[0].thread?.replyCount == 1)
    #expect(next.events[0].thread?.lastReply == next.fetched.message.id)
  }

  @Test(arguments: StoreEngine.all)
  func M14_actionsAndDeletedRepliesAreNotUnread(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "root").id
    let replies = try (1...3).map { try world.send(.bob, "\($0)", parent: root).id }
    func unread(_ uid: UserID) throws -> Int { try world.fetch(root, by: uid).viewer.unreadRepliesCount }
    _ = try edit(world, .user(.bob), replies[0], MessageEdit(text: "one"))
    #expect(try unread(.ann) == 3)
    try world.must(.user(.ann), .deleteMessage(replies[1]))
    #expect(try unread(.ann) == 2)
    try world.must(.user(.bob), .deleteMessage(replies[2]))
    #expect(try unread(.ann) == 1)
    #expect(try unread(.bob) == 0)
    try world.must(.user(.bob), .deleteMessage(replies[0]))
    #expect(try unread(.ann) == 0)
  }

  @Test(arguments: StoreEngine.all)
  func M9_T4_anEditsMentionsAreReadAnewAndSubscribe(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "hi <@uid:bob>").id
    _ = try world.subscribe(.bob, root, false)
    let outcome = try edit(world, .user(.ann), root, MessageEdit(text: "<@uid:cyd> <@uid:bob> <@uid:dan> <@all:x>"))
    let changed = try change(outcome)
    #expect(changed.message.mentions.map(\.uid) == [.cyd, .bob])
    #expect(changed.message.mentionsAll)
    #expect(changed.formerMentions == [])
    // Bob was mentioned before: nothing new for him.
    let head = try world.reader.head().value
    #expect(subscriptionChanges(outcome.events) == ["\(head) cyd on mention"])
    let without = try edit(world, .user(.ann), root, MessageEdit(text: "nobody"))
    #expect(try change(without).formerMentions == [.cyd, .bob])
    #expect(try change(without).formerlyMentionedAll)
    #expect(try !world.fetch(root, by: .cyd).viewer.mentionedMe)
    // T6: mentioned again is mentioned anew.
    let again = try edit(world, .user(.ann), root, MessageEdit(text: "<@uid:bob>"))
    #expect(subscriptionChanges(again.events) == ["\(try world.reader.head().value) bob on mention"])
    // In a one-on-one conversation `all` means nobody.
    let alone = try world.send(.ann, "x", to: .user(.bob)).id
    let pair = try change(edit(world, .user(.ann), alone, MessageEdit(text: "<@all:x> <@uid:cyd> <@uid:bob>"))).message
    #expect(!pair.mentionsAll)
    #expect(pair.mentions.map(\.uid) == [.bob])
  }

  @Test(arguments: StoreEngine.all)
  func T4_T10_aMentionInAReplySubscribesToItsRootUnlessThatIsDeleted(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "root").id
    let reply = try world.send(.bob, "reply", parent: root).id
    let outcome = try edit(world, .user(.bob), reply, MessageEdit(text: "<@uid:cyd>"))
    #expect(subscriptionChanges(outcome.events).count == 1)
    #expect(try world.isSubscribed(.cyd, root))
    _ = try world.subscribe(.cyd, root, false)
    _ = try edit(world, .user(.bob), reply, MessageEdit(text: "nobody"))
    try world.must(.user(.ann), .deleteMessage(root))
    let late = try edit(world, .user(.bob), reply, MessageEdit(text: "<@uid:cyd>"))
    #expect(subscriptionChanges(late.events) == [])
  }

  @Test(arguments: StoreEngine.all)
  func T10_aDeletedRootTakesNoRepliesAndKeepsThoseItHas(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "root").id
    let reply = try world.send(.bob, "reply", parent: root).id
    #expect(try world.fetch(root, by: .ann).viewer.unreadRepliesCount == 1)
    let outcome = try world.must(.user(.ann), .deleteMessage(root))
    // The root is no reply: neither is the action.
    #expect(try action(outcome).parent == nil)
    #expect(outcome.events[1].thread == nil)
    for uid in [UserID.ann, .bob, .cyd] {
      #expect(
        try world.refusal(.user(uid), .sendMessage(world.outgoing("x", parent: root))) == Refusal(.messageNotFound))
      for wish in [true, false] {
        #expect(
          try world.refusal(.user(uid), .setThreadSubscription(root: root, isSubscribed: wish))
            == Refusal(.messageIDNotFound))
      }
      #expect(
        try world.refusal(.user(uid), .sendMessage(world.outgoing("x", quoted: root))).code == .messageIDNotFound)
      #expect(try page(world, .thread(root), by: uid).map(\.id) == [reply])
    }
    let seen = try world.fetch(root, by: .ann)
    #expect(seen.message.replyCount == 1)
    #expect(seen.viewer.unreadRepliesCount == 0)
    #expect(try world.fetch(reply, by: .ann).viewer.unreadRepliesCount == 0)
    // What is left in it can still be changed.
    try world.must(.user(.bob), .deleteMessage(reply))
  }

  @Test(arguments: StoreEngine.all)
  func R6_R2_whatWasMissedOfChanges(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "root").id
    let reply = try world.send(.ann, "<@uid:bob>", parent: root).id
    let plain = try world.send(.ann, "plain", parent: root).id
    let alone = try world.send(.ann, "alone", to: .user(.bob)).id
    _ = try world.subscribe(.bob, root, false)
    let start = try world.reader.head()
    let all = [
      try edit(world, .user(.ann), reply, MessageEdit(text: "nobody")),
      try edit(world, .user(.ann), alone, MessageEdit(text: "changed")),
      try world.must(.user(.ann), .deleteMessage(plain)), try world.must(.user(.ann), .deleteMessage(alone)),
      try world.must(.user(.ann), .deleteMessage(root)),
    ]
    func missed(_ uid: UserID, _ replies: ReplyChoice) throws -> [Event] {
      try #require(
        try world.reader.missed(MissedQuery(uid: uid, after: start, replies: replies, limit: 100, isFirst: false))
      ).events
    }
    let everything = all.flatMap(\.events)
    #expect(try missed(.bob, .all).map(\.seq) == everything.map(\.seq))
    // Bob saw the reply that mentioned him: what became of it concerns him. The actions in the thread do not.
    let chosen = try missed(.bob, .none)
    #expect(
      chosen.map(\.seq)
        == [
          everything[1], everything[2], everything[3], everything[6], everything[7], everything[8],
          everything[9],
        ].map(\.seq))
    guard case .messageChanged(let change) = chosen[0].body else { throw World.Unexpected(what: "no change") }
    #expect(change.kind == .edited)
    #expect(change.message == (try world.fetch(reply, by: .bob).message))
    #expect(try missed(.cyd, .none).map(\.seq) == [everything[8], everything[9]].map(\.seq))
    #expect(try missed(.dan, .all).isEmpty)
    #expect(
      try world.reader.resumption(of: .bob, after: start, window: ResumeWindow(events: 9), now: world.now) == .tooMany)
    #expect(
      try world.reader.resumption(of: .bob, after: start, window: ResumeWindow(events: 10), now: world.now)
        == .possible)
  }
}
