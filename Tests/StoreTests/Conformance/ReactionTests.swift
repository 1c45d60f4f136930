import Chat
import Store
import Testing

@Suite("M12 · Reactions")
struct ReactionTests {
  private func react(
    _ world: World, _ uid: UserID, _ id: MessageID, _ reaction: String = "👍", _ isAdded: Bool = true
  ) throws -> [Event] {
    try world.must(.user(uid), .react(id, reaction, isAdded: isAdded)).events
  }

  private func counts(_ world: World, _ id: MessageID, by uid: UserID = .ann) throws -> [String] {
    try world.fetch(id, by: uid).message.reactions.map { "\($0.reaction) \($0.count)" }
  }

  private func page(
    _ world: World, _ id: MessageID, _ reaction: String? = nil, after: Seq = .none, limit: Int = 50
  ) throws -> ReactionPage {
    try world.reader.reactions(to: id, reaction: reaction, after: after, limit: limit, actor: .user(.ann)).get()
  }

  @Test(arguments: StoreEngine.all)
  func M12_oneRowForEachPersonAndEmoji(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let id = try world.send(.ann, "x").id
    let first = try react(world, .bob, id)
    #expect(first.count == 1)
    #expect(first[0].seq.value == id.value + 1)
    guard case .reaction(let change) = first[0].body else { throw World.Unexpected(what: "no reaction") }
    #expect(change.isAdded)
    #expect(change.user.uid == .bob)
    #expect(change.at == world.now)
    #expect(change.message == (try world.fetch(id, by: .cyd).message))
    #expect(try react(world, .bob, id).isEmpty)
    #expect(try react(world, .cyd, id).count == 1)
    #expect(try react(world, .bob, id, "🎉").count == 1)
    #expect(try counts(world, id) == ["👍 2", "🎉 1"])
    #expect(try world.fetch(id, by: .bob).viewer.reactedByMe == ["👍", "🎉"])
    #expect(try world.fetch(id, by: .cyd).viewer.reactedByMe == ["👍"])
    #expect(try world.fetch(id, by: .ann).viewer.reactedByMe == [])
    #expect(try react(world, .ann, id, "👍", false).isEmpty)
    #expect(try react(world, .bob, id, "👍", false).count == 1)
    #expect(try react(world, .bob, id, "👍", false).isEmpty)
    #expect(try counts(world, id) == ["👍 1", "🎉 1"])
    #expect(try react(world, .cyd, id, "👍", false).count == 1)
    #expect(try counts(world, id) == ["🎉 1"])
    // Used anew, it comes last.
    #expect(try react(world, .cyd, id).count == 1)
    #expect(try counts(world, id) == ["🎉 1", "👍 1"])
    #expect(try world.fetch(id, by: .ann).message.updatedAt == world.fetch(id, by: .ann).message.sentAt)
  }

  @Test(arguments: StoreEngine.all)
  func M12_M4_whatLooksTheSameIsAnotherReaction(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let id = try world.send(.ann, "x").id
    let (whole, apart) = ("\u{e9}", "e\u{301}")
    #expect(try react(world, .ann, id, whole).count == 1)
    #expect(try react(world, .cyd, id, apart).count == 1)
    // Ann never set this one.
    #expect(try react(world, .ann, id, apart, false).isEmpty)
    #expect(try react(world, .ann, id, apart).count == 1)
    #expect(try react(world, .ann, id, whole, false).count == 1)
    let reactions = try world.fetch(id, by: .cyd).message.reactions
    #expect(reactions.map { Array($0.reaction.utf8) } == [Array(apart.utf8)])
    #expect(reactions.map(\.count) == [2])
    #expect(try page(world, id, whole).rows.isEmpty)
    #expect(try page(world, id, apart).rows.map(\.user.uid) == [.cyd, .ann])
  }

