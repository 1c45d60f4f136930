/// What an attempt to change a subscription leads to.
package enum SubscriptionTransition: Hashable, Sendable {
  /// Nothing is stored, nobody hears of it.
  case nothing
  /// Asked for what is already so: the row is stored to move the fence (T7), nobody hears of it (T15).
  case fence(Subscription)
  /// The state is another one now: the row is stored and the user's sessions hear of it (T15).
  case change(Subscription)
}

/// One user's standing in one thread, as far as it decides whether the user follows it (T4–T7, T9).
package struct ThreadStanding: Hashable, Sendable {
  /// The user's stored word, nil when there is none.
  package var stored: Subscription?
  package var root: MessageID
  package var isRootAuthor: Bool
  /// When the user's present membership began; `.none` in one-on-one conversations.
  package var joinedSeq: Seq

  package init(stored: Subscription?, root: MessageID, isRootAuthor: Bool, joinedSeq: Seq) {
    self.stored = stored
    self.root = root
    self.isRootAuthor = isRootAuthor
    self.joinedSeq = joinedSeq
  }

  /// The stored word as far as it counts: what was said before the present membership began does not (T9).
  private var word: Subscription? {
    guard let stored, stored.seq >= joinedSeq else { return nil }
    return stored
  }

  /// T5: a word decides; without one the root's author follows, unless the root is older than the membership.
  package var isSubscribed: Bool {
    word?.isSubscribed ?? (isRootAuthor && root.seq > joinedSeq)
  }

  /// T4, T6, T7, T9: an automatic cause that happened at `seq`, however late it is looked at.
  package func meeting(_ cause: SubscriptionCause, at seq: Seq) -> SubscriptionTransition {
    guard !isSubscribed, seq > joinedSeq else { return .nothing }
    if let word, seq <= word.seq { return .nothing }
    return .change(Subscription(isSubscribed: true, cause: cause, seq: seq))
  }

  /// T6, T15: the user's own wish. The wish takes the position after `head` when it changes something; else it takes
  /// no position of its own and the fence stands at `head`, which every later cause is above.
  package func wishing(_ isSubscribed: Bool, head: Seq) -> SubscriptionTransition {
    if isSubscribed == self.isSubscribed {
      return .fence(Subscription(isSubscribed: isSubscribed, cause: .explicit, seq: head))
    }
    return .change(Subscription(isSubscribed: isSubscribed, cause: .explicit, seq: Seq(head.value + 1)))
  }
}
