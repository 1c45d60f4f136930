internal import Chat

/// Reads of the embedded store, each inside one read transaction: one committed moment, whatever the writer does.
final class SQLiteReader: StoreReader {
  private let connection: Connection
  private let directory: Directory
  private let viewers: ViewerStates
  private let pages: MessagePages
  private let begin: Statement
  private let end: Statement
  private let headSeq: Statement
  private let token: Statement
  private let key: Statement
  private let membersPage: Statement
  private let reactionsPage: Statement
  private let reactionsPageOfOne: Statement
  private let missed: MissedEvents
  private let version: Statement
  /// The version that what is remembered belongs to.
  private var known: Int64?

  init(path: String) throws(StoreFailure) {
    connection = try Connection(path: path, role: .reader)
    directory = try Directory(connection: connection)
    viewers = try ViewerStates(connection: connection, directory: directory)
    pages = try MessagePages(connection: connection)
    begin = try connection.prepare("BEGIN")
    end = try connection.prepare("ROLLBACK")
    headSeq = try connection.prepare("SELECT seq FROM log ORDER BY seq DESC LIMIT 1")
    token = try connection.prepare("SELECT user_id, expires_at, revoked_at FROM tokens WHERE hash = ?")
    key = try connection.prepare("SELECT scope FROM admin_keys WHERE hash = ?")
    membersPage = try connection.prepare(Self.membersPageSQL)
    reactionsPage = try connection.prepare(Self.reactionsPageSQL(ofOne: false))
    reactionsPageOfOne = try connection.prepare(Self.reactionsPageSQL(ofOne: true))
    version = try connection.prepare("PRAGMA data_version")
    missed = try MissedEvents(connection: connection, directory: directory, viewers: viewers)
  }

  static let membersPageSQL = """
    SELECT \(DirectoryStatements.userColumns), m.scope, m.joined_at
    FROM memberships m INDEXED BY memberships_page JOIN users ON users.id = m.user_id
    WHERE m.group_id = ? AND m.left_seq IS NULL AND m.uid > ? AND users.deactivated_at = 0
    ORDER BY m.uid LIMIT ?
    """

  /// Parameters: the message, the reaction where it is of one, the position (exclusive), the limit.
  static func reactionsPageSQL(ofOne: Bool) -> String {
    """
    SELECT reaction, user_id, at, seq FROM reactions INDEXED BY \(ofOne ? "reactions_page_of_one" : "reactions_page")
    WHERE message_id = ? \(ofOne ? "AND reaction = ?" : "") AND seq > ? ORDER BY seq LIMIT ?
    """
  }

  // MARK: People

  func head() throws(StoreFailure) -> Seq {
    try moment { () throws(StoreFailure) in try storedHead() }
  }

  func tokenHolder(hash: [UInt8], now: UnixSeconds) throws(StoreFailure) -> TokenHolder? {
    try moment { () throws(StoreFailure) in
      let found = try token.bind(hash).first { (user: $0.integer(0), end: $0.integer(1), revoked: $0.integer(2)) }
      guard let found else { return nil }
      let user = try directory.user(key: found.user).user
      guard user.deactivatedAt == .never else { return nil }
      let standing: TokenHolder.Standing =
        found.revoked != 0 ? .revoked : found.end != 0 && found.end <= now.value ? .expired : .valid
      return TokenHolder(user: user, standing: standing, expiresAt: UnixSeconds(found.end))
    }
  }

  func keyScope(hash: [UInt8]) throws(StoreFailure) -> KeyScope? {
    try moment { () throws(StoreFailure) in
      guard let scope = try key.bind(hash).first({ $0.text(0) }) else { return nil }
      guard let known = KeyScope(rawValue: scope) else { throw .damaged("a key's scope does not read") }
      return known
    }
  }

  func user(_ uid: UserID) throws(StoreFailure) -> User? {
    try moment { () throws(StoreFailure) in try directory.user(uid)?.user }
  }

  // MARK: Sessions