  @Test(arguments: StoreEngine.all)
  func M12_T2_whatTakesNoReactions(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let id = try world.send(.ann, "x").id
    let edit = try world.must(.user(.ann), .editMessage(id, MessageEdit(text: "y")))
    guard case .message(let action) = edit.events[0].body else { throw World.Unexpected(what: "no action") }
    let gone = try world.send(.ann, "gone").id
    #expect(try react(world, .bob, gone).count == 1)
    try world.must(.user(.ann), .deleteMessage(gone))
    #expect(try counts(world, gone) == [])
    #expect(try world.fetch(gone, by: .bob).viewer.reactedByMe == [])
    func codes(_ uid: UserID, _ id: MessageID) throws -> Set<RefusalCode> {
      let listed = try world.reader.reactions(to: id, reaction: nil, after: .none, limit: 1, actor: .user(uid))
      return [
        try world.refusal(.user(uid), .react(id, "x", isAdded: true)).code,
        try world.refusal(.user(uid), .react(id, "x", isAdded: false)).code,
        try #require(listed.refusal).code,
      ]
    }
    #expect(try codes(.bob, action.id) == [.messageActionNotAllowed])
    #expect(try codes(.bob, gone) == [.messageIDNotFound])
    #expect(try codes(.bob, MessageID(999_999)) == [.messageIDNotFound])
    #expect(try codes(.dan, id) == [.messageIDNotFound])
    try world.must(.user(.bob), .leaveGroup(.team))
    #expect(try codes(.bob, id) == [.messageNoAccess])
  }

  @Test(arguments: StoreEngine.all)
  func M12_aMessageTakesAHundredDifferentOnes(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let id = try world.send(.ann, "x").id
    for number in 1...100 { _ = try react(world, .bob, id, ":\(number):") }
    let refused = try world.refusal(.user(.ann), .react(id, ":101:", isAdded: true))
    #expect(refused.code == .tooLarge)
    #expect(refused.details == [.limit(name: "reactionsPerMessage", value: 100)])
    // Joining in one that is there is no new one, and a place that is given up is free.
    #expect(try react(world, .ann, id, ":7:").count == 1)
    #expect(try react(world, .bob, id, ":8:", false).count == 1)
    #expect(try react(world, .ann, id, ":101:").count == 1)
  }

  @Test(arguments: StoreEngine.all)
  func M12_pagesOfWhoReacted(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let id = try world.send(.ann, "x").id
    for (uid, reaction) in [(UserID.bob, "b"), (.cyd, "a"), (.ann, "b"), (.bob, "a")] {
      world.now = UnixSeconds(world.now.value + 1)
      _ = try react(world, uid, id, reaction)
    }
    func text(_ rows: [Reaction]) -> [String] { rows.map { "\($0.user.uid) \($0.reaction)" } }
    let everything = try page(world, id)
    #expect(text(everything.rows) == ["bob b", "cyd a", "ann b", "bob a"])
    #expect(!everything.hasMore)
    #expect(everything.rows.last?.reactedAt == world.now)
    #expect(text(try page(world, id, "b").rows) == ["bob b", "ann b"])
    #expect(try page(world, id, "c").rows.isEmpty)
    var found: [String] = []
    var after = Seq.none
    while true {
      let page = try page(world, id, after: after, limit: 3)
      found += text(page.rows)
      #expect(page.hasMore == (found.count < 4))
      guard page.hasMore, let last = page.rows.last else { break }
      after = last.seq
    }
    #expect(found == text(everything.rows))
  }

  @Test(arguments: StoreEngine.all)
  func R6_R2_whatWasMissedOfReactions(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "root").id
    let reply = try world.send(.ann, "reply", parent: root).id
    let gone = try world.send(.ann, "gone").id
    let start = try world.reader.head()
    let seqs = try [
      react(world, .cyd, root), react(world, .cyd, reply), react(world, .cyd, root, "👍", false),
      react(world, .cyd, gone), world.must(.user(.ann), .deleteMessage(gone)).events,
    ].map { $0.map(\.seq.value) }
    func missed(_ uid: UserID, _ replies: ReplyChoice) throws -> [Event] {
      try #require(
        try world.reader.missed(MissedQuery(uid: uid, after: start, replies: replies, limit: 100, isFirst: false))
      ).events
    }
    #expect(try missed(.bob, .all).map(\.seq.value) == seqs.flatMap(\.self))
    #expect(try missed(.bob, .none).map(\.seq.value) == seqs[0] + seqs[2] + seqs[3] + seqs[4])
    #expect(try missed(.dan, .all).isEmpty)
    guard case .reaction(let change)? = try missed(.bob, .none).first?.body else {
      throw World.Unexpected(what: "no reaction")
    }
    #expect(change.isAdded && change.user.uid == .cyd && change.at == world.now)
    #expect(change.message.reactions == [])
  }
}
