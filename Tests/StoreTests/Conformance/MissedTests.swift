import Chat
import Store
import Testing

@Suite("R6 · What a session missed")
struct MissedTests {
  private func missed(
    _ world: World, _ uid: UserID, after: Seq, replies: ReplyChoice = .all, open: Set<MessageID> = [], limit: Int = 100,
    isFirst: Bool = true
  ) throws -> MissedPage {
    try #require(
      try world.reader.missed(
        MissedQuery(
          uid: uid, after: after, replies: replies, openThreads: open, limit: limit, isFirst: isFirst)))
  }

  private func seqs(_ page: MissedPage) -> [Int64] { page.events.map(\.seq.value) }

  @Test(arguments: StoreEngine.all)
  func R6_pagesFollowOneAnotherWithoutGapOrRepetition(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let start = try world.reader.head()
    var expected: [Int64] = []
    for number in 0..<40 {
      switch number % 4 {
      case 0: expected.append(try world.send(.ann, "team").id.value)
      case 1: expected.append(try world.send(.ann, "bob", to: .user(.bob)).id.value)
      case 2: try world.send(.ann, "cyd", to: .user(.cyd))
      default: expected.append(try world.send(.bob, "own", to: .user(.dan)).id.value)
      }
    }
    for limit in [1, 3, 7, 100] {
      var found: [Int64] = []
      var after = start
      while true {
        let page = try missed(world, .bob, after: after, limit: limit)
        found += seqs(page)
        #expect(page.events.count <= limit)
        #expect(page.hasMore == (page.through < (try world.reader.head())))
        if !page.hasMore { break }
        #expect(page.through == page.events.last?.seq)
        after = page.through
      }
      #expect(found == expected)
    }
  }

  @Test(arguments: StoreEngine.all)
  func R6_aMessageComesAsItIsAndWithItsPeople(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let start = try world.reader.head()
    let sent = try world.send(.ann, "hi <@uid:bob>", muid: "m1")
    let page = try missed(world, .bob, after: start)
    guard case .message(let message) = page.events.first?.body else { throw World.Unexpected(what: "no message") }
    #expect(message == sent)
  }

  @Test(arguments: StoreEngine.all)
  func R6_membershipDecidesAndItsEndIsTold(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let start = try world.reader.head()
    try world.send(.ann, "while a member")
    let kick = try world.must(.user(.ann), .kickMember(.team, .bob)).events[0]
    try world.send(.ann, "without bob")
    #expect(seqs(try missed(world, .bob, after: start)) == [kick.seq.value])
    let back = try world.must(
      .user(.ann), .addMembers(.team, [NewMember(uid: .bob, scope: .moderator)])
    ).events[0]
    let after = try world.send(.ann, "back")
    let page = try missed(world, .bob, after: start)
    #expect(seqs(page) == [kick.seq.value, back.seq.value, after.id.value])
    guard case .groupMember(let change) = page.events[1].body else { throw World.Unexpected(what: "no change") }
    #expect(change.action == .added)
    #expect(change.scope == .moderator)
    #expect(change.actor == .ann)
    #expect(change.user.uid == .bob)
    #expect(change.group.guid == .team)
    // Others see the group's changes as members.
    #expect(seqs(try missed(world, .cyd, after: start)).contains(kick.seq.value))
    #expect(try missed(world, .dan, after: start).events.isEmpty)
  }

  @Test(arguments: StoreEngine.all)
  func R6_theVerdictKnowsPositionWindowAndCount(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let start = try world.reader.head()
    for _ in 0..<10 { try world.send(.ann, "x") }
    let head = try world.reader.head()
    func verdict(_ after: Seq, events: Int = 10, seconds: Int64 = 3_600, later: Int64 = 0) throws -> ResumeVerdict {
      try world.reader.resumption(
        of: .bob, after: after, window: ResumeWindow(seconds: seconds, events: events),
        now: UnixSeconds(world.now.value + later))
    }
    #expect(try verdict(head) == .possible)
    #expect(try verdict(start) == .possible)
    #expect(try verdict(start, events: 9) == .tooMany)
    #expect(try verdict(Seq(head.value + 1)) == .badPosition)
    #expect(try verdict(start, later: 3_600) == .possible)
    #expect(try verdict(start, later: 3_601) == .windowExpired)
    #expect(try verdict(head, later: 1_000_000) == .possible)
    // What others missed does not count.
    #expect(
      try world.reader.resumption(of: .dan, after: start, window: ResumeWindow(events: 1), now: world.now) == .possible)
  }

  @Test(arguments: StoreEngine.all)
  func R6_repliesAreChosenAsOfNow(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let first = try world.send(.ann, "first").id
    let second = try world.send(.ann, "second").id
    _ = try world.subscribe(.bob, second)
    let start = try world.reader.head()
    world.now = UnixSeconds(world.now.value + 10)
    let plain = try world.send(.ann, "plain", parent: first).id.value
    let followed = try world.send(.cyd, "followed", parent: second).id.value
    let own = try world.send(.bob, "own", parent: first).id.value
    let mention = try world.send(.ann, "<@uid:bob>", parent: first).id.value
    func messages(_ choice: ReplyChoice, open: Set<MessageID> = []) throws -> [Int64] {
      try missed(world, .bob, after: start, replies: choice, open: open).events.compactMap {
        if case .message = $0.body { $0.seq.value } else { nil }
      }
    }
    #expect(try messages(.all) == [plain, followed, own, mention])
    // By now Bob follows the first thread, too: he replied there.
    #expect(try messages(.subscribed) == [plain, followed, own, mention])
    #expect(try messages(.none) == [own, mention])
    #expect(try messages(.open, open: [second]) == [followed, own, mention])
    let page = try missed(world, .bob, after: start, replies: .none)
    #expect(page.unsent == [first, second])
    #expect(page.hints.map(\.root) == [first, second])
    #expect(page.hints.map(\.replyCount) == [3, 1])
    #expect(page.hints.map(\.lastReply?.value) == [mention, followed])
    #expect(page.hints.map(\.lastReplyAt) == [world.now, world.now])
  }

  @Test(arguments: StoreEngine.all)
  func R3_hintsReachBackTwoSeconds(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let old = try world.send(.ann, "old").id
    let recent = try world.send(.ann, "recent").id
    try world.send(.ann, "1", parent: old)
    world.now = UnixSeconds(world.now.value + 3)
    try world.send(.ann, "2", parent: recent)
    world.now = UnixSeconds(world.now.value + 2)
    try world.send(.ann, "position")
    let head = try world.reader.head()
    #expect(try missed(world, .bob, after: head, replies: .none).hints.map(\.root) == [recent])
    #expect(try missed(world, .bob, after: head, replies: .none, isFirst: false).hints.isEmpty)
    #expect(try missed(world, .bob, after: head, replies: .all).hints.isEmpty)
    #expect(try missed(world, .dan, after: head, replies: .none).hints.isEmpty)
  }

  @Test(arguments: StoreEngine.all)
  func R2_aSessionLoadsTheThreadsItWants(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let roots = try (0..<3).map { try world.send(.ann, "\($0)").id }
    let direct = try world.send(.ann, "direct", to: .user(.bob)).id
    let foreign = try world.send(.ann, "foreign", to: .user(.cyd)).id
    let reply = try world.send(.ann, "reply", parent: roots[0]).id
    _ = try world.subscribe(.bob, roots[0])
    _ = try world.subscribe(.bob, direct)
    _ = try world.subscribe(.bob, roots[1])
    _ = try world.subscribe(.bob, roots[1], false)
    let session = try #require(
      try world.reader.session(
        .bob, openThreads: [roots[2], foreign, reply, MessageID(99_999)], withFollowed: true))
    #expect(session.opened == [ThreadPlace(root: roots[2], conversation: .group(.team))])
    #expect(
      Set(session.followed) == [
        ThreadPlace(root: roots[0], conversation: .group(.team)),
        ThreadPlace(root: direct, conversation: .oneOnOne(.ann, .bob)),
      ])
    #expect(session.head == (try world.reader.head()))
    #expect(try world.reader.session(.bob, openThreads: [], withFollowed: false)?.followed == [])
    try world.must(.user(.ann), .kickMember(.team, .bob))
    let after = try #require(try world.reader.session(.bob, openThreads: [roots[2]], withFollowed: true))
    #expect(after.opened == [])
    #expect(after.followed.map(\.root) == [direct])
  }

  @Test(arguments: StoreEngine.all)
  func R3_aReplysEventTellsWhereItsThreadStands(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let root = try world.send(.ann, "root")
    #expect(try world.sendFully(.ann, "another root").events[0].thread == nil)
    let first = try world.sendFully(.bob, "1", parent: root.id)
    #expect(
      first.events[0].thread
        == ThreadProgress(
          root: root.id, replyCount: 1, lastReply: first.fetched.message.id, lastReplyAt: world.now,
          asOf: first.events[0].seq, followingAuthor: .ann))
    _ = try world.subscribe(.ann, root.id, false)
    let second = try world.sendFully(.bob, "2", parent: root.id).events[0].thread
    #expect(second?.replyCount == 2)
    #expect(second?.followingAuthor == nil)
    #expect(try world.sendFully(.ann, "3", parent: root.id).events[0].thread?.followingAuthor == .ann)
    try world.must(.user(.ann), .kickMember(.team, .cyd))
  }
}
