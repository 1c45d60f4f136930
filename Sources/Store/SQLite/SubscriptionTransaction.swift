internal import Chat

/// Changes of thread subscriptions inside a transaction (T4–T9, T15).
struct SubscriptionTransaction {
  let session: WriterSession
  let now: UnixSeconds

  /// The thread that somebody follows or no longer does.
  struct Thread {
    let root: MessageID
    let author: Int64
    let conversation: Conversation
    let conversationKey: Int64
  }

  /// A user's own wish (T6, T8).
  func wish(_ isSubscribed: Bool, root: MessageID, caller: Caller) throws(StoreFailure) -> Outcome {
    let rows = session.viewers.rows
    let facts = try rows.facts(of: root, caller: caller)
    if let refusal = ThreadRules.refusalOfSubscription(to: facts?.judged) { return Outcome(.failure(refusal)) }
    guard let facts, case .participant(let joinedSeq) = facts.judged.access else {
      preconditionFailure("The rule admits nobody but a participant.")
    }
    let thread = Thread(
      root: root, author: facts.senderKey, conversation: try rows.whole(rows.row(root.value)).conversation,
      conversationKey: facts.conversationKey)
    let standing = try session.viewers.standings.standing(
      ofUser: caller.key, root: root.value, rootAuthor: facts.senderKey, joinedSeq: joinedSeq)
    let events = try apply(standing.wishing(isSubscribed, head: session.head), user: caller.row, thread)
    return Outcome(.success(.threadSubscription(root: root, isSubscribed: isSubscribed)), events: events)
  }

  /// An automatic cause (T4). Empty when it changes nothing.
  func meet(
    _ cause: SubscriptionCause, at seq: Seq, user: UserRow, joinedSeq: Seq, _ thread: Thread
  ) throws(StoreFailure) -> [Event] {
    let standing = try session.viewers.standings.standing(
      ofUser: user.key, root: thread.root.value, rootAuthor: thread.author, joinedSeq: joinedSeq)
    return try apply(standing.meeting(cause, at: seq), user: user, thread)
  }

  private func apply(
    _ transition: SubscriptionTransition, user: UserRow, _ thread: Thread
  ) throws(StoreFailure) -> [Event] {
    switch transition {
    case .nothing:
      return []
    case .fence(let subscription):
      try store(subscription, user: user, thread)
      return []
    case .change(let subscription):
      try store(subscription, user: user, thread)
      var payload = PackedFields()
      payload.add(subscription.isSubscribed ? 1 : 0)
      payload.add(subscription.cause.rawValue)
      let seq = try session.append(
        .threadSubscription, at: now, conversation: thread.conversationKey, user: user.key,
        message: thread.root.value, payload: payload.bytes)
      let change = SubscriptionChange(
        user: user.user.uid, root: thread.root, conversation: thread.conversation,
        isSubscribed: subscription.isSubscribed, cause: subscription.cause)
      return [Event(seq: seq, body: .threadSubscription(change))]
    }
  }

  private func store(_ subscription: Subscription, user: UserRow, _ thread: Thread) throws(StoreFailure) {
    try session.statements.newThread.bind(thread.root.value).run()
    try session.statements.putSubscription.bind(thread.root.value).bind(user.key).bind(thread.conversationKey)
      .bind(subscription.isSubscribed).bind(subscription.cause.rawValue).bind(subscription.seq.value).run()
  }
}
