/// The database's tables, as a list of steps; version n is what the first n steps made (S11).
///
/// People, groups and conversations have small integer keys of their own, so that a message row points with a few
/// bytes. `root_id` 0 means "not a reply". There are no foreign keys: every reference is made inside the transaction
/// that has looked at what it points to, and nothing pointed to is ever deleted.
enum Schema {
  /// Marks the file as ours: "TCst".
  static let applicationID: Int64 = 0x5443_7374

  static let steps: [String] = [people + messages + threads + access, missed, changes, reactions]

  private static let people = """
    CREATE TABLE meta (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      epoch TEXT NOT NULL,
      probes INTEGER NOT NULL DEFAULT 0) STRICT;
    -- Room that the readiness probe takes and gives back.
    CREATE TABLE probe (id INTEGER PRIMARY KEY, filler BLOB NOT NULL) STRICT;

    CREATE TABLE users (
      id INTEGER PRIMARY KEY,
      uid TEXT NOT NULL UNIQUE,
      name TEXT NOT NULL,
      avatar TEXT NOT NULL,
      link TEXT NOT NULL,
      role TEXT NOT NULL,
      status_message TEXT NOT NULL,
      metadata TEXT NOT NULL,
      tags BLOB NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      last_active_at INTEGER NOT NULL,
      deactivated_at INTEGER NOT NULL) STRICT;

    CREATE TABLE groups (
      id INTEGER PRIMARY KEY,
      guid TEXT NOT NULL UNIQUE,
      conversation_id INTEGER NOT NULL,
      owner_id INTEGER NOT NULL,
      name TEXT NOT NULL,
      type TEXT NOT NULL,
      icon TEXT NOT NULL,
      description TEXT NOT NULL,
      metadata TEXT NOT NULL,
      tags BLOB NOT NULL,
      members_count INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL) STRICT;

    -- History (D8): one row for each time that somebody was in; left_seq is null while it lasts.
    CREATE TABLE memberships (
      group_id INTEGER NOT NULL,
      user_id INTEGER NOT NULL,
      joined_seq INTEGER NOT NULL,
      left_seq INTEGER,
      uid TEXT NOT NULL,
      scope TEXT NOT NULL,
      joined_at INTEGER NOT NULL,
      PRIMARY KEY (group_id, user_id, joined_seq)) STRICT, WITHOUT ROWID;
    -- members.list: the present members by uid.
    CREATE UNIQUE INDEX memberships_page ON memberships (group_id, uid) WHERE left_seq IS NULL;
    -- A session's groups, and every conversation of a caller.
    CREATE UNIQUE INDEX memberships_of_user ON memberships (user_id, group_id) WHERE left_seq IS NULL;

    -- Both ends are stored (D4): two users, first_id the lower uid, or a group.
    CREATE TABLE conversations (
      id INTEGER PRIMARY KEY,
      first_id INTEGER,
      second_id INTEGER,
      group_id INTEGER) STRICT;
    -- The conversation of a pair; a caller's conversations in which the caller's uid is the lower.
    CREATE UNIQUE INDEX conversations_of_pair ON conversations (first_id, second_id) WHERE first_id IS NOT NULL;
    -- A caller's conversations in which the caller's uid is the higher.
    CREATE INDEX conversations_of_second ON conversations (second_id) WHERE second_id IS NOT NULL;

    """

  private static let messages = """
    -- Every durable happening in order (M1); the largest seq is the head.
    CREATE TABLE log (
      seq INTEGER PRIMARY KEY,
      kind INTEGER NOT NULL,
      at INTEGER NOT NULL,
      conversation_id INTEGER,
      user_id INTEGER,
      message_id INTEGER,
      payload BLOB) STRICT;

    CREATE TABLE messages (
      id INTEGER PRIMARY KEY,
      conversation_id INTEGER NOT NULL,
      root_id INTEGER NOT NULL,
      sender_id INTEGER NOT NULL,
      -- A reply's number in its thread, and among its author's in that thread; never given anew. With them the unread
      -- replies after a marker are a subtraction, however many they are. 0 for a root.
      thread_position INTEGER NOT NULL,
      author_position INTEGER NOT NULL,
      category TEXT NOT NULL,
      type TEXT NOT NULL,
      muid TEXT NOT NULL,
      -- Text, caption, custom data, or what was done.
      text TEXT,
      -- Attachments, or an action's by and on.
      parts BLOB,
      sub_type TEXT,
      conversation_text TEXT,
      update_conversation INTEGER,
      send_notification INTEGER,
      metadata TEXT NOT NULL,
      tags BLOB,
      quoted_id INTEGER,
      quoted_sender_id INTEGER,
      quoted_type TEXT,
      quoted_text TEXT,
      mention_count INTEGER NOT NULL,
      mentions_all INTEGER NOT NULL,
      sent_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      delivered_at INTEGER NOT NULL DEFAULT 0,
      read_at INTEGER NOT NULL DEFAULT 0,
      edited_at INTEGER NOT NULL DEFAULT 0,
      edited_by_id INTEGER,
      deleted_at INTEGER NOT NULL DEFAULT 0,
      deleted_by_id INTEGER) STRICT;
    -- messages.list of a conversation.
    CREATE INDEX messages_of_conversation ON messages (conversation_id);
    -- messages.list with hideReplies, and a conversation's unread count. It holds root_id only to cover the condition.
    CREATE INDEX messages_roots ON messages (conversation_id, root_id) WHERE root_id = 0;
    -- messages.list of a thread, and a marker's place in it.
    CREATE INDEX messages_of_thread ON messages (root_id, id, thread_position) WHERE root_id > 0;
    -- A marker's place among one author's replies in a thread.
    CREATE INDEX messages_of_thread_author ON messages (root_id, sender_id, id, author_position) WHERE root_id > 0;
    -- The replies that never are unread: deleted ones and actions.
    CREATE INDEX messages_never_unread ON messages (root_id, id, sender_id)
      WHERE root_id > 0 AND (deleted_at > 0 OR category = 'action');

    CREATE TABLE mentions (
      message_id INTEGER NOT NULL,
      position INTEGER NOT NULL,
      user_id INTEGER NOT NULL,
      PRIMARY KEY (message_id, position)) STRICT, WITHOUT ROWID;

    -- Idempotency keys (M7). The rows come and go in the order of their messages; only the index is written all over.
    CREATE TABLE muids (
      message_id INTEGER PRIMARY KEY,
      sender_id INTEGER NOT NULL,
      muid TEXT NOT NULL,
      digest BLOB NOT NULL,
      at INTEGER NOT NULL) STRICT;
    -- The look-up of a send.
    CREATE UNIQUE INDEX muids_by_sender ON muids (sender_id, muid);

    -- Work for the notifier, one row a message (T3).
    CREATE TABLE notification_jobs (
      message_id INTEGER PRIMARY KEY,
      conversation_id INTEGER NOT NULL,
      created_at INTEGER NOT NULL) STRICT;

    """

