internal import Chat

/// A stored user and the key that other rows point to it with.
final class UserRow {
  let key: Int64
  let user: User
  init(key: Int64, user: User) {
    self.key = key
    self.user = user
  }
}

/// A stored group, its key, and those of its owner and its conversation.
final class GroupRow {
  let key: Int64
  let ownerKey: Int64
  let conversationKey: Int64
  let group: Group
  init(key: Int64, ownerKey: Int64, conversationKey: Int64, group: Group) {
    self.key = key
    self.ownerKey = ownerKey
    self.conversationKey = conversationKey
    self.group = group
  }

  func with(membersCount: Int) -> GroupRow {
    var changed = group
    changed.membersCount = membersCount
    return GroupRow(key: key, ownerKey: ownerKey, conversationKey: conversationKey, group: changed)
  }
}

/// A membership that lasts.
struct MembershipRow {
  let scope: Scope
  let joinedSeq: Int64
  let joinedAt: Int64
}

/// A stored conversation by its ends (D4).
struct ConversationRow {
  enum Ends { case pair(first: Int64, second: Int64), group(Int64) }
  let key: Int64
  let ends: Ends
}

/// Who is who: users, groups, memberships and conversations by name and by key, over one connection.
///
/// Remembers what it looked up. The writer's stays true because every change goes through `WriterSession`, which tells
/// it; a reader forgets when the store has changed.
final class Directory {
  private let statements: DirectoryStatements
  private var usersByID: [UserID: UserRow] = [:]
  private var usersByKey: [Int64: UserRow] = [:]
  private var groupsByID: [GroupID: GroupRow] = [:]
  private var groupsByKey: [Int64: GroupRow] = [:]
  private var memberships: [Pair: MembershipRow?] = [:]
  private var pairs: [Pair: Int64] = [:]
  private var conversations: [Int64: ConversationRow] = [:]

  private struct Pair: Hashable {
    let first: Int64
    let second: Int64
  }

  /// How many rows of a kind are remembered; a full memory starts again empty.
  private static let capacity = 4096

  init(connection: Connection) throws(StoreFailure) {
    statements = try DirectoryStatements(connection: connection)
  }

  /// After a rollback, and before a read.
  func forget() {
    usersByID.removeAll(keepingCapacity: true)
    usersByKey.removeAll(keepingCapacity: true)
    groupsByID.removeAll(keepingCapacity: true)
    groupsByKey.removeAll(keepingCapacity: true)
    memberships.removeAll(keepingCapacity: true)
    pairs.removeAll(keepingCapacity: true)
    conversations.removeAll(keepingCapacity: true)
  }

  // MARK: Users

  /// Deactivated users too.
  func anyUser(_ uid: UserID) throws(StoreFailure) -> UserRow? {
    if let known = usersByID[uid] { return known }
    guard let row = try statements.userByUID.bind(uid.text).first(DirectoryStatements.user) else { return nil }
    return remember(row)
  }

  /// Nil also for a deactivated user (D7).
  func user(_ uid: UserID) throws(StoreFailure) -> UserRow? {
    guard let row = try anyUser(uid), row.user.deactivatedAt == .never else { return nil }
    return row
  }

  func user(key: Int64) throws(StoreFailure) -> UserRow {
    if let known = usersByKey[key] { return known }
    guard let row = try statements.userByKey.bind(key).first(DirectoryStatements.user) else {
      throw .damaged("user \(key) is missing")
    }
    return remember(row)
  }

  private func remember(_ row: UserRow) -> UserRow {
    if usersByID.count >= Self.capacity {
      usersByID.removeAll(keepingCapacity: true)
      usersByKey.removeAll(keepingCapacity: true)
    }
    usersByID[row.user.uid] = row
    usersByKey[row.key] = row
    return row
  }

  // MARK: Groups

  func group(_ guid: GroupID) throws(StoreFailure) -> GroupRow? {
    if let known = groupsByID[guid] { return known }
    guard let found = try statements.groupByGUID.bind(guid.text).first(DirectoryStatements.group) else { return nil }
    return try remember(found)
  }

  func group(key: Int64) throws(StoreFailure) -> GroupRow {
    if let known = groupsByKey[key] { return known }
    guard let found = try statements.groupByKey.bind(key).first(DirectoryStatements.group) else {
      throw .damaged("group \(key) is missing")
    }
    return try remember(found)
  }

