internal import Chat

/// What a user's session missed, in order, out of the messages and the log (R6).
///
/// Cost of a page: one step into an index for each of the user's conversations, then the page's own rows.
final class MissedEvents {
  private let directory: Directory
  private let viewers: ViewerStates
  private let messagesAfter: Statement
  private let messageCount: Statement
  private let changesOfConversation: Statement
  private let changesOfUser: Statement
  private let logRow: Statement
  private let firstAfter: Statement
  private let lastUpTo: Statement
  private let lastBefore: Statement
  private let repliesBetween: Statement
  private let followed: Statement
  /// Messages read since the store last changed: many sessions that come back together missed the same.
  private var messages: [Int64: (row: MessageRow, event: Event)] = [:]

  /// Messages remembered; a full memory starts again empty.
  private static let capacity = 1_024

  init(connection: Connection, directory: Directory, viewers: ViewerStates) throws(StoreFailure) {
    self.directory = directory
    self.viewers = viewers
    messagesAfter = try connection.prepare(Self.messagesAfterSQL)
    messageCount = try connection.prepare(Self.messageCountSQL)
    changesOfConversation = try connection.prepare(Self.changesOfConversationSQL)
    changesOfUser = try connection.prepare(Self.changesOfUserSQL)
    logRow = try connection.prepare(
      "SELECT kind, conversation_id, user_id, message_id, payload, at FROM log WHERE seq = ?")
    firstAfter = try connection.prepare("SELECT at FROM log WHERE seq > ? ORDER BY seq LIMIT 1")
    lastUpTo = try connection.prepare("SELECT at FROM log WHERE seq <= ? ORDER BY seq DESC LIMIT 1")
    lastBefore = try connection.prepare(
      "SELECT seq FROM log WHERE seq <= ? AND at < ? ORDER BY seq DESC LIMIT 1")
    repliesBetween = try connection.prepare(Self.repliesBetweenSQL)
    followed = try connection.prepare(
      "SELECT root_id, conversation_id, seq FROM thread_subscriptions WHERE user_id = ? AND is_subscribed = 1")
  }

  /// The store has changed.
  func forget() { messages.removeAll(keepingCapacity: true) }

  // MARK: SQL

  /// Parameters: the conversation, the edge and the bound (both exclusive), the limit.
  static let messagesAfterSQL = """
    SELECT id FROM messages INDEXED BY messages_of_conversation
    WHERE conversation_id = ? AND id > ? AND id < ? ORDER BY id LIMIT ?
    """

  /// Parameters: the conversation, the edge (exclusive), how far to count.
  static let messageCountSQL = """
    SELECT count(*) FROM (SELECT 1 FROM messages INDEXED BY messages_of_conversation
      WHERE conversation_id = ? AND id > ? LIMIT ?)
    """

  /// Parameters: the conversation, the edge and the bound (both exclusive), the limit.
  static let changesOfConversationSQL = """
    SELECT seq FROM log INDEXED BY log_of_conversation
    WHERE conversation_id = ? AND kind IN (3, 5, 6, 7, 8) AND seq > ? AND seq < ? ORDER BY seq LIMIT ?
    """

  /// Parameters: the user, the edge (exclusive), the limit.
  static let changesOfUserSQL = """
    SELECT seq, kind, conversation_id, payload FROM log INDEXED BY log_of_user
    WHERE user_id = ? AND kind IN (2, 3) AND seq > ? ORDER BY seq LIMIT ?
    """

  /// Parameters: the conversation, the edge (exclusive), the bound (inclusive).
  static let repliesBetweenSQL = """
    SELECT id FROM messages INDEXED BY messages_of_conversation
    WHERE conversation_id = ? AND id > ? AND id <= ? AND root_id > 0
    """

  // MARK: Sources

  /// A conversation that the user is in, and since when.
  private struct Source {
    let conversation: Int64
    let joinedSeq: Int64
  }

