/// Which messages a page is made of (`messages.list`).
package struct MessageQuery: Hashable, Sendable {
  package enum Place: Hashable, Sendable {
    /// The caller's one-on-one conversation with this user.
    case user(UserID)
    case group(GroupID)
    /// The replies of one thread.
    case thread(MessageID)
    /// Every conversation of the caller.
    case everywhere
  }
  package enum Direction: String, Sendable, CaseIterable { case before, after }

  package var place: Place
  /// Exclusive; nil = the newest page (`before`) or the oldest (`after`).
  package var edge: MessageID?
  package var direction: Direction
  /// 1–100.
  package var limit: Int
  package var hideReplies: Bool

  package init(
    place: Place, edge: MessageID? = nil, direction: Direction = .before, limit: Int = 50, hideReplies: Bool = false
  ) {
    self.place = place
    self.edge = edge
    self.direction = direction
    self.limit = limit
    self.hideReplies = hideReplies
  }
}

/// Rows ascending by id, whatever the direction.
package struct MessagePage: Sendable {
  package var rows: [FetchedMessage]
  /// Whether more rows lie beyond in the query's direction.
  package var hasMore: Bool
  /// The edge row to go on from; nil when there are no rows.
  package var nextID: MessageID?
  package init(rows: [FetchedMessage], hasMore: Bool, nextID: MessageID?) {
    self.rows = rows
    self.hasMore = hasMore
    self.nextID = nextID
  }
}