  private func remember(_ found: DirectoryStatements.FoundGroup) throws(StoreFailure) -> GroupRow {
    var group = found.group
    group.owner = try user(key: found.ownerKey).user.uid
    return remember(
      GroupRow(key: found.key, ownerKey: found.ownerKey, conversationKey: found.conversationKey, group: group))
  }

  /// Also what the writer tells of a changed group.
  @discardableResult func remember(_ row: GroupRow) -> GroupRow {
    if groupsByID.count >= Self.capacity {
      groupsByID.removeAll(keepingCapacity: true)
      groupsByKey.removeAll(keepingCapacity: true)
    }
    groupsByID[row.group.guid] = row
    groupsByKey[row.key] = row
    return row
  }

  // MARK: Memberships

  /// The membership that lasts now, if there is one.
  func membership(group: Int64, user: Int64) throws(StoreFailure) -> MembershipRow? {
    let pair = Pair(first: group, second: user)
    if let known = memberships[pair] { return known }
    let row = try statements.membership.bind(user).bind(group).first(DirectoryStatements.membership)
    remember(membership: row, group: group, user: user)
    return row
  }

  /// Also what the writer tells of a changed membership.
  func remember(membership row: MembershipRow?, group: Int64, user: Int64) {
    if memberships.count >= Self.capacity { memberships.removeAll(keepingCapacity: true) }
    memberships[Pair(first: group, second: user)] = .some(row)
  }

  /// Whether the user ever was a member, now included.
  func wasEverMember(group: Int64, user: Int64) throws(StoreFailure) -> Bool {
    try statements.anyMembership.bind(group).bind(user).exists()
  }

  /// The keys of the groups that the user is in.
  func groupKeys(ofUser user: Int64) throws(StoreFailure) -> [Int64] {
    try statements.groupsOfUser.bind(user).all { $0.integer(0) }
  }

  // MARK: Conversations

  /// `first` is the user whose uid comes first.
  func conversationKey(first: Int64, second: Int64) throws(StoreFailure) -> Int64? {
    let pair = Pair(first: first, second: second)
    if let known = pairs[pair] { return known }
    guard let key = try statements.conversationOfPair.bind(first).bind(second).first({ $0.integer(0) }) else {
      return nil
    }
    remember(conversation: key, first: first, second: second)
    return key
  }

  /// Also what the writer tells of a new conversation.
  func remember(conversation key: Int64, first: Int64, second: Int64) {
    if pairs.count >= Self.capacity { pairs.removeAll(keepingCapacity: true) }
    pairs[Pair(first: first, second: second)] = key
  }

  func conversation(key: Int64) throws(StoreFailure) -> ConversationRow? {
    if let known = conversations[key] { return known }
    guard let row = try statements.conversation.bind(key).first(DirectoryStatements.conversation) else { return nil }
    if conversations.count >= Self.capacity { conversations.removeAll(keepingCapacity: true) }
    conversations[key] = row
    return row
  }

  /// The keys of the user's one-on-one conversations.
  func oneOnOneKeys(ofUser user: Int64) throws(StoreFailure) -> [Int64] {
    try statements.pairsOfUser.bind(user).all { $0.integer(0) }
  }

  /// What the caller is to a conversation. A missing conversation (nil) costs the same looks as one never seen (T2).
  func access(of caller: Caller, to conversation: ConversationRow?) throws(StoreFailure) -> ConversationAccess {
    switch conversation?.ends {
    case .pair(let first, let second):
      return caller.isApplication || caller.key == first || caller.key == second
        ? .participant(joinedSeq: .none) : try lookAtGroup(0, of: caller)
    case .group(let group):
      return try lookAtGroup(group, of: caller)
    case nil:
      return try lookAtGroup(0, of: caller)
    }
  }

  private func lookAtGroup(_ group: Int64, of caller: Caller) throws(StoreFailure) -> ConversationAccess {
    if let row = try membership(group: group, user: caller.key) {
      return .participant(joinedSeq: Seq(row.joinedSeq))
    }
    if caller.isApplication, group != 0 { return .participant(joinedSeq: .none) }
    return try wasEverMember(group: group, user: caller.key) ? .former : .stranger
  }
}

/// Who asks, found in the store.
struct Caller {
  let row: UserRow
  /// May do everything (A2).
  let isApplication: Bool

  var key: Int64 { row.key }
  var uid: UserID { row.user.uid }
}
