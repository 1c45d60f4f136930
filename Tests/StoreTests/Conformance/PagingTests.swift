import Chat
import Store
import Testing

@Suite("messages.list · Pages are exact")
struct PagingTests {
  /// Follows `nextID` from page to page; answers the pages' ids.
  private func walk(
    _ world: World, _ place: MessageQuery.Place, _ direction: MessageQuery.Direction, limit: Int,
    hideReplies: Bool = false, by uid: UserID = .ann
  ) throws -> [[Int64]] {
    var pages: [[Int64]] = []
    var query = MessageQuery(place: place, direction: direction, limit: limit, hideReplies: hideReplies)
    while true {
      let page = try world.reader.messages(query, actor: .user(uid)).get()
      pages.append(page.rows.map(\.message.id.value))
      guard page.hasMore, pages.count < 100 else { return pages }
      query.edge = page.nextID
    }
  }

  @Test(arguments: StoreEngine.all)
  func pagesGoBackFromTheNewestAndForwardFromTheOldest(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let base = try world.reader.head().value
    for number in 1...7 { try world.send(.ann, "\(number)") }
    func relative(_ pages: [[Int64]]) -> [[Int64]] { pages.map { $0.map { $0 - base } } }
    let team = MessageQuery.Place.group(.team)
    #expect(relative(try walk(world, team, .before, limit: 3)) == [[5, 6, 7], [2, 3, 4], [1]])
    #expect(relative(try walk(world, team, .after, limit: 3)) == [[1, 2, 3], [4, 5, 6], [7]])
    // A page that ends exactly at the end says so.
    #expect(relative(try walk(world, team, .before, limit: 7)) == [[1, 2, 3, 4, 5, 6, 7]])
    #expect(relative(try walk(world, team, .after, limit: 1)) == [[1], [2], [3], [4], [5], [6], [7]])
  }

  @Test(arguments: StoreEngine.all)
  func theEdgeIsExclusiveAndNeedNotExist(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let a = try world.send(.ann, "a").id
    let elsewhere = try world.send(.ann, "elsewhere", to: .user(.dan)).id
    let b = try world.send(.ann, "b").id
    func page(_ edge: MessageID, _ direction: MessageQuery.Direction) throws -> [Int64] {
      try world.ids(MessageQuery(place: .group(.team), edge: edge, direction: direction), by: .bob)
    }
    #expect(try page(b, .before) == [a.value])
    #expect(try page(elsewhere, .before) == [a.value])
    #expect(try page(elsewhere, .after) == [b.value])
    #expect(try page(a, .before) == [])
    #expect(try page(b, .after) == [])
    #expect(try page(Seq.maximum.asMessageID, .before) == [a.value, b.value])
  }

  @Test(arguments: StoreEngine.all)
  func anEmptyPageHasNoNextID(_ engine: StoreEngine) throws {
    let world = try World(engine)
    for place in [MessageQuery.Place.group(.team), .user(.bob), .everywhere] {
      for direction in MessageQuery.Direction.allCases {
        let page = try world.reader.messages(
          MessageQuery(place: place, direction: direction), actor: .user(.ann)
        ).get()
        #expect(page.rows.isEmpty)
        #expect(!page.hasMore)
        #expect(page.nextID == nil)
      }
    }
  }

  @Test(arguments: StoreEngine.all)
  func hideRepliesLeavesRoots(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let base = try world.reader.head().value
    let first = try world.send(.ann, "1").id
    for number in 2...4 { try world.send(.ann, "\(number)", parent: first) }
    let fifth = try world.send(.ann, "5").id
    try world.send(.ann, "6", parent: fifth)
    try world.send(.ann, "7")
    func relative(_ pages: [[Int64]]) -> [[Int64]] { pages.map { $0.map { $0 - base } } }
    for place in [MessageQuery.Place.group(.team), .everywhere] {
      #expect(relative(try walk(world, place, .before, limit: 2, hideReplies: true)) == [[5, 7], [1]])
      #expect(relative(try walk(world, place, .after, limit: 2, hideReplies: true)) == [[1, 5], [7]])
      #expect(relative(try walk(world, place, .after, limit: 7)) == [[1, 2, 3, 4, 5, 6, 7]])
    }
  }