  private static let threads = """
    -- Made with the first reply or the first stored subscription.
    CREATE TABLE threads (
      root_id INTEGER PRIMARY KEY,
      conversation_id INTEGER NOT NULL,
      reply_count INTEGER NOT NULL,
      -- The last number that a reply has got.
      last_position INTEGER NOT NULL,
      last_reply_id INTEGER,
      updated_at INTEGER NOT NULL) STRICT;

    CREATE TABLE thread_subscriptions (
      root_id INTEGER NOT NULL,
      user_id INTEGER NOT NULL,
      conversation_id INTEGER NOT NULL,
      is_subscribed INTEGER NOT NULL,
      cause TEXT NOT NULL,
      seq INTEGER NOT NULL,
      PRIMARY KEY (root_id, user_id)) STRICT, WITHOUT ROWID;
    -- What leaving a group deletes (T9), and a user's inbox.
    CREATE INDEX thread_subscriptions_of_user ON thread_subscriptions (user_id, conversation_id);

    -- How far somebody has read, in a conversation (root_id 0) or in a thread (M13, M14).
    CREATE TABLE read_markers (
      user_id INTEGER NOT NULL,
      conversation_id INTEGER NOT NULL,
      root_id INTEGER NOT NULL,
      read_upto INTEGER NOT NULL,
      delivered_upto INTEGER NOT NULL,
      PRIMARY KEY (user_id, conversation_id, root_id)) STRICT, WITHOUT ROWID;

    """

  /// What a session missed besides messages, which have an index of their own (R6). The conditions name `LogKind`s.
  private static let missed = """
    CREATE INDEX log_of_user ON log (user_id) WHERE kind IN (2, 3);
    CREATE INDEX log_of_conversation ON log (conversation_id) WHERE kind = 3;
    """

  /// Edits and deletions in what a session missed (M11).
  private static let changes = """
    DROP INDEX log_of_conversation;
    CREATE INDEX log_of_conversation ON log (conversation_id) WHERE kind IN (3, 5, 6);
    """

  /// M12.
  private static let reactions = """
    -- Different reactions of the message; 0 saves the look for them.
    ALTER TABLE messages ADD COLUMN reaction_count INTEGER NOT NULL DEFAULT 0;

    CREATE TABLE reactions (
      message_id INTEGER NOT NULL,
      user_id INTEGER NOT NULL,
      reaction TEXT NOT NULL,
      seq INTEGER NOT NULL,
      at INTEGER NOT NULL,
      PRIMARY KEY (message_id, user_id, reaction)) STRICT, WITHOUT ROWID;
    -- reactions.list, of everything and of one reaction.
    CREATE INDEX reactions_page ON reactions (message_id, seq);
    CREATE INDEX reactions_page_of_one ON reactions (message_id, reaction, seq);

    -- What `reactions` counts, kept so that a fetch does not count.
    CREATE TABLE reaction_counts (
      message_id INTEGER NOT NULL,
      reaction TEXT NOT NULL,
      count INTEGER NOT NULL,
      first_seq INTEGER NOT NULL,
      PRIMARY KEY (message_id, reaction)) STRICT, WITHOUT ROWID;

    DROP INDEX log_of_conversation;
    CREATE INDEX log_of_conversation ON log (conversation_id) WHERE kind IN (3, 5, 6, 7, 8);
    """

  private static let access = """
    CREATE TABLE tokens (
      hash BLOB PRIMARY KEY,
      user_id INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      revoked_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;

    CREATE TABLE admin_keys (
      hash BLOB PRIMARY KEY,
      scope TEXT NOT NULL,
      name TEXT NOT NULL,
      created_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    """
}
