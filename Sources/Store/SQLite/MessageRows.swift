internal import Chat

/// A message row as it was read, before its people are looked up.
struct MessageRow {
  let id: Int64
  let conversationKey: Int64
  let rootKey: Int64
  let senderKey: Int64
  let isDeleted: Bool
  let category: Category
  let replyCount: Int64
  let mentionsAll: Bool
  /// Different reactions.
  let reactionCount: Int64
  fileprivate let mentionCount: Int64
  fileprivate let message: Message
  fileprivate let quotedSenderKey: Int64?
  fileprivate let editedByKey: Int64?
  fileprivate let deletedByKey: Int64?

  /// The thread that the message belongs to: its root's, or its own.
  var threadKey: Int64 { rootKey == 0 ? id : rootKey }
}

/// Reads stored messages and makes them whole, over one connection and its directory.
final class MessageRows {
  private let directory: Directory
  private let byID: Statement
  private let facts: Statement
  private let mentions: Statement
  private let reactionCounts: Statement
  private let reactionsOfUser: Statement
  private let reactionOfUser: Statement
  private let reactionCount: Statement

  init(connection: Connection, directory: Directory) throws(StoreFailure) {
    self.directory = directory
    byID = try connection.prepare("SELECT \(Self.columns) FROM \(Self.tables) WHERE m.id = ?")
    facts = try connection.prepare(
      "SELECT conversation_id, root_id, sender_id, category, deleted_at FROM messages WHERE id = ?")
    mentions = try connection.prepare("SELECT user_id FROM mentions WHERE message_id = ? ORDER BY position")
    reactionCounts = try connection.prepare(
      "SELECT reaction, count FROM reaction_counts WHERE message_id = ? ORDER BY first_seq")
    reactionsOfUser = try connection.prepare(
      "SELECT reaction FROM reactions WHERE message_id = ? AND user_id = ? ORDER BY seq")
    reactionOfUser = try connection.prepare(
      "SELECT 1 FROM reactions WHERE message_id = ? AND user_id = ? AND reaction = ?")
    reactionCount = try connection.prepare("SELECT 1 FROM reaction_counts WHERE message_id = ? AND reaction = ?")
  }

  // MARK: Facts

  /// What the rules need of a message, with the keys that the store needs.
  struct Facts {
    let conversationKey: Int64
    let senderKey: Int64
    let judged: MessageFacts
  }

  /// Nil when there is no such message; the same looks are made then as for one that the caller cannot see (T2).
  func facts(of id: MessageID, caller: Caller) throws(StoreFailure) -> Facts? {
    let found = try facts.bind(id.value).first { row throws(StoreFailure) in
      (
        conversation: row.integer(0), root: row.integer(1), sender: row.integer(2),
        category: try Self.category(row, 3), isDeleted: row.integer(4) != 0
      )
    }
    let conversation = try directory.conversation(key: found?.conversation ?? 0)
    let access = try directory.access(of: caller, to: conversation)
    guard let found else { return nil }
    return Facts(
      conversationKey: found.conversation, senderKey: found.sender,
      judged: MessageFacts(
        id: id, category: found.category, root: found.root == 0 ? nil : MessageID(found.root),
        isDeleted: found.isDeleted, access: access))
  }

  // MARK: Whole messages

  func row(_ id: Int64) throws(StoreFailure) -> MessageRow {
    guard let row = try byID.bind(id).first(Self.read) else { throw .damaged("message \(id) is missing") }
    return row
  }

  /// Names the people of a row.
  func whole(_ row: MessageRow) throws(StoreFailure) -> Message {
    var message = row.message
    guard let conversation = try directory.conversation(key: row.conversationKey) else {
      throw .damaged("conversation \(row.conversationKey) is missing")
    }
    message.sender = try directory.user(key: row.senderKey).user
    switch conversation.ends {
    case .group(let key):
      let group = try directory.group(key: key).group
      message.conversation = .group(group.guid)
      message.receiver = .group(group)
    case .pair(let first, let second):
      let a = try directory.user(key: first).user
      let b = try directory.user(key: second).user
      message.conversation = .oneOnOne(a.uid, b.uid)
      message.receiver = .user(row.senderKey == first ? b : a)
    }
    if let key = row.quotedSenderKey { message.quoted?.sender = try directory.user(key: key).user.uid }
    if let key = row.editedByKey { message.editedBy = try directory.user(key: key).user.uid }
    if let key = row.deletedByKey { message.deletedBy = try directory.user(key: key).user.uid }
    if row.mentionCount > 0 {
      let keys = try mentions.bind(row.id).all { $0.integer(0) }
      for key in keys { message.mentions.append(try directory.user(key: key).user) }
    }
    message.reactions = try reactions(to: row)
    return message
  }

