/// The writer's statements, prepared once for each connection.
struct WriterStatements {
  let begin: Statement
  let commit: Statement
  let rollback: Statement

  let logRow: Statement
  let newUser: Statement
  let newGroup: Statement
  let newPair: Statement
  let newGroupConversation: Statement
  let newMembership: Statement
  let endMembership: Statement
  let changeMembersCount: Statement
  let deleteSubscriptions: Statement
  let deleteMarkers: Statement

  let newMessage: Statement
  let newMention: Statement
  let editMessage: Statement
  let emptyMessage: Statement
  let deleteMentions: Statement
  let newReaction: Statement
  let deleteReaction: Statement
  let countReaction: Statement
  let discountReaction: Statement
  let forgetReaction: Statement
  let newReactionCount: Statement
  let changeReactionCount: Statement
  let countReply: Statement
  let discountReply: Statement
  let takePosition: Statement
  let touchThread: Statement
  let lastAuthorPosition: Statement
  let newThread: Statement
  let putSubscription: Statement
  let newJob: Statement
  let muid: Statement
  let newMUID: Statement
  let oldestMUIDs: Statement
  let deleteMUIDs: Statement

  let token: Statement
  let putToken: Statement
  let revokeToken: Statement
  let putKey: Statement

  let countProbe: Statement
  let takeRoom: Statement
  let giveRoomBack: Statement

  /// Parameters: the root, the reply before which to look. Walks indexes only, over the dead replies to the next live.
  static let lastReplySQL = """
    SELECT r.id FROM messages r INDEXED BY messages_of_thread
    WHERE r.root_id = ?1 AND r.root_id > 0 AND r.id < ?2 AND NOT EXISTS (
      SELECT 1 FROM messages d INDEXED BY messages_never_unread
      WHERE d.root_id = ?1 AND d.root_id > 0 AND (d.deleted_at > 0 OR d.category = 'action') AND d.id = r.id)
    ORDER BY r.id DESC LIMIT 1
    """