  @Test(arguments: StoreEngine.all)
  func aThreadListsItsReplies(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let base = try world.reader.head().value
    let root = try world.send(.ann, "1").id
    let other = try world.send(.ann, "2").id
    try world.send(.ann, "3", parent: root)
    try world.send(.ann, "4", parent: other)
    try world.send(.ann, "5", parent: root)
    try world.send(.ann, "6", parent: root)
    func relative(_ pages: [[Int64]]) -> [[Int64]] { pages.map { $0.map { $0 - base } } }
    #expect(relative(try walk(world, .thread(root), .before, limit: 2)) == [[5, 6], [3]])
    #expect(relative(try walk(world, .thread(root), .after, limit: 2)) == [[3, 5], [6]])
    // There is nothing but replies in a thread, so there is nothing to hide.
    #expect(relative(try walk(world, .thread(root), .after, limit: 9, hideReplies: true)) == [[3, 5, 6]])
    let reply = MessageID(base + 3)
    let toReply = Refusal(.invalidParentMessageID, details: [.rootMessageID(root)])
    #expect(try world.reader.messages(MessageQuery(place: .thread(reply)), actor: .user(.ann)).refusal == toReply)
  }

  @Test(arguments: StoreEngine.all)
  func everywhereIsEveryConversationOfTheCallerAndNoOther(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let base = try world.reader.head().value
    try world.send(.ann, "1")
    try world.send(.ann, "2", to: .user(.bob))
    try world.send(.cyd, "3", to: .user(.ann))
    try world.send(.bob, "4", to: .user(.cyd))
    try world.send(.ann, "5", to: .user(.ann))
    try world.send(.dan, "6", to: .user(.bob))
    try world.send(.bob, "7")
    try world.must(.application, .sendMessage(world.outgoing("8", to: .user(.dan))))
    func relative(_ pages: [[Int64]]) -> [[Int64]] { pages.map { $0.map { $0 - base } } }
    #expect(relative(try walk(world, .everywhere, .before, limit: 9)) == [[1, 2, 3, 5, 7]])
    #expect(relative(try walk(world, .everywhere, .before, limit: 2)) == [[5, 7], [2, 3], [1]])
    #expect(relative(try walk(world, .everywhere, .after, limit: 2)) == [[1, 2], [3, 5], [7]])
    #expect(relative(try walk(world, .everywhere, .before, limit: 9, by: .bob)) == [[1, 2, 4, 6, 7]])
    #expect(relative(try walk(world, .everywhere, .before, limit: 9, by: .dan)) == [[6, 8]])
    let all = try world.reader.messages(MessageQuery(place: .everywhere), actor: .application).get()
    #expect(all.rows.map { $0.message.id.value - base } == [1, 2, 3, 4, 5, 6, 7, 8])
    try world.must(.user(.bob), .leaveGroup(.team))
    #expect(relative(try walk(world, .everywhere, .before, limit: 9, by: .bob)) == [[2, 4, 6]])
  }

  @Test(arguments: StoreEngine.all)
  func D8_membersReadWhatWasWrittenBeforeTheyJoined(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let early = try world.send(.ann, "early").id
    #expect(try world.reader.message(early, actor: .user(.dan)).refusal == Refusal(.messageIDNotFound))
    try world.must(.user(.ann), .addMembers(.team, [NewMember(uid: .dan, scope: .participant)]))
    #expect(try world.ids(MessageQuery(place: .group(.team)), by: .dan) == [early.value])
    #expect(try world.fetch(early, by: .dan).message.content == .text("early"))
  }

  @Test(arguments: StoreEngine.all)
  func refusals(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "root").id
    func refused(_ place: MessageQuery.Place, by uid: UserID) throws -> RefusalCode? {
      try world.reader.messages(MessageQuery(place: place), actor: .user(uid)).refusal?.code
    }
    let nobody = UserID(stored: "nobody")
    #expect(try refused(.user(nobody), by: .ann) == .uidNotFound)
    #expect(try refused(.group(GroupID(stored: "nowhere")), by: .ann) == .guidNotFound)
    #expect(try refused(.group(.team), by: .dan) == .groupNotJoined)
    #expect(try refused(.thread(root), by: .dan) == .messageIDNotFound)
    #expect(try refused(.thread(MessageID(9_999)), by: .ann) == .messageIDNotFound)
    #expect(try refused(.everywhere, by: nobody) == .notLoggedIn)
    try world.must(.user(.bob), .leaveGroup(.team))
    #expect(try refused(.group(.team), by: .bob) == .groupNotJoined)
    #expect(try refused(.thread(root), by: .bob) == .messageNoAccess)
  }
}
