internal import Chat

/// Reads what somebody is to a thread and how much of it is unread, over one connection.
final class ThreadStandings {
  private let subscription: Statement
  private let threadMarker: Statement
  private let unreadReplies: Statement
  private let progress: Statement

  init(connection: Connection) throws(StoreFailure) {
    subscription = try connection.prepare(
      "SELECT is_subscribed, cause, seq FROM thread_subscriptions WHERE root_id = ? AND user_id = ?")
    threadMarker = try connection.prepare(
      "SELECT read_upto FROM read_markers WHERE user_id = ? AND conversation_id = ? AND root_id = ?")
    unreadReplies = try connection.prepare(Self.unreadRepliesSQL)
    progress = try connection.prepare(
      """
      SELECT t.reply_count, t.last_reply_id, m.sent_at FROM threads t LEFT JOIN messages m ON m.id = t.last_reply_id
      WHERE t.root_id = ?
      """)
  }

  /// Parameters: the root, the marker, the user. What came after the marker, less the user's own, less what never is
  /// unread; every part but the last is one step into an index.
  static let unreadRepliesSQL = """
    SELECT coalesce((SELECT last_position FROM threads WHERE root_id = ?1), 0)
      - coalesce((SELECT thread_position FROM messages INDEXED BY messages_of_thread
          WHERE root_id = ?1 AND root_id > 0 AND id <= ?2 ORDER BY id DESC LIMIT 1), 0)
      - coalesce((SELECT author_position FROM messages INDEXED BY messages_of_thread_author
          WHERE root_id = ?1 AND root_id > 0 AND sender_id = ?3 ORDER BY id DESC LIMIT 1), 0)
      + coalesce((SELECT author_position FROM messages INDEXED BY messages_of_thread_author
          WHERE root_id = ?1 AND root_id > 0 AND sender_id = ?3 AND id <= ?2 ORDER BY id DESC LIMIT 1), 0)
      - (SELECT count(*) FROM messages INDEXED BY messages_never_unread
          WHERE root_id = ?1 AND root_id > 0 AND (deleted_at > 0 OR category = 'action') AND id > ?2
            AND sender_id <> ?3)
    """

  /// The user's standing in the thread of `root`.
  func standing(
    ofUser user: Int64, root: Int64, rootAuthor: Int64, joinedSeq: Seq
  ) throws(StoreFailure) -> ThreadStanding {
    let stored = try subscription.bind(root).bind(user).first { row throws(StoreFailure) in
      guard let cause = SubscriptionCause(rawValue: row.text(1)) else {
        throw .damaged("a subscription to thread \(root) does not read")
      }
      return Subscription(isSubscribed: row.flag(0), cause: cause, seq: Seq(row.integer(2)))
    }
    return ThreadStanding(
      stored: stored, root: MessageID(root), isRootAuthor: user == rootAuthor, joinedSeq: joinedSeq)
  }

  /// Where a thread stands at `position`, the present one; nil when it has had no reply and no follower.
  func progress(of root: MessageID, asOf position: Seq) throws(StoreFailure) -> ThreadProgress? {
    try progress.bind(root.value).first { row in
      ThreadProgress(
        root: root, replyCount: Int(row.integer(0)), lastReply: row.optionalInteger(1).map(MessageID.init),
        lastReplyAt: UnixSeconds(row.integer(2)), asOf: position)
    }
  }

  /// Replies after the user's marker that are not the user's own, not actions and not deleted (M14).
  func unreadReplies(ofUser user: Int64, root: Int64, conversation: Int64, joinedSeq: Seq) throws(StoreFailure) -> Int {
    let marker = try threadMarker.bind(user).bind(conversation).bind(root).first { $0.integer(0) }
    let from = max(marker ?? 0, joinedSeq.value)
    return Int(try unreadReplies.bind(root).bind(from).bind(user).first { $0.integer(0) } ?? 0)
  }
}