  private func sources(of user: Int64) throws(StoreFailure) -> [Source] {
    var sources: [Source] = []
    for key in try directory.oneOnOneKeys(ofUser: user) {
      sources.append(Source(conversation: key, joinedSeq: 0))
    }
    for key in try directory.groupKeys(ofUser: user) {
      guard let membership = try directory.membership(group: key, user: user) else { continue }
      sources.append(
        Source(
          conversation: try directory.group(key: key).conversationKey, joinedSeq: membership.joinedSeq))
    }
    return sources
  }

  /// Changes that concern the user alone, and the ends of memberships, which the group's own log no longer tells.
  private func ownChanges(
    _ user: Int64, after: Seq, _ sources: [Source], limit: Int
  ) throws(StoreFailure) -> [Int64] {
    let joined = Dictionary(sources.map { ($0.conversation, $0.joinedSeq) }, uniquingKeysWith: { first, _ in first })
    let rows = try changesOfUser.bind(user).bind(after.value).bind(Int64(limit)).all { row in
      (seq: row.integer(0), kind: row.integer(1), conversation: row.integer(2), payload: row.blob(3))
    }
    return rows.filter { row in
      if let since = joined[row.conversation], row.seq >= since { return true }
      guard row.kind == LogKind.groupMember.rawValue, let action = Self.action(row.payload) else { return false }
      return action.isMemberAfter == false
    }.map(\.seq)
  }

  private static func action(_ payload: [UInt8]) -> MembershipAction? {
    var fields = UnpackedFields(payload)
    return fields.text().flatMap(MembershipAction.init(rawValue:))
  }

  // MARK: The verdict

  func verdict(
    of user: UserRow, after: Seq, window: ResumeWindow, now: UnixSeconds
  ) throws(StoreFailure) -> ResumeVerdict {
    guard let began = try firstAfter.bind(after.value).first({ $0.integer(0) }) else { return .possible }
    if began < now.value - window.seconds { return .windowExpired }
    let sources = try sources(of: user.key)
    var count = try ownChanges(user.key, after: after, sources, limit: window.events + 1).count
    for source in sources where count <= window.events {
      let edge = max(after.value, source.joinedSeq - 1)
      count += Int(
        try messageCount.bind(source.conversation).bind(edge).bind(Int64(window.events + 1 - count))
          .first { $0.integer(0) } ?? 0)
      count += try changesOfConversation.bind(source.conversation).bind(edge).bind(Int64.max)
        .bind(Int64(max(window.events + 1 - count, 0))).all { $0.integer(0) }.count
    }
    return count > window.events ? .tooMany : .possible
  }

  // MARK: Pages

  func page(_ query: MissedQuery, of caller: Caller, head: Seq) throws(StoreFailure) -> MissedPage {
    let sources = try sources(of: caller.key)
    let seqs = try nearest(query, caller, sources)
    var page = MissedPage(
      events: [], through: seqs.count > query.limit ? Seq(seqs[query.limit - 1]) : head,
      hasMore: seqs.count > query.limit, unsent: query.unsent)
    for seq in seqs.prefix(query.limit) {
      if let event = try event(seq, query, caller, &page.unsent) { page.events.append(event) }
    }
    if query.isFirst, query.replies != .all { try lookBack(query, caller, sources, &page.unsent) }
    if !page.hasMore {
      for root in page.unsent.sorted(by: { $0.value < $1.value }) {
        if let state = try viewers.standings.progress(of: root, asOf: head) { page.hints.append(state) }
      }
    }
    return page
  }

