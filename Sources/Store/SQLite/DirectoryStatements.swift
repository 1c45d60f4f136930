internal import Chat

/// The directory's queries and how their rows read.
struct DirectoryStatements {
  let userByUID: Statement
  let userByKey: Statement
  let groupByGUID: Statement
  let groupByKey: Statement
  let membership: Statement
  let anyMembership: Statement
  let groupsOfUser: Statement
  let conversationOfPair: Statement
  let conversation: Statement
  let pairsOfUser: Statement

  init(connection: Connection) throws(StoreFailure) {
    userByUID = try connection.prepare("SELECT \(Self.userColumns) FROM users WHERE uid = ?")
    userByKey = try connection.prepare("SELECT \(Self.userColumns) FROM users WHERE id = ?")
    groupByGUID = try connection.prepare("SELECT \(Self.groupColumns) FROM groups WHERE guid = ?")
    groupByKey = try connection.prepare("SELECT \(Self.groupColumns) FROM groups WHERE id = ?")
    membership = try connection.prepare(
      """
      SELECT scope, joined_seq, joined_at FROM memberships INDEXED BY memberships_of_user
      WHERE user_id = ? AND group_id = ? AND left_seq IS NULL
      """)
    anyMembership = try connection.prepare("SELECT 1 FROM memberships WHERE group_id = ? AND user_id = ? LIMIT 1")
    groupsOfUser = try connection.prepare("SELECT group_id FROM memberships WHERE user_id = ? AND left_seq IS NULL")
    conversationOfPair = try connection.prepare(
      "SELECT id FROM conversations WHERE first_id = ? AND second_id = ?")
    conversation = try connection.prepare("SELECT id, first_id, second_id, group_id FROM conversations WHERE id = ?")
    pairsOfUser = try connection.prepare(
      """
      SELECT id FROM conversations WHERE first_id = ?1
      UNION ALL SELECT id FROM conversations WHERE second_id = ?1 AND first_id <> ?1
      """)
  }

  static let userColumns = """
    users.id, users.uid, users.name, users.avatar, users.link, users.role, users.status_message, users.metadata, \
    users.tags, users.created_at, users.updated_at, users.last_active_at, users.deactivated_at
    """

  static func user(_ row: Row) throws(StoreFailure) -> UserRow {
    try user(row, from: 0)
  }

  /// The user whose `userColumns` begin at `column`.
  static func user(_ row: Row, from column: Int32) throws(StoreFailure) -> UserRow {
    guard let tags = UnpackedFields.texts(row.blob(column + 8)) else { throw .damaged("a user's tags do not read") }
    return UserRow(
      key: row.integer(column),
      user: User(
        uid: UserID(stored: row.text(column + 1)), name: row.text(column + 2), avatar: row.text(column + 3),
        link: row.text(column + 4), role: row.text(column + 5), statusMessage: row.text(column + 6),
        metadata: JSONText(unchecked: row.text(column + 7)), tags: tags,
        createdAt: UnixSeconds(row.integer(column + 9)), updatedAt: UnixSeconds(row.integer(column + 10)),
        lastActiveAt: UnixSeconds(row.integer(column + 11)), deactivatedAt: UnixSeconds(row.integer(column + 12))))
  }

  static let groupColumns = """
    id, conversation_id, owner_id, guid, name, type, icon, description, metadata, tags, members_count, created_at, \
    updated_at
    """

  /// A group whose `owner` is not yet named.
  struct FoundGroup {
    let key: Int64
    let conversationKey: Int64
    let ownerKey: Int64
    let group: Group
  }

  static func group(_ row: Row) throws(StoreFailure) -> FoundGroup {
    guard let type = GroupType(rawValue: row.text(5)), let tags = UnpackedFields.texts(row.blob(9)) else {
      throw .damaged("group \(row.integer(0)) does not read")
    }
    return FoundGroup(
      key: row.integer(0), conversationKey: row.integer(1), ownerKey: row.integer(2),
      group: Group(
        guid: GroupID(stored: row.text(3)), name: row.text(4), type: type, icon: row.text(6),
        description: row.text(7), owner: UserID(stored: ""), metadata: JSONText(unchecked: row.text(8)), tags: tags,
        membersCount: Int(row.integer(10)), createdAt: UnixSeconds(row.integer(11)),
        updatedAt: UnixSeconds(row.integer(12))))
  }

  static func membership(_ row: Row) throws(StoreFailure) -> MembershipRow {
    MembershipRow(scope: try scope(row, 0), joinedSeq: row.integer(1), joinedAt: row.integer(2))
  }

  static func scope(_ row: Row, _ column: Int32) throws(StoreFailure) -> Scope {
    guard let scope = Scope(rawValue: row.text(column)) else { throw .damaged("a member's scope does not read") }
    return scope
  }

  static func conversation(_ row: Row) throws(StoreFailure) -> ConversationRow {
    if let group = row.optionalInteger(3) { return ConversationRow(key: row.integer(0), ends: .group(group)) }
    guard let first = row.optionalInteger(1), let second = row.optionalInteger(2) else {
      throw .damaged("conversation \(row.integer(0)) has no ends")
    }
    return ConversationRow(key: row.integer(0), ends: .pair(first: first, second: second))
  }
}