  /// Whether the row mentions the user, by uid or with everybody.
  func mentions(_ row: MessageRow, user: Int64) throws(StoreFailure) -> Bool {
    if row.mentionsAll { return true }
    if row.mentionCount == 0 { return false }
    return try mentions.bind(row.id).all { $0.integer(0) }.contains(user)
  }

  /// M12: in the order in which each was first used.
  func reactions(to row: MessageRow) throws(StoreFailure) -> [ReactionCount] {
    guard row.reactionCount > 0 else { return [] }
    return try reactionCounts.bind(row.id).all { ReactionCount(reaction: $0.text(0), count: Int($0.integer(1))) }
  }

  /// M12: the user's own, in the order of reacting.
  func reactions(to message: Int64, of user: Int64) throws(StoreFailure) -> [String] {
    try reactionsOfUser.bind(message).bind(user).all { $0.text(0) }
  }

  /// Whether the user has reacted with exactly this. The store compares bytes; `String` would take an accented letter
  /// and the letter with its accent apart for one.
  func hasReacted(_ user: Int64, to message: Int64, with reaction: String) throws(StoreFailure) -> Bool {
    try reactionOfUser.bind(message).bind(user).bind(reaction).exists()
  }

  /// Whether anybody has.
  func hasReaction(_ reaction: String, message: Int64) throws(StoreFailure) -> Bool {
    try reactionCount.bind(message).bind(reaction).exists()
  }

  // MARK: Reading

  static let tables = "messages m LEFT JOIN threads t ON t.root_id = m.id"

  /// In the order that `read` takes them.
  static let columns = """
    m.id, m.conversation_id, m.root_id, m.sender_id, m.category, m.type, m.muid, m.text, m.parts, m.sub_type, \
    m.conversation_text, m.update_conversation, m.send_notification, m.metadata, m.tags, m.quoted_id, \
    m.quoted_sender_id, m.quoted_type, m.quoted_text, m.mention_count, m.mentions_all, m.sent_at, m.updated_at, \
    m.delivered_at, m.read_at, m.edited_at, m.edited_by_id, m.deleted_at, m.deleted_by_id, t.reply_count, \
    m.reaction_count
    """

  static func read(_ row: Row) throws(StoreFailure) -> MessageRow {
    let id = row.integer(0)
    let category = try category(row, 4)
    let isDeleted = row.integer(27) != 0
    guard let tags = UnpackedFields.texts(row.blob(14)) else { throw .damaged("message \(id) has broken tags") }
    let content: Content =
      isDeleted
      ? .deleted(type: row.text(5), category: category)
      : try StoredContent(category: category, type: row.text(5), text: row.optionalText(7), parts: row.blob(8))
        .content(of: id)
    let nobody = User(uid: UserID(stored: ""), name: "")
    let replyCount = row.integer(29)
    let message = Message(
      id: MessageID(id), muid: row.text(6), conversation: .oneOnOne(nobody.uid, nobody.uid), sender: nobody,
      receiver: .user(nobody), content: content,
      parent: row.integer(2) == 0 ? nil : MessageID(row.integer(2)),
      quoted: row.optionalInteger(15).map {
        QuotedMessage(id: MessageID($0), sender: nobody.uid, type: row.text(17), text: row.text(18))
      },
      extras: MessageExtras(
        subType: row.optionalText(9), conversationText: row.optionalText(10), updateConversation: row.optionalFlag(11),
        sendNotification: row.optionalFlag(12), metadata: JSONText(unchecked: row.text(13)), tags: tags),
      mentionsAll: row.flag(20), sentAt: UnixSeconds(row.integer(21)), updatedAt: UnixSeconds(row.integer(22)),
      deliveredAt: UnixSeconds(row.integer(23)), readAt: UnixSeconds(row.integer(24)),
      editedAt: UnixSeconds(row.integer(25)), deletedAt: UnixSeconds(row.integer(27)), replyCount: Int(replyCount))
    return MessageRow(
      id: id, conversationKey: row.integer(1), rootKey: row.integer(2), senderKey: row.integer(3),
      isDeleted: isDeleted, category: category, replyCount: replyCount, mentionsAll: row.flag(20),
      reactionCount: row.integer(30), mentionCount: row.integer(19), message: message,
      quotedSenderKey: row.optionalInteger(16),
      editedByKey: row.optionalInteger(26), deletedByKey: row.optionalInteger(28))
  }

  private static func category(_ row: Row, _ column: Int32) throws(StoreFailure) -> Category {
    guard let category = Category(rawValue: row.text(column)) else {
      throw .damaged("a message's category does not read")
    }
    return category
  }
}
