internal import Chat

/// Pages of messages by id, each read along an index from the edge on, never sorted (messages.list).
final class MessagePages {
  /// Where a page is cut from.
  enum Span {
    case conversations([Int64])
    case thread(Int64)
    /// Every message of the store: for the application.
    case everything
  }

  /// Rows ascending by id.
  struct Page {
    var rows: [MessageRow]
    var hasMore: Bool
  }

  private struct Key: Hashable {
    let source: Source
    let direction: MessageQuery.Direction
  }

  /// One index walk; each has a statement for each direction.
  enum Source: Hashable, CaseIterable { case conversation, roots, thread, everything, everyRoot }

  private let whole: [Key: Statement]
  private let ids: [Key: Statement]

  init(connection: Connection) throws(StoreFailure) {
    var whole: [Key: Statement] = [:]
    var ids: [Key: Statement] = [:]
    for source in Source.allCases {
      for direction in MessageQuery.Direction.allCases {
        let key = Key(source: source, direction: direction)
        whole[key] = try connection.prepare(Self.wholeSQL(source, direction))
        if source.isConversation { ids[key] = try connection.prepare(Self.idsSQL(source, direction)) }
      }
    }
    self.whole = whole
    self.ids = ids
  }

  // MARK: SQL

  /// Parameters: the source's key where it has one, the edge (exclusive), the row limit.
  static func wholeSQL(_ source: Source, _ direction: MessageQuery.Direction) -> String {
    """
    SELECT \(MessageRows.columns) FROM messages m \(source.index) LEFT JOIN threads t ON t.root_id = m.id
    WHERE \(source.condition) m.id \(direction == .before ? "<" : ">") ?
    ORDER BY m.id \(direction == .before ? "DESC" : "ASC") LIMIT ?
    """
  }

  /// Parameters: the conversation, the edge (exclusive), the bound behind which nobody looks (exclusive), the limit.
  static func idsSQL(_ source: Source, _ direction: MessageQuery.Direction) -> String {
    """
    SELECT m.id FROM messages m \(source.index)
    WHERE \(source.condition) m.id \(direction == .before ? "< ? AND m.id > ?" : "> ? AND m.id < ?")
    ORDER BY m.id \(direction == .before ? "DESC" : "ASC") LIMIT ?
    """
  }

  // MARK: Pages

  /// The page that `query` asks for. `hideReplies` means nothing in a thread, which is all replies.
  func page(of span: Span, _ query: MessageQuery, rows: MessageRows) throws(StoreFailure) -> Page {
    precondition(query.limit >= 1, "A page has one row at least: limits are checked at the door.")
    let edge = query.edge?.value ?? (query.direction == .before ? Int64.max : 0)
    // One row more than asked for says whether there are more.
    let limit = query.limit + 1
    var found: [MessageRow]
    switch span {
    case .conversations(let keys) where keys.isEmpty:
      found = []
    case .conversations(let keys) where keys.count == 1:
      let statement = self.statement(whole, query.hideReplies ? .roots : .conversation, query.direction)
      found = try read(statement.bind(keys[0]), edge, limit)
    case .conversations(let keys):
      found = []
      for id in try merge(keys, query, edge: edge, limit: limit) { found.append(try rows.row(id)) }
    case .thread(let root):
      found = try read(statement(whole, .thread, query.direction).bind(root), edge, limit)
    case .everything:
      found = try read(statement(whole, query.hideReplies ? .everyRoot : .everything, query.direction), edge, limit)
    }
    let hasMore = found.count > query.limit
    if hasMore { found.removeLast() }
    if query.direction == .before { found.reverse() }
    return Page(rows: found, hasMore: hasMore)
  }

  private func read(_ bound: Statement, _ edge: Int64, _ limit: Int) throws(StoreFailure) -> [MessageRow] {
    try bound.bind(edge).bind(Int64(limit)).all(MessageRows.read)
  }

  /// The `limit` ids nearest to the edge over all conversations, nearest first. Once that many are known, a
  /// conversation is asked only for ids nearer than the farthest of them, so most answer with nothing.
  private func merge(
    _ keys: [Int64], _ query: MessageQuery, edge: Int64, limit: Int
  ) throws(StoreFailure) -> [Int64] {
    let isBefore = query.direction == .before
    let statement = self.statement(ids, query.hideReplies ? .roots : .conversation, query.direction)
    var nearest: [Int64] = []
    for key in keys {
      let bound = nearest.count == limit ? nearest[limit - 1] : isBefore ? 0 : Int64.max
      let nearer = try statement.bind(key).bind(edge).bind(bound).bind(Int64(limit)).all { $0.integer(0) }
      if nearer.isEmpty { continue }
      nearest += nearer
      nearest.sort { isBefore ? $0 > $1 : $0 < $1 }
      if nearest.count > limit { nearest.removeLast(nearest.count - limit) }
    }
    return nearest
  }

  private func statement(
    _ statements: [Key: Statement], _ source: Source, _ direction: MessageQuery.Direction
  ) -> Statement {
    guard let statement = statements[Key(source: source, direction: direction)] else {
      preconditionFailure("Every walk that is used has been prepared.")
    }
    return statement
  }
}

extension MessagePages.Source {
  fileprivate var isConversation: Bool { self == .conversation || self == .roots }

  fileprivate var index: String {
    switch self {
    case .conversation: "INDEXED BY messages_of_conversation"
    case .roots: "INDEXED BY messages_roots"
    case .thread: "INDEXED BY messages_of_thread"
    case .everything, .everyRoot: "NOT INDEXED"
    }
  }

  fileprivate var condition: String {
    switch self {
    case .conversation: "m.conversation_id = ? AND"
    case .roots: "m.conversation_id = ? AND m.root_id = 0 AND"
    case .thread: "m.root_id = ? AND m.root_id > 0 AND"
    case .everything: ""
    case .everyRoot: "m.root_id = 0 AND"
    }
  }
}