  init(connection: Connection) throws(StoreFailure) {
    begin = try connection.prepare("BEGIN IMMEDIATE")
    commit = try connection.prepare("COMMIT")
    rollback = try connection.prepare("ROLLBACK")

    logRow = try connection.prepare(
      "INSERT INTO log (seq, kind, at, conversation_id, user_id, message_id, payload) VALUES (?, ?, ?, ?, ?, ?, ?)")
    newUser = try connection.prepare(
      """
      INSERT INTO users (uid, name, avatar, link, role, status_message, metadata, tags, created_at, updated_at,
        last_active_at, deactivated_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)
      """)
    newGroup = try connection.prepare(
      """
      INSERT INTO groups (id, guid, conversation_id, owner_id, name, type, icon, description, metadata, tags,
        members_count, created_at, updated_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?)
      """)
    newPair = try connection.prepare("INSERT INTO conversations (first_id, second_id) VALUES (?, ?) RETURNING id")
    newGroupConversation = try connection.prepare(
      "INSERT INTO conversations (group_id) SELECT 1 + coalesce(max(id), 0) FROM groups RETURNING id, group_id")
    newMembership = try connection.prepare(
      "INSERT INTO memberships (group_id, user_id, joined_seq, uid, scope, joined_at) VALUES (?, ?, ?, ?, ?, ?)")
    endMembership = try connection.prepare(
      "UPDATE memberships SET left_seq = ? WHERE group_id = ? AND user_id = ? AND left_seq IS NULL")
    changeMembersCount = try connection.prepare(
      "UPDATE groups SET members_count = members_count + ? WHERE id = ? RETURNING members_count")
    deleteSubscriptions = try connection.prepare(
      "DELETE FROM thread_subscriptions WHERE user_id = ? AND conversation_id = ?")
    deleteMarkers = try connection.prepare("DELETE FROM read_markers WHERE user_id = ? AND conversation_id = ?")

    newMessage = try connection.prepare(
      """
      INSERT INTO messages (id, conversation_id, root_id, sender_id, thread_position, author_position, category, type, muid, text,
        parts, sub_type, conversation_text, update_conversation, send_notification, metadata, tags, quoted_id, quoted_sender_id,
        quoted_type, quoted_text, mention_count, mentions_all, sent_at, updated_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    newMention = try connection.prepare("INSERT INTO mentions (message_id, position, user_id) VALUES (?, ?, ?)")
    editMessage = try connection.prepare(
      """
      UPDATE messages SET text = ?2, metadata = ?3, tags = ?4, mention_count = ?5, mentions_all = ?6, updated_at = ?7,
        edited_at = ?7, edited_by_id = ?8
      WHERE id = ?1
      """)
    emptyMessage = try connection.prepare(
      """
      UPDATE messages SET text = NULL, parts = NULL, sub_type = NULL, conversation_text = NULL, metadata = '{}', tags = NULL,
        quoted_id = NULL, quoted_sender_id = NULL, quoted_type = NULL, quoted_text = NULL, mention_count = 0, mentions_all = 0,
        reaction_count = 0, updated_at = ?2, deleted_at = ?2, deleted_by_id = ?3
      WHERE id = ?1
      """)
    deleteMentions = try connection.prepare("DELETE FROM mentions WHERE message_id = ?")
    newReaction = try connection.prepare(
      "INSERT INTO reactions (message_id, user_id, reaction, seq, at) VALUES (?, ?, ?, ?, ?)")
    deleteReaction = try connection.prepare(
      "DELETE FROM reactions WHERE message_id = ? AND user_id = ? AND reaction = ?")
    countReaction = try connection.prepare(
      "UPDATE reaction_counts SET count = count + 1 WHERE message_id = ? AND reaction = ? RETURNING count")
    discountReaction = try connection.prepare(
      "UPDATE reaction_counts SET count = count - 1 WHERE message_id = ? AND reaction = ? RETURNING count")
    forgetReaction = try connection.prepare("DELETE FROM reaction_counts WHERE message_id = ? AND reaction = ?")
    newReactionCount = try connection.prepare(
      "INSERT INTO reaction_counts (message_id, reaction, count, first_seq) VALUES (?, ?, 1, ?)")
    changeReactionCount = try connection.prepare(
      "UPDATE messages SET reaction_count = reaction_count + ? WHERE id = ?")
    // A thread's time never goes back (T13), whatever the clock does.
    countReply = try connection.prepare(
      """
      INSERT INTO threads (root_id, conversation_id, reply_count, last_position, last_reply_id, updated_at)
      VALUES (?1, ?2, 1, 1, ?3, ?4)
      ON CONFLICT (root_id) DO UPDATE SET reply_count = reply_count + 1, last_position = last_position + 1,
        last_reply_id = ?3, updated_at = max(updated_at, ?4)
      RETURNING last_position, reply_count
      """)
    // Behind `emptyMessage`: the last reply is looked for among those that are left.
    discountReply = try connection.prepare(
      """
      UPDATE threads SET reply_count = reply_count - 1,
        last_reply_id = CASE WHEN last_reply_id <> ?2 THEN last_reply_id ELSE (\(Self.lastReplySQL)) END
      WHERE root_id = ?1
      """)
    takePosition = try connection.prepare(
      """
      UPDATE threads SET last_position = last_position + 1, updated_at = max(updated_at, ?2) WHERE root_id = ?1
      RETURNING last_position
      """)
    touchThread = try connection.prepare("UPDATE threads SET updated_at = max(updated_at, ?2) WHERE root_id = ?1")
    lastAuthorPosition = try connection.prepare(
      """
      SELECT author_position FROM messages INDEXED BY messages_of_thread_author
      WHERE root_id = ? AND root_id > 0 AND sender_id = ? ORDER BY id DESC LIMIT 1
      """)
    newThread = try connection.prepare(
      """
      INSERT INTO threads (root_id, conversation_id, reply_count, last_position, updated_at)
      SELECT id, conversation_id, 0, 0, sent_at FROM messages WHERE id = ?
      ON CONFLICT (root_id) DO NOTHING
      """)
    putSubscription = try connection.prepare(
      """
      INSERT INTO thread_subscriptions (root_id, user_id, conversation_id, is_subscribed, cause, seq)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6)
      ON CONFLICT (root_id, user_id) DO UPDATE SET is_subscribed = ?4, cause = ?5, seq = ?6
      """)
    newJob = try connection.prepare(
      "INSERT INTO notification_jobs (message_id, conversation_id, created_at) VALUES (?, ?, ?)")
    muid = try connection.prepare("SELECT digest, message_id FROM muids WHERE sender_id = ? AND muid = ?")
    newMUID = try connection.prepare(
      "INSERT INTO muids (sender_id, muid, digest, message_id, at) VALUES (?, ?, ?, ?, ?)")
    oldestMUIDs = try connection.prepare("SELECT message_id, at FROM muids ORDER BY message_id LIMIT ?")
    deleteMUIDs = try connection.prepare("DELETE FROM muids WHERE message_id <= ?")

    token = try connection.prepare("SELECT user_id, revoked_at FROM tokens WHERE hash = ?")
    putToken = try connection.prepare(
      """
      INSERT INTO tokens (hash, user_id, created_at, expires_at, revoked_at) VALUES (?1, ?2, ?3, ?4, 0)
      ON CONFLICT (hash) DO UPDATE SET expires_at = ?4
      """)
    revokeToken = try connection.prepare("UPDATE tokens SET revoked_at = ? WHERE hash = ?")
    putKey = try connection.prepare(
      """
      INSERT INTO admin_keys (hash, scope, name, created_at) VALUES (?1, ?2, ?3, ?4)
      ON CONFLICT (hash) DO UPDATE SET scope = ?2, name = ?3
      """)

    countProbe = try connection.prepare("UPDATE meta SET probes = probes + 1")
    takeRoom = try connection.prepare("INSERT INTO probe (id, filler) VALUES (1, zeroblob(16384))")
    giveRoomBack = try connection.prepare("DELETE FROM probe")
  }
}
