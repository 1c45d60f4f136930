internal import Chat

/// Makes fetched messages out of rows: the message and what it is to the person who fetches it (T11, M14).
final class ViewerStates {
  let rows: MessageRows
  let standings: ThreadStandings
  private let directory: Directory
  private let rootFacts: Statement

  init(connection: Connection, directory: Directory) throws(StoreFailure) {
    self.directory = directory
    rows = try MessageRows(connection: connection, directory: directory)
    standings = try ThreadStandings(connection: connection)
    rootFacts = try connection.prepare(
      """
      SELECT m.sender_id, m.deleted_at, t.reply_count FROM messages m LEFT JOIN threads t ON t.root_id = m.id
      WHERE m.id = ?
      """)
  }

  /// One viewer's state of one thread.
  private struct ThreadState {
    let isSubscribed: Bool
    let unreadReplies: Int
  }

  /// What the viewer sees of each row, in the same order; a thread is looked up once however many rows it has.
  func fetched(_ found: [MessageRow], by viewer: Caller) throws(StoreFailure) -> [FetchedMessage] {
    var threads: [Int64: ThreadState] = [:]
    var fetched: [FetchedMessage] = []
    fetched.reserveCapacity(found.count)
    for row in found {
      let thread: ThreadState
      if let known = threads[row.threadKey] {
        thread = known
      } else {
        thread = try state(ofThreadOf: row, viewer: viewer)
        threads[row.threadKey] = thread
      }
      var state = ViewerState(
        threadSubscribed: thread.isSubscribed, mentionedMe: try rows.mentions(row, user: viewer.key),
        unreadRepliesCount: thread.unreadReplies)
      if row.reactionCount > 0 { state.reactedByMe = try rows.reactions(to: row.id, of: viewer.key) }
      fetched.append(FetchedMessage(message: try rows.whole(row), viewer: state))
    }
    return fetched
  }

  func fetched(_ row: MessageRow, by viewer: Caller) throws(StoreFailure) -> FetchedMessage {
    let one = try fetched([row], by: viewer)
    return one[0]
  }

  private func state(ofThreadOf row: MessageRow, viewer: Caller) throws(StoreFailure) -> ThreadState {
    let root: (author: Int64, isDeleted: Bool, replies: Int64)
    if row.rootKey == 0 {
      root = (row.senderKey, row.isDeleted, row.replyCount)
    } else {
      let found = try rootFacts.bind(row.rootKey).first { ($0.integer(0), $0.integer(1) != 0, $0.integer(2)) }
      guard let found else { throw .damaged("root \(row.rootKey) is missing") }
      root = found
    }
    guard let joinedSeq = try joinedSeq(of: viewer, conversation: row.conversationKey) else {
      return ThreadState(isSubscribed: false, unreadReplies: 0)
    }
    let standing = try standings.standing(
      ofUser: viewer.key, root: row.threadKey, rootAuthor: root.author, joinedSeq: joinedSeq)
    guard standing.isSubscribed, !root.isDeleted, root.replies > 0 else {
      return ThreadState(isSubscribed: standing.isSubscribed, unreadReplies: 0)
    }
    return ThreadState(
      isSubscribed: true,
      unreadReplies: try standings.unreadReplies(
        ofUser: viewer.key, root: row.threadKey, conversation: row.conversationKey, joinedSeq: joinedSeq))
  }

  /// Whether the viewer follows the thread that the row belongs to.
  func isSubscribed(toThreadOf row: MessageRow, _ viewer: Caller) throws(StoreFailure) -> Bool {
    try state(ofThreadOf: row, viewer: viewer).isSubscribed
  }

  /// Where a thread stands; nil when it has had no reply.
  func progress(
    of root: MessageID, author: Int64, conversation key: Int64, asOf position: Seq
  ) throws(StoreFailure) -> ThreadProgress? {
    var progress = try standings.progress(of: root, asOf: position)
    progress?.followingAuthor = try followingAuthor(ofThread: root.value, author: author, conversation: key)
    return progress
  }

  /// The root's author, when still in the conversation and following the thread (T5).
  func followingAuthor(
    ofThread root: Int64, author: Int64, conversation key: Int64
  ) throws(StoreFailure) -> UserID? {
    let person = Caller(row: try directory.user(key: author), isApplication: false)
    guard let joinedSeq = try joinedSeq(of: person, conversation: key) else { return nil }
    let standing = try standings.standing(ofUser: author, root: root, rootAuthor: author, joinedSeq: joinedSeq)
    return standing.isSubscribed ? person.uid : nil
  }

  /// When the viewer's present membership began; `.none` outside groups and for the application. Nil for a former
  /// member, who is still answered when repeating a send (M7) but follows nothing any more (T9).
  private func joinedSeq(of viewer: Caller, conversation key: Int64) throws(StoreFailure) -> Seq? {
    guard case .group(let group) = try directory.conversation(key: key)?.ends else { return Seq.none }
    if let membership = try directory.membership(group: group, user: viewer.key) { return Seq(membership.joinedSeq) }
    return viewer.isApplication ? Seq.none : nil
  }
}