  func session(
    _ uid: UserID, openThreads: [MessageID], withFollowed: Bool
  ) throws(StoreFailure) -> SessionSnapshot? {
    try moment { () throws(StoreFailure) in
      guard let row = try directory.user(uid) else { return nil }
      let caller = Caller(row: row, isApplication: false)
      var groups: [GroupID] = []
      for key in try directory.groupKeys(ofUser: row.key) { groups.append(try directory.group(key: key).group.guid) }
      var snapshot = SessionSnapshot(user: row.user, groups: groups.sorted(), head: try storedHead())
      for root in openThreads {
        if case .success(let place) = try thread(root, caller) { snapshot.opened.append(place) }
      }
      if withFollowed { snapshot.followed = try missed.followedThreads(of: caller) }
      return snapshot
    }
  }

  func resumption(
    of uid: UserID, after: Seq, window: ResumeWindow, now: UnixSeconds
  ) throws(StoreFailure) -> ResumeVerdict {
    try moment { () throws(StoreFailure) in
      if after > (try storedHead()) { return .badPosition }
      guard let row = try directory.user(uid) else { return .possible }
      return try missed.verdict(of: row, after: after, window: window, now: now)
    }
  }

  func missed(_ query: MissedQuery) throws(StoreFailure) -> MissedPage? {
    precondition(query.limit >= 1, "A page has one event at least.")
    return try moment { () throws(StoreFailure) in
      guard let row = try directory.user(query.uid) else { return nil }
      return try missed.page(query, of: Caller(row: row, isApplication: false), head: try storedHead())
    }
  }

  func thread(_ root: MessageID, actor: Actor) throws(StoreFailure) -> Result<ThreadPlace, Refusal> {
    try asked(by: actor) { caller throws(StoreFailure) in try thread(root, caller) }
  }

  private func thread(_ root: MessageID, _ caller: Caller) throws(StoreFailure) -> Result<ThreadPlace, Refusal> {
    let facts = try viewers.rows.facts(of: root, caller: caller)
    if let refusal = ThreadRules.refusalOfListingReplies(of: facts?.judged) { return .failure(refusal) }
    let message = try viewers.rows.whole(viewers.rows.row(root.value))
    return .success(ThreadPlace(root: root, conversation: message.conversation))
  }

  // MARK: Groups

  func group(_ guid: GroupID, actor: Actor) throws(StoreFailure) -> Result<Group, Refusal> {
    try asked(by: actor) { caller throws(StoreFailure) in
      guard let row = try directory.group(guid) else { return .failure(Refusal(.guidNotFound)) }
      let isMember = try directory.membership(group: row.key, user: caller.key) != nil
      guard row.group.type != .private || isMember || caller.isApplication else {
        return .failure(Refusal(.guidNotFound))
      }
      return .success(row.group)
    }
  }

  func members(
    of guid: GroupID, after: UserID?, limit: Int, actor: Actor
  ) throws(StoreFailure) -> Result<(rows: [Member], hasMore: Bool), Refusal> {
    precondition(limit >= 1, "A page has one row at least: limits are checked at the door.")
    return try asked(by: actor) { caller throws(StoreFailure) in
      let group: GroupRow
      switch try directory.joined(guid, by: caller) {
      case .failure(let refusal): return .failure(refusal)
      case .success(let joined): group = joined.group
      }
      let found = try membersPage.bind(group.key).bind(after?.text ?? "").bind(Int64(limit) + 1)
        .all { row throws(StoreFailure) in
          Member(
            user: try DirectoryStatements.user(row).user, scope: try DirectoryStatements.scope(row, 13),
            joinedAt: UnixSeconds(row.integer(14)))
        }
      return .success((rows: Array(found.prefix(limit)), hasMore: found.count > limit))
    }
  }

  // MARK: Messages

  func message(_ id: MessageID, actor: Actor) throws(StoreFailure) -> Result<FetchedMessage, Refusal> {
    try asked(by: actor) { caller throws(StoreFailure) in
      let facts = try viewers.rows.facts(of: id, caller: caller)
      if let refusal = ThreadRules.refusalOfReading(facts?.judged) { return .failure(refusal) }
      return .success(try viewers.fetched(try viewers.rows.row(id.value), by: caller))
    }
  }