  /// The first `limit + 1` seqs after the query's position, ascending. Once that many are known, a conversation is
  /// asked only for those before the last of them.
  private func nearest(
    _ query: MissedQuery, _ caller: Caller, _ sources: [Source]
  ) throws(StoreFailure) -> [Int64] {
    let limit = query.limit + 1
    var found = try ownChanges(caller.key, after: query.after, sources, limit: ResumeWindow().events + 1)
    func merge(_ more: [Int64]) {
      guard !more.isEmpty else { return }
      found = Set(found).union(more).sorted()
      if found.count > limit { found.removeLast(found.count - limit) }
    }
    merge(found)
    for source in sources {
      let edge = max(query.after.value, source.joinedSeq - 1)
      func bound() -> Int64 { found.count == limit ? found[limit - 1] : .max }
      merge(
        try messagesAfter.bind(source.conversation).bind(edge).bind(bound()).bind(Int64(limit)).all { $0.integer(0) })
      merge(
        try changesOfConversation.bind(source.conversation).bind(edge).bind(bound()).bind(Int64(limit))
          .all { $0.integer(0) })
    }
    return found
  }

  /// The event at `seq`; nil for a reply that the session's choice leaves out.
  private func event(
    _ seq: Int64, _ query: MissedQuery, _ caller: Caller, _ unsent: inout Set<MessageID>
  ) throws(StoreFailure) -> Event? {
    if let known = messages[seq] {
      if try isWanted(known.row, query, caller) { return known.event }
      unsent.insert(MessageID(known.row.rootKey))
      return nil
    }
    let row = try logRow.bind(seq).first { row in
      (
        kind: row.integer(0), conversation: row.integer(1), user: row.integer(2), message: row.integer(3),
        payload: row.blob(4), at: row.integer(5)
      )
    }
    guard let row, let kind = LogKind(rawValue: row.kind) else { throw .damaged("log row \(seq) does not read") }
    switch kind {
    case .message:
      let stored = try viewers.rows.row(row.message)
      guard try isWanted(stored, query, caller) else {
        unsent.insert(MessageID(stored.rootKey))
        return nil
      }
      let event = Event(seq: Seq(seq), body: .message(try viewers.rows.whole(stored)))
      if messages.count >= Self.capacity { forget() }
      messages[seq] = (stored, event)
      return event
    case .messageEdited, .messageDeleted:
      let stored = try viewers.rows.row(row.message)
      var isConcerned = try isWanted(stored, query, caller)
      if !isConcerned { isConcerned = try Self.formerlyMentioned(caller, row.payload) }
      guard isConcerned else { return nil }
      return Event(
        seq: Seq(seq),
        body: .messageChanged(
          MessageChange(
            kind: kind == .messageEdited ? .edited : .deleted, message: try viewers.rows.whole(stored))))
    case .reactionAdded, .reactionRemoved:
      let stored = try viewers.rows.row(row.message)
      guard try isWanted(stored, query, caller) else { return nil }
      return Event(
        seq: Seq(seq),
        body: .reaction(
          ReactionChange(
            isAdded: kind == .reactionAdded, reaction: String(decoding: row.payload, as: UTF8.self),
            user: try directory.user(key: row.user).user, at: UnixSeconds(row.at),
            message: try viewers.rows.whole(stored))))
    case .threadSubscription:
      var fields = UnpackedFields(row.payload)
      guard let isSubscribed = fields.integer(), let cause = fields.text().flatMap(SubscriptionCause.init(rawValue:))
      else { throw .damaged("log row \(seq) does not read") }
      let root = try viewers.rows.whole(viewers.rows.row(row.message))
      return Event(
        seq: Seq(seq),
        body: .threadSubscription(
          SubscriptionChange(
            user: caller.uid, root: root.id, conversation: root.conversation, isSubscribed: isSubscribed == 1,
            cause: cause)))
    case .groupMember:
      return Event(seq: Seq(seq), body: .groupMember(try membershipChange(row.conversation, row.user, row.payload)))
    case .tokensRevoked:
      return nil
    }
  }

