import Chat
import Store
import Testing

@Suite("T1–T3, M10 · Replies and quotes")
struct ReplyTests {
  @Test(arguments: StoreEngine.all)
  func T3_aReplyIsCounted(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "root")
    let other = try world.send(.ann, "other root")
    #expect(try world.fetch(root.id, by: .ann).message.replyCount == 0)
    let reply = try world.send(.bob, "1", parent: root.id)
    try world.send(.cyd, "2", parent: root.id)
    #expect(reply.parent == root.id)
    #expect(try world.fetch(root.id, by: .ann).message.replyCount == 2)
    #expect(try world.fetch(other.id, by: .ann).message.replyCount == 0)
    #expect(try world.fetch(reply.id, by: .ann).message.replyCount == 0)
  }

  @Test(arguments: StoreEngine.all)
  func T3_aRefusedReplyIsNotCounted(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "root")
    let reply = world.outgoing("x", parent: root.id, quoted: MessageID(9_999))
    #expect(try world.refusal(.user(.bob), .sendMessage(reply)).code == .messageIDNotFound)
    #expect(try world.fetch(root.id, by: .ann).message.replyCount == 0)
    #expect(try !world.isSubscribed(.bob, root.id))
  }

  @Test(arguments: StoreEngine.all)
  func T2_refusals(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let inTeam = try world.send(.ann, "root")
    let replyInTeam = try world.send(.bob, "reply", parent: inTeam.id)
    let inPair = try world.send(.ann, "root", to: .user(.bob))
    let replyInPair = try world.send(.ann, "reply", to: .user(.bob), parent: inPair.id)
    func refused(_ uid: UserID, _ parent: MessageID, to receiver: Receiver = .group(.team)) throws -> Refusal {
      try world.refusal(.user(uid), .sendMessage(world.outgoing("x", to: receiver, parent: parent)))
    }
    #expect(try refused(.ann, MessageID(9_999)) == Refusal(.messageNotFound))
    #expect(try refused(.ann, Seq.maximum.asMessageID) == Refusal(.messageNotFound))
    // Seen, but elsewhere.
    #expect(try refused(.ann, inPair.id) == Refusal(.wrongMessageThread))
    #expect(
      try refused(.ann, replyInPair.id) == Refusal(.wrongMessageThread, details: [.rootMessageID(inPair.id)]))
    // Elsewhere and unseen: as if missing.
    #expect(try refused(.cyd, inPair.id) == Refusal(.messageNotFound))
    #expect(try refused(.cyd, replyInPair.id) == Refusal(.messageNotFound))
    #expect(try refused(.dan, inTeam.id, to: .user(.ann)) == Refusal(.messageNotFound))
    // C106: a reply to a reply.
    #expect(
      try refused(.ann, replyInTeam.id) == Refusal(.wrongMessageThread, details: [.rootMessageID(inTeam.id)]))
  }

  @Test(arguments: StoreEngine.all)
  func T2_theReceiverIsJudgedBeforeTheParent(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "root")
    let reply = world.outgoing("x", parent: root.id)
    #expect(try world.refusal(.user(.dan), .sendMessage(reply)).code == .groupNotJoined)
  }

  /// Ann is not in H: whatever she tries with a message of H ends as for a missing one.
  @Test(arguments: StoreEngine.all)
  func C105_nothingCrossesTheBorderOfAConversation(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let guid = GroupID(stored: "h")
    try world.must(.user(.dan), .createGroup(Group(guid: guid, name: "H", owner: .dan)))
    let hidden = try world.send(.dan, "secret", to: .group(guid))
    let reply = try world.send(.dan, "secret reply", to: .group(guid), parent: hidden.id)
    let missing = MessageID(9_999)
    for target in [hidden.id, reply.id] {
      func refusals(_ id: MessageID) throws -> [Refusal] {
        [
          try world.refusal(.user(.ann), .sendMessage(world.outgoing("x", parent: id))),
          try world.refusal(.user(.ann), .sendMessage(world.outgoing("x", quoted: id))),
          try world.refusal(.user(.ann), .setThreadSubscription(root: id, isSubscribed: true)),
          try world.refusal(.user(.ann), .setThreadSubscription(root: id, isSubscribed: false)),
          try #require(try world.reader.message(id, actor: .user(.ann)).refusal),
          try #require(try world.reader.messages(MessageQuery(place: .thread(id)), actor: .user(.ann)).refusal),
        ]
      }
      let answers = try refusals(target)
      #expect(answers == (try refusals(missing)))
      #expect(
        answers.map(\.code) == [
          .messageNotFound, .messageIDNotFound, .messageIDNotFound, .messageIDNotFound, .messageIDNotFound,
          .messageIDNotFound,
        ])
    }
  }

  @Test(arguments: StoreEngine.all)
  func M10_aQuoteCarriesACopy(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let long = String(repeating: "y", count: 250)
    let quoted = try world.send(.bob, long)
    let quote = try world.send(.ann, "look", quoted: quoted.id)
    let copy = QuotedMessage(id: quoted.id, sender: .bob, type: "text", text: String(repeating: "y", count: 200))
    #expect(quote.quoted == copy)
    #expect(quote.parent == nil)
    #expect(try world.fetch(quote.id, by: .cyd).message.quoted == copy)
    #expect(try world.fetch(quoted.id, by: .cyd).message.replyCount == 0)
  }

  @Test(arguments: StoreEngine.all)
  func M10_aQuoteStaysInItsConversation(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let pair = try world.send(.ann, "pair", to: .user(.bob))
    let refused = Refusal(.messageIDNotFound, details: [.field("quotedMessageId")])
    #expect(try world.refusal(.user(.ann), .sendMessage(world.outgoing("x", quoted: pair.id))) == refused)
    let toNewPair = world.outgoing("x", to: .user(.cyd), quoted: pair.id)
    #expect(try world.refusal(.user(.ann), .sendMessage(toNewPair)) == refused)
    #expect(try world.refusal(.user(.ann), .sendMessage(world.outgoing("x", quoted: MessageID(9_999)))) == refused)
  }

  @Test(arguments: StoreEngine.all)
  func M10_aReplyMayAlsoQuote(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "root")
    let first = try world.send(.bob, "first", parent: root.id)
    let second = try world.send(.cyd, "second", parent: root.id, quoted: first.id)
    #expect(second.quoted == QuotedMessage(id: first.id, sender: .bob, type: "text", text: "first"))
    #expect(try world.fetch(second.id, by: .ann).message == second)
  }

  @Test(arguments: StoreEngine.all)
  func D4_aFirstMessageToAStrangerCannotReply(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "root")
    let reply = world.outgoing("x", to: .user(.dan), parent: root.id)
    #expect(try world.refusal(.user(.ann), .sendMessage(reply)) == Refusal(.wrongMessageThread))
    // The refusal has made no conversation either.
    #expect(try world.ids(MessageQuery(place: .everywhere), by: .dan) == [])
  }
}

extension Seq {
  var asMessageID: MessageID { MessageID(value) }
}

extension Result {
  var refusal: Failure? {
    if case .failure(let refusal) = self { refusal } else { nil }
  }
}
