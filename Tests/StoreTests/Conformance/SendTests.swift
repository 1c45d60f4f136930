import Chat
import Store
import Testing

@Suite("M · Messages")
struct SendTests {
  @Test(arguments: StoreEngine.all)
  func M1_idIsTheSeqOfTheMessageAndRises(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let before = try world.reader.head().value
    let first = try world.sendFully(.ann, "one")
    let second = try world.sendFully(.bob, "two", to: .user(.ann))
    #expect(first.fetched.message.id.value == before + 1)
    #expect(first.events.map(\.seq.value) == [before + 1])
    #expect(second.fetched.message.id.value == before + 2)
    #expect(try world.reader.head().value == before + 2)
  }

  @Test(arguments: StoreEngine.all)
  func M1_aReplyComesBeforeTheSubscriptionsThatItCauses(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "root")
    let n = root.id.value + 1
    let reply = try world.sendFully(.bob, "look <@uid:cyd> and <@uid:ann>", parent: root.id)
    #expect(reply.events.map(\.seq.value) == [n, n + 1, n + 2])
    #expect(reply.events.first?.body == .message(reply.fetched.message))
    // Ann authored the root and follows it already.
    #expect(subscriptionChanges(reply.events) == ["\(n + 1) bob on reply", "\(n + 2) cyd on mention"])
    #expect(reply.events.dropFirst().map(\.audience) == [.user(.bob), .user(.cyd)])
  }

  @Test(arguments: StoreEngine.all)
  func M1_aBatchIsAppliedInOrder(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let head = try world.reader.head()
    let batch = ["a", "b", "c"].map { Mutation(actor: .user(.ann), change: .sendMessage(world.outgoing($0))) }
    let commit = try world.writer.commit(batch, at: world.now)
    #expect(commit.previousHead == head)
    #expect(commit.head.value == head.value + 3)
    #expect(commit.outcomes.compactMap { $0.fetched?.message.content } == [.text("a"), .text("b"), .text("c")])
    #expect(commit.outcomes.flatMap(\.events).map(\.seq.value) == [1, 2, 3].map { head.value + $0 })
  }

  @Test(arguments: StoreEngine.all)
  func M6_theServerSetsTheTimes(_ engine: StoreEngine) throws {
    let world = try World(engine)
    world.now = UnixSeconds(1_772_025_201)
    let message = try world.send(.ann, "now")
    #expect(message.sentAt == UnixSeconds(1_772_025_201))
    #expect(message.updatedAt == UnixSeconds(1_772_025_201))
    #expect(message.editedAt == .never && message.deletedAt == .never && message.readAt == .never)
  }

  @Test(arguments: StoreEngine.all)
  func D4_theConversationKnowsBothEnds(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let toAnn = try world.send(.bob, "hi", to: .user(.ann))
    #expect(toAnn.conversation == .oneOnOne(.ann, .bob))
    #expect(toAnn.receiver == .user(try #require(try world.reader.user(.ann))))
    let toBob = try world.send(.ann, "hi", to: .user(.bob))
    #expect(toBob.conversation.id == "ann_user_bob")
    #expect(toBob.receiver == .user(try #require(try world.reader.user(.bob))))
    #expect(try world.ids(MessageQuery(place: .user(.bob)), by: .ann) == [toAnn.id.value, toBob.id.value])
    #expect(try world.ids(MessageQuery(place: .user(.ann)), by: .bob) == [toAnn.id.value, toBob.id.value])
  }

  @Test(arguments: StoreEngine.all)
  func D4_aMessageToOneselfWorks(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let note = try world.send(.ann, "note", to: .user(.ann))
    #expect(note.conversation.id == "ann_user_ann")
    let reply = try world.send(.ann, "more", to: .user(.ann), parent: note.id)
    #expect(try world.ids(MessageQuery(place: .user(.ann)), by: .ann) == [note.id.value, reply.id.value])
    #expect(try world.ids(MessageQuery(place: .everywhere), by: .ann) == [note.id.value, reply.id.value])
  }

  @Test(arguments: StoreEngine.all)
  func D5_onlyMembersWriteToAGroup(_ engine: StoreEngine) throws {
    let world = try World(engine)
    #expect(try world.refusal(.user(.dan), .sendMessage(world.outgoing("x"))).code == .groupNotJoined)
    let nowhere = world.outgoing("x", to: .group(GroupID(stored: "nowhere")))
    #expect(try world.refusal(.user(.ann), .sendMessage(nowhere)).code == .guidNotFound)
    let nobody = world.outgoing("x", to: .user(UserID(stored: "nobody")))
    #expect(try world.refusal(.user(.ann), .sendMessage(nobody)).code == .uidNotFound)
    let stranger = Actor.user(UserID(stored: "nobody"))
    #expect(try world.refusal(stranger, .sendMessage(world.outgoing("x"))).code == .notLoggedIn)
  }

  @Test(arguments: StoreEngine.all)
  func A2_theApplicationSendsAsItsSystemUserAnywhere(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let toGroup = try world.must(.application, .sendMessage(world.outgoing("notice"))).fetched
    #expect(toGroup?.message.sender.uid == .application)
    let toAnn = try world.must(.application, .sendMessage(world.outgoing("hi", to: .user(.ann)))).fetched
    #expect(toAnn?.message.conversation.id == "ann_user_app")
  }

  @Test(arguments: StoreEngine.all)
  func M2_everyKindOfContentComesBackAsItWent(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let attachment = Attachment(
      name: "a.png", fileExtension: "png", size: 9_007_199_254_740_991, mimeType: "image/png", url: "https://x/a")
    let contents: [Content] = [
      .text("κόσμε 👩‍👩‍👧 \u{0}behind a NUL"), .text(""),
      .media(.image, attachments: [attachment, attachment], caption: nil),
      .media(.file, attachments: [attachment], caption: "see <@uid:bob>"),
      .custom(type: "poll", data: JSONText(unchecked: #"{"q":"?"}"#)),
    ]
    let extras = MessageExtras(
      subType: "s", conversationText: "c", updateConversation: false, sendNotification: true,
      metadata: JSONText(unchecked: #"{"k":1}"#), tags: ["one", "", "three\nlines"])
    for content in contents {
      for extras in [MessageExtras(), extras] {
        let outgoing = OutgoingMessage(receiver: .group(.team), content: content, muid: "", extras: extras)
        let sent = try #require(try world.must(.user(.ann), .sendMessage(outgoing)).fetched)
        #expect(sent.message.content == content)
        #expect(sent.message.extras == extras)
        #expect(try world.fetch(sent.message.id, by: .ann) == sent)
      }
    }
  }

  @Test(arguments: StoreEngine.all)
  func M9_onlyParticipantsAreMentioned(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let text = "<@uid:cyd> <@uid:dan> <@uid:nobody> <@uid:BOB> <@uid:cyd> <@all:everyone>"
    let inGroup = try world.send(.ann, text)
    #expect(inGroup.mentions.map(\.uid) == [.cyd, .bob])
    #expect(inGroup.mentionsAll)
    let alone = try world.send(.ann, text, to: .user(.bob))
    #expect(alone.mentions.map(\.uid) == [.bob])
    #expect(!alone.mentionsAll)
    #expect(try world.fetch(inGroup.id, by: .bob).message == inGroup)
    #expect(try world.fetch(alone.id, by: .bob).viewer.mentionedMe)
    #expect(try !world.fetch(alone.id, by: .ann).viewer.mentionedMe)
    // Everybody in the group is meant by `all`.
    #expect(try world.fetch(inGroup.id, by: .ann).viewer.mentionedMe)
  }

  @Test(arguments: StoreEngine.all)
  func M2_nobodySendsActionsOrDeletions(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let contents: [Content] = [
      .action("edited", by: .ann, on: .message(MessageID(1))), .deleted(type: "text", category: .message),
    ]
    for content in contents {
      let message = OutgoingMessage(receiver: .group(.team), content: content)
      #expect(try world.refusal(.user(.ann), .sendMessage(message)).details == [.field("category")])
      #expect(try world.refusal(.application, .sendMessage(message)).details == [.field("category")])
    }
  }

  @Test(arguments: StoreEngine.all)
  func M8_everyReaderSeesACommitAtOnce(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let batch = ["a", "b"].map { Mutation(actor: .user(.ann), change: .sendMessage(world.outgoing($0))) }
    let before = try world.reader.head()
    let commit = try world.writer.commit(batch, at: world.now)
    #expect(commit.previousHead == before)
    // Both readers are at the commit: the one that was there and a new one.
    #expect(try world.reader.head() == commit.head)
    #expect(try world.store.makeReader().head() == commit.head)
  }

  @Test(arguments: StoreEngine.all)
  func anEmptyBatchAndARefusedOneMoveNothing(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let head = try world.reader.head()
    let empty = try world.writer.commit([], at: world.now)
    #expect(empty.outcomes.isEmpty)
    #expect(empty.previousHead == head && empty.head == head)
    let refused = Mutation(actor: .user(.dan), change: .sendMessage(world.outgoing("x")))
    let good = Mutation(actor: .user(.ann), change: .sendMessage(world.outgoing("x")))
    let mixed = try world.writer.commit([refused, good, refused], at: world.now)
    #expect(mixed.outcomes.map { $0.refusal?.code } == [.groupNotJoined, nil, .groupNotJoined])
    #expect(mixed.head.value == head.value + 1)
  }
}