  private func membershipChange(
    _ conversation: Int64, _ user: Int64, _ payload: [UInt8]
  ) throws(StoreFailure) -> MembershipChange {
    var fields = UnpackedFields(payload)
    guard let action = fields.text().flatMap(MembershipAction.init(rawValue:)),
      let scope = fields.text().flatMap(Scope.init(rawValue:)), let actor = fields.text(),
      case .group(let group) = try directory.conversation(key: conversation)?.ends
    else { throw .damaged("a change of membership does not read") }
    return MembershipChange(
      group: try directory.group(key: group).group, user: try directory.user(key: user).user, action: action,
      scope: scope, actor: actor.isEmpty ? nil : UserID(stored: actor))
  }

  /// Whether what an edit or a deletion took away was a mention of the user.
  private static func formerlyMentioned(_ caller: Caller, _ payload: [UInt8]) throws(StoreFailure) -> Bool {
    var fields = UnpackedFields(payload)
    guard let all = fields.integer(), let count = fields.integer(), count >= 0 else {
      throw .damaged("a change of a message does not read")
    }
    if all == 1 { return true }
    for _ in 0..<count where fields.integer() == caller.key { return true }
    return false
  }

  /// R2 for a replay: the user's own messages are always part of it (R6).
  private func isWanted(_ row: MessageRow, _ query: MissedQuery, _ caller: Caller) throws(StoreFailure) -> Bool {
    guard row.rootKey != 0, query.replies != .all, row.senderKey != caller.key else { return true }
    if query.openThreads.contains(MessageID(row.rootKey)) { return true }
    if try viewers.rows.mentions(row, user: caller.key) { return true }
    guard query.replies == .subscribed else { return false }
    return try viewers.isSubscribed(toThreadOf: row, caller)
  }

  /// R3: replies that were left out up to two seconds before the position.
  private func lookBack(
    _ query: MissedQuery, _ caller: Caller, _ sources: [Source], _ unsent: inout Set<MessageID>
  ) throws(StoreFailure) {
    guard let at = try lastUpTo.bind(query.after.value).first({ $0.integer(0) }) else { return }
    let from = try lastBefore.bind(query.after.value).bind(at - 2).first { $0.integer(0) } ?? 0
    for source in sources {
      let edge = max(from, source.joinedSeq - 1)
      let ids = try repliesBetween.bind(source.conversation).bind(edge).bind(query.after.value).all { $0.integer(0) }
      for id in ids {
        let row = try viewers.rows.row(id)
        if try !isWanted(row, query, caller) { unsent.insert(MessageID(row.rootKey)) }
      }
    }
  }

  // MARK: Followed threads

  /// The threads that the user follows by a stored word which counts (T9).
  func followedThreads(of caller: Caller) throws(StoreFailure) -> [ThreadPlace] {
    let rows = try followed.bind(caller.key).all { row in
      (root: row.integer(0), conversation: row.integer(1), seq: row.integer(2))
    }
    var places: [ThreadPlace] = []
    var conversations: [Int64: (place: Conversation, joinedSeq: Int64)?] = [:]
    for row in rows {
      if conversations[row.conversation] == nil {
        conversations[row.conversation] = .some(try conversation(row.conversation, of: caller))
      }
      guard case .some(.some(let found)) = conversations[row.conversation], row.seq >= found.joinedSeq else { continue }
      places.append(ThreadPlace(root: MessageID(row.root), conversation: found.place))
    }
    return places
  }

  private func conversation(
    _ key: Int64, of caller: Caller
  ) throws(StoreFailure) -> (place: Conversation, joinedSeq: Int64)? {
    switch try directory.conversation(key: key)?.ends {
    case .pair(let first, let second):
      return (.oneOnOne(try directory.user(key: first).user.uid, try directory.user(key: second).user.uid), 0)
    case .group(let group):
      guard let membership = try directory.membership(group: group, user: caller.key) else { return nil }
      return (.group(try directory.group(key: group).group.guid), membership.joinedSeq)
    case nil:
      throw .damaged("conversation \(key) is missing")
    }
  }
}
