import Chat
import Store
import Testing

@Suite("D · People and groups")
struct MembershipTests {
  private static let club = GroupID(stored: "club")

  /// The membership changes among events, as text: "9 team +dan added participant by ann, 4 members".
  private func memberships(_ events: [Event]) -> [String] {
    events.compactMap { event in
      guard case .groupMember(let change) = event.body else { return nil }
      let actor = change.actor.map { " by \($0)" } ?? ""
      let what = "\(change.action.rawValue) \(change.scope.rawValue)\(actor)"
      return "\(event.seq.value) \(change.group.guid) \(change.user.uid) \(what), \(change.group.membersCount) members"
    }
  }

  @Test(arguments: StoreEngine.all)
  func D2_aUserComesBackAsMade(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let eve = User(
      uid: UserID(stored: "eve"), name: "Eve", avatar: "a", link: "l", role: "r", statusMessage: "s",
      metadata: JSONText(unchecked: #"{"a":1}"#), tags: ["x", "y"])
    var expected = eve
    expected.createdAt = world.now
    expected.updatedAt = world.now
    let outcome = try world.must(.application, .createUser(eve))
    guard case .user(let made) = try outcome.result.get() else {
      Issue.record("The answer has to be the user.")
      return
    }
    #expect(made == expected)
    #expect(try world.reader.user(eve.uid) == expected)
    let taken = try world.refusal(.application, .createUser(eve))
    #expect(taken.code == .badRequest)
    #expect(taken.details == [.field("uid")])
    #expect(try world.refusal(.user(.ann), .createUser(User(uid: UserID(stored: "new"), name: "N"))).code == .noAccess)
    #expect(try world.reader.user(UserID(stored: "new")) == nil)
  }

  @Test(arguments: StoreEngine.all)
  func D3_aGroupIsMadeWithItsOwnerAsAdmin(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let head = try world.reader.head().value
    let group = Group(
      guid: Self.club, name: "Club", type: .password, icon: "i", description: "d", owner: .dan,
      metadata: JSONText(unchecked: #"{"a":1}"#), tags: ["t"])
    let outcome = try world.must(.user(.dan), .createGroup(group))
    var expected = group
    expected.membersCount = 1
    expected.createdAt = world.now
    expected.updatedAt = world.now
    guard case .group(let made) = try outcome.result.get() else {
      Issue.record("The answer has to be the group.")
      return
    }
    #expect(made == expected)
    #expect(memberships(outcome.events) == ["\(head + 1) club dan joined admin, 1 members"])
    #expect(try world.reader.group(Self.club, actor: .user(.bob)).get() == expected)
    let taken = try world.refusal(.user(.dan), .createGroup(group))
    #expect(taken.code == .badRequest)
    #expect(taken.details == [.field("guid")])
  }

  @Test(arguments: StoreEngine.all)
  func D3_nobodyMakesAGroupForAnotherButTheApplication(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let head = try world.reader.head().value
    let group = Group(guid: Self.club, name: "Club", owner: .dan)
    #expect(try world.refusal(.user(.ann), .createGroup(group)).details == [.field("owner")])
    let nobodys = Group(guid: Self.club, name: "Club", owner: UserID(stored: "nobody"))
    #expect(try world.refusal(.application, .createGroup(nobodys)).code == .uidNotFound)
    let events = try world.must(.application, .createGroup(group)).events
    #expect(memberships(events) == ["\(head + 1) club dan added admin by app, 1 members"])
  }

  @Test(arguments: StoreEngine.all)
  func D5_addingAnswersForEachUid(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let head = try world.reader.head().value
    let nobody = UserID(stored: "nobody")
    let asked = [
      NewMember(uid: .bob, scope: .participant), NewMember(uid: nobody, scope: .participant),
      NewMember(uid: .dan, scope: .moderator), NewMember(uid: .dan, scope: .participant),
    ]
    let outcome = try world.must(.user(.ann), .addMembers(.team, asked))
    guard case .members(let rows) = try outcome.result.get() else {
      Issue.record("The answer has to be a row for each uid.")
      return
    }
    #expect(rows.map(\.uid) == [.bob, nobody, .dan, .dan])
    #expect(rows.map(\.result.refusal?.code) == [.alreadyJoined, .uidNotFound, nil, .alreadyJoined])
    let dan = try #require(try world.reader.user(.dan))
    #expect(try rows[2].result.get() == Member(user: dan, scope: .moderator, joinedAt: world.now))
    #expect(memberships(outcome.events) == ["\(head + 1) team dan added moderator by ann, 4 members"])
    #expect(outcome.events.map(\.audience) == [.groupAndUser(.team, .dan)])
    #expect(try world.reader.group(.team, actor: .user(.ann)).get().membersCount == 4)
  }

  @Test(arguments: StoreEngine.all)
  func D5_rights(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let eve = UserID(stored: "eve")
    try world.must(.application, .createUser(User(uid: eve, name: "Eve")))
    try world.must(.application, .addMembers(.team, [NewMember(uid: eve, scope: .moderator)]))
    let addDan = Mutation.Change.addMembers(.team, [NewMember(uid: .dan, scope: .participant)])
    #expect(try world.refusal(.user(.bob), addDan).code == .groupNoClearance)
    #expect(try world.refusal(.user(eve), addDan).code == .groupNoClearance)
    #expect(try world.refusal(.user(.dan), addDan).code == .groupNotJoined)
    #expect(try world.refusal(.user(.bob), .kickMember(.team, .cyd)).code == .groupNoClearance)
    #expect(try world.refusal(.user(eve), .kickMember(.team, .ann)).code == .groupNoClearance)
    #expect(try world.refusal(.user(.dan), .kickMember(.team, .cyd)).code == .groupNotJoined)
    #expect(try world.refusal(.user(.ann), .kickMember(.team, .dan)).code == .groupNotJoined)
    #expect(try world.refusal(.user(.ann), .kickMember(.team, UserID(stored: "nobody"))).code == .uidNotFound)
    #expect(try world.refusal(.application, .kickMember(.team, .ann)).code == .groupNoClearance)
    #expect(try world.refusal(.user(.ann), .leaveGroup(.team)).code == .groupNoClearance)
    #expect(try world.refusal(.user(.dan), .leaveGroup(.team)).code == .groupNotJoined)
    #expect(try world.refusal(.application, .leaveGroup(.team)).code == .groupNotJoined)
    #expect(try world.refusal(.user(.ann), .leaveGroup(Self.club)).code == .guidNotFound)
    let head = try world.reader.head().value
    let kicked = try world.must(.user(eve), .kickMember(.team, .cyd)).events
    #expect(memberships(kicked) == ["\(head + 1) team cyd kicked participant by eve, 3 members"])
    let left = try world.must(.user(.bob), .leaveGroup(.team)).events
    #expect(memberships(left) == ["\(head + 2) team bob left participant, 2 members"])
    #expect(try world.refusal(.user(.bob), .leaveGroup(.team)).code == .groupNotJoined)
  }

  @Test(arguments: StoreEngine.all)
  func D5_aRequestAddsAHundredAtMost(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let many = (1...101).map { NewMember(uid: UserID(stored: "u\($0)"), scope: .participant) }
    #expect(try world.refusal(.user(.ann), .addMembers(.team, many)).details == [.field("uids")])
    let hundred = try world.must(.user(.ann), .addMembers(.team, Array(many.prefix(100))))
    #expect(hundred.events.isEmpty)
  }

  @Test(arguments: StoreEngine.all)
  func D3_aPrivateGroupIsNotFoundByStrangers(_ engine: StoreEngine) throws {
    let world = try World(engine)
    try world.must(.user(.ann), .createGroup(Group(guid: Self.club, name: "Club", type: .private, owner: .ann)))
    try world.must(.user(.ann), .addMembers(Self.club, [NewMember(uid: .bob, scope: .participant)]))
    let toClub = Mutation.Change.sendMessage(world.outgoing("x", to: .group(Self.club)))
    #expect(try world.reader.group(Self.club, actor: .user(.dan)).refusal?.code == .guidNotFound)
    #expect(try world.refusal(.user(.dan), toClub).code == .guidNotFound)
    let list = MessageQuery(place: .group(Self.club))
    #expect(try world.reader.messages(list, actor: .user(.dan)).refusal?.code == .guidNotFound)
    let members = try world.reader.members(of: Self.club, after: nil, limit: 9, actor: .user(.dan))
    #expect(members.refusal?.code == .guidNotFound)
    #expect(try world.reader.group(Self.club, actor: .user(.bob)).get().membersCount == 2)
    #expect(try world.reader.group(Self.club, actor: .application).get().membersCount == 2)
    // Who was in it knows of it.
    try world.must(.user(.bob), .leaveGroup(Self.club))
    #expect(try world.refusal(.user(.bob), toClub).code == .groupNotJoined)
    #expect(try world.reader.group(Self.club, actor: .user(.bob)).refusal?.code == .guidNotFound)
  }

  @Test(arguments: StoreEngine.all)
  func membersArePagedByUid(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let names = ["a_1", "zed", "b-2", "0"]
    for name in names {
      try world.must(.application, .createUser(User(uid: UserID(stored: name), name: name)))
      try world.must(
        .application, .addMembers(.team, [NewMember(uid: UserID(stored: name), scope: .participant)]))
    }
    func page(after: String?, _ limit: Int) throws -> (uids: [String], hasMore: Bool) {
      let after = after.map { UserID(stored: $0) }
      let page = try world.reader.members(of: .team, after: after, limit: limit, actor: .user(.bob)).get()
      return (page.rows.map(\.user.uid.text), page.hasMore)
    }
    #expect(try page(after: nil, 3) == (["0", "a_1", "ann"], true))
    #expect(try page(after: "ann", 3) == (["b-2", "bob", "cyd"], true))
    #expect(try page(after: "cyd", 3) == (["zed"], false))
    #expect(try page(after: nil, 7) == (["0", "a_1", "ann", "b-2", "bob", "cyd", "zed"], false))
    #expect(try page(after: "b", 1) == (["b-2"], true))
    let first = try world.reader.members(of: .team, after: UserID(stored: "a_1"), limit: 1, actor: .user(.bob)).get()
    #expect(first.rows.map(\.scope) == [.admin])
    let outside = try world.reader.members(of: .team, after: nil, limit: 1, actor: .user(.dan))
    #expect(outside.refusal?.code == .groupNotJoined)
  }

  @Test(arguments: StoreEngine.all)
  func aSessionKnowsItsGroupsAndItsMoment(_ engine: StoreEngine) throws {
    let world = try World(engine)
    try world.must(.user(.bob), .createGroup(Group(guid: Self.club, name: "Club", owner: .bob)))
    let session = try #require(try world.reader.session(.bob, openThreads: [], withFollowed: false))
    #expect(session.user.uid == .bob)
    #expect(session.groups == [Self.club, .team])
    #expect(session.head == (try world.reader.head()))
    #expect(try world.reader.session(.dan, openThreads: [], withFollowed: false)?.groups == [])
    #expect(try world.reader.session(UserID(stored: "nobody"), openThreads: [], withFollowed: false) == nil)
    try world.must(.user(.bob), .leaveGroup(.team))
    #expect(try world.reader.session(.bob, openThreads: [], withFollowed: false)?.groups == [Self.club])
  }
}
