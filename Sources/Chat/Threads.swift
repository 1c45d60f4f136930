/// Why somebody follows a thread (T4, T6).
package enum SubscriptionCause: String, Sendable, CaseIterable {
  /// Authored the root. Holds without a row (T5).
  case start
  case reply
  case mention
  case explicit
}

/// One user's stored word on one thread. No row means: subscribed only as the root's author (T5).
package struct Subscription: Hashable, Sendable {
  package var isSubscribed: Bool
  package var cause: SubscriptionCause
  /// The seq of the cause: the causal fence of T7.
  package var seq: Seq
  package init(isSubscribed: Bool, cause: SubscriptionCause, seq: Seq) {
    self.isSubscribed = isSubscribed
    self.cause = cause
    self.seq = seq
  }
}

/// A subscription that changed, as its user's sessions hear of it (T15).
package struct SubscriptionChange: Hashable, Sendable {
  package var user: UserID
  package var root: MessageID
  package var conversation: Conversation
  package var isSubscribed: Bool
  package var cause: SubscriptionCause
  package init(
    user: UserID, root: MessageID, conversation: Conversation, isSubscribed: Bool, cause: SubscriptionCause
  ) {
    self.user = user
    self.root = root
    self.conversation = conversation
    self.isSubscribed = isSubscribed
    self.cause = cause
  }
}

/// Which replies a session wants to hear of as they happen (R2). Replies of threads that it has opened and replies that
/// mention its user always come.
package enum ReplyChoice: String, Hashable, Sendable, CaseIterable { case all, subscribed, open, none }

/// A thread by its root, and the conversation that it is part of.
package struct ThreadPlace: Hashable, Sendable {
  package var root: MessageID
  package var conversation: Conversation
  package init(root: MessageID, conversation: Conversation) {
    self.root = root
    self.conversation = conversation
  }
}

/// Where a thread stands, as a hint tells it (R3).
package struct ThreadProgress: Hashable, Sendable {
  package var root: MessageID
  /// Replies that are not deleted; action messages are none.
  package var replyCount: Int
  /// The last of them; nil when there is none.
  package var lastReply: MessageID?
  /// `.never` when there is none.
  package var lastReplyAt: UnixSeconds
  /// The position at which it was so: a later one tells more.
  package var asOf: Seq
  /// The root's author, when following the thread without a stored word (T5): the routing index knows stored ones only.
  package var followingAuthor: UserID?
  package init(
    root: MessageID, replyCount: Int, lastReply: MessageID?, lastReplyAt: UnixSeconds, asOf: Seq,
    followingAuthor: UserID? = nil
  ) {
    self.root = root
    self.replyCount = replyCount
    self.lastReply = lastReply
    self.lastReplyAt = lastReplyAt
    self.asOf = asOf
    self.followingAuthor = followingAuthor
  }
}