  func reactions(
    to id: MessageID, reaction: String?, after: Seq, limit: Int, actor: Actor
  ) throws(StoreFailure) -> Result<ReactionPage, Refusal> {
    precondition(limit >= 1, "A page has one row at least: limits are checked at the door.")
    return try asked(by: actor) { caller throws(StoreFailure) in
      let facts = try viewers.rows.facts(of: id, caller: caller)
      if let refusal = ReactionRules.refusal(ofReactingTo: facts?.judged) { return .failure(refusal) }
      let bound =
        reaction.map { reactionsPageOfOne.bind(id.value).bind($0) } ?? reactionsPage.bind(id.value)
      let found = try bound.bind(after.value).bind(Int64(limit) + 1).all { row throws(StoreFailure) in
        Reaction(
          reaction: row.text(0), user: try directory.user(key: row.integer(1)).user,
          reactedAt: UnixSeconds(row.integer(2)), seq: Seq(row.integer(3)))
      }
      return .success(ReactionPage(rows: Array(found.prefix(limit)), hasMore: found.count > limit))
    }
  }

  func messages(_ query: MessageQuery, actor: Actor) throws(StoreFailure) -> Result<MessagePage, Refusal> {
    try asked(by: actor) { caller throws(StoreFailure) in
      let span: MessagePages.Span
      switch try locate(query, caller: caller) {
      case .failure(let refusal): return .failure(refusal)
      case .success(let found): span = found
      }
      let page = try pages.page(of: span, query, rows: viewers.rows)
      let fetched = try viewers.fetched(page.rows, by: caller)
      let edge = query.direction == .before ? fetched.first : fetched.last
      return .success(MessagePage(rows: fetched, hasMore: page.hasMore, nextID: edge?.message.id))
    }
  }

  private func locate(
    _ query: MessageQuery, caller: Caller
  ) throws(StoreFailure) -> Result<MessagePages.Span, Refusal> {
    switch query.place {
    case .user(let uid):
      guard let other = try directory.user(uid) else { return .failure(Refusal(.uidNotFound)) }
      let key =
        caller.uid < uid
        ? try directory.conversationKey(first: caller.key, second: other.key)
        : try directory.conversationKey(first: other.key, second: caller.key)
      return .success(key.map { .conversations([$0]) } ?? .conversations([]))
    case .group(let guid):
      return try directory.joined(guid, by: caller).map { .conversations([$0.group.conversationKey]) }
    case .thread(let root):
      let facts = try viewers.rows.facts(of: root, caller: caller)
      if let refusal = ThreadRules.refusalOfListingReplies(of: facts?.judged) { return .failure(refusal) }
      return .success(.thread(root.value))
    case .everywhere:
      if caller.isApplication { return .success(.everything) }
      var keys = try directory.oneOnOneKeys(ofUser: caller.key)
      for group in try directory.groupKeys(ofUser: caller.key) {
        keys.append(try directory.group(key: group).conversationKey)
      }
      return .success(.conversations(keys))
    }
  }

  // MARK: Moments

  private func storedHead() throws(StoreFailure) -> Seq {
    Seq(try headSeq.first { $0.integer(0) } ?? 0)
  }

  private func asked<Value>(
    by actor: Actor, _ body: (Caller) throws(StoreFailure) -> Result<Value, Refusal>
  ) throws(StoreFailure) -> Result<Value, Refusal> {
    try moment { () throws(StoreFailure) in
      guard let row = try directory.user(actor.uid) else { return .failure(Refusal(.notLoggedIn)) }
      return try body(Caller(row: row, isApplication: actor == .application))
    }
  }

  /// What was looked up stays true until another connection commits; the version says whether one has.
  private func forgetWhatChanged() throws(StoreFailure) {
    let now = try version.first { $0.integer(0) }
    guard now != known || known == nil else { return }
    directory.forget()
    missed.forget()
    known = now
  }

  /// Runs `body` in a read transaction of its own, so that all its looks see the same commit.
  private func moment<Value>(_ body: () throws(StoreFailure) -> Value) throws(StoreFailure) -> Value {
    try begin.run()
    let value: Value
    do throws(StoreFailure) {
      try forgetWhatChanged()
      value = try body()
    } catch {
      // The read has failed already; a second failure would say nothing new, and the next `BEGIN` would tell.
      if connection.isInTransaction { try end.run() }
      throw error
    }
    try end.run()
    return value
  }
}
