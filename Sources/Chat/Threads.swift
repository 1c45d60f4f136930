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
