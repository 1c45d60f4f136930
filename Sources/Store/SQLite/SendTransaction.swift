internal import Chat
internal import Crypto

/// One send inside a transaction: everything is judged before anything is written, so that a refusal leaves no trace.
struct SendTransaction {
  let session: WriterSession
  let caller: Caller
  let now: UnixSeconds

  /// Where the message goes, looked up and allowed.
  private struct Place {
    let conversation: Conversation
    /// Nil until the first message of a pair makes the conversation.
    let key: Int64?
    let pair: (first: Int64, second: Int64)?
    let group: GroupRow?
    let receiver: ReceiverProfile
    /// When the sender's membership began.
    let joinedSeq: Seq
  }

  private struct Quote {
    let copy: QuotedMessage
    let senderKey: Int64
  }

  func run(_ message: OutgoingMessage) throws(StoreFailure) -> Outcome {
    switch message.content {
    case .text, .media, .custom: break
    case .action, .deleted:
      // The store itself writes these (M2, M11).
      return Outcome(.failure(Refusal(.badRequest, details: [.field("category")])))
    }
    var digest: [UInt8] = []
    if !message.muid.isEmpty {
      digest = ContentDigest.sha256(message.canonicalFields)
      if let repeated = try answerRepeated(message, digest: digest) { return repeated }
    }
    let place: Place
    switch try locate(message.receiver) {
    case .success(let found): place = found
    case .failure(let refusal): return Outcome(.failure(refusal))
    }
    var root: MessageRows.Facts?
    if let parent = message.parent {
      let facts = try session.viewers.rows.facts(of: parent, caller: caller)
      if let refusal = ThreadRules.refusalOfReply(
        to: facts?.judged, isSameConversation: facts != nil && facts?.conversationKey == place.key)
      {
        return Outcome(.failure(refusal))
      }
      root = facts
    }
    var quote: Quote?
    if let quoted = message.quoted {
      switch try copyOfQuoted(quoted, conversation: place.key) {
      case .success(let found): quote = found
      case .failure(let refusal): return Outcome(.failure(refusal))
      }
    }
    let tokens = Mentions(of: message.content)
    let mentioned = try session.participants(
      tokens.uids, in: place.pair.map { .pair(first: $0.first, second: $0.second) } ?? .group(place.group?.key ?? 0))
    return try write(message, digest, place, root, quote, mentioned, mentionsAll: tokens.all && place.group != nil)
  }

  // MARK: Judging

  /// M7: the answer for a muid that the sender has used before; nil for a new one.
  private func answerRepeated(_ message: OutgoingMessage, digest: [UInt8]) throws(StoreFailure) -> Outcome? {
    let stored = try session.statements.muid.bind(caller.key).bind(message.muid)
      .first { (digest: $0.blob(0), id: $0.integer(1)) }
    guard let stored else { return nil }
    guard stored.digest == digest else { return Outcome(.failure(Refusal(.muidConflict))) }
    let row = try session.viewers.rows.row(stored.id)
    return Outcome(.success(.message(try session.viewers.fetched(row, by: caller))))
  }

  private func locate(_ receiver: Receiver) throws(StoreFailure) -> Result<Place, Refusal> {
    let directory = session.directory
    switch receiver {
    case .user(let uid):
      guard let other = try directory.user(uid) else { return .failure(Refusal(.uidNotFound)) }
      let pair =
        caller.uid < uid ? (first: caller.key, second: other.key) : (first: other.key, second: caller.key)
      return .success(
        Place(
          conversation: Conversation(from: caller.uid, to: receiver),
          key: try directory.conversationKey(first: pair.first, second: pair.second), pair: pair, group: nil,
          receiver: .user(other.user), joinedSeq: .none))
    case .group(let guid):
      switch try directory.joined(guid, by: caller) {
      case .failure(let refusal): return .failure(refusal)
      case .success(let joined):
        return .success(
          Place(
            conversation: .group(guid), key: joined.group.conversationKey, pair: nil, group: joined.group,
            receiver: .group(joined.group.group), joinedSeq: Seq(joined.membership?.joinedSeq ?? 0)))
      }
    }
  }

  /// M10.
  private func copyOfQuoted(_ id: MessageID, conversation: Int64?) throws(StoreFailure) -> Result<Quote, Refusal> {
    let facts = try session.viewers.rows.facts(of: id, caller: caller)
    let here = facts.flatMap { $0.conversationKey == conversation ? $0 : nil }
    if let refusal = QuoteRules.refusal(ofQuoting: here?.judged) { return .failure(refusal) }
    let quoted = try session.viewers.rows.whole(session.viewers.rows.row(id.value))
    return .success(
      Quote(
        copy: QuotedMessage(
          id: id, sender: quoted.sender.uid, type: quoted.content.type, text: QuoteRules.text(of: quoted.content)),
        senderKey: here?.senderKey ?? 0))
  }

  // MARK: Writing

  private func write(
    _ message: OutgoingMessage, _ digest: [UInt8], _ place: Place, _ root: MessageRows.Facts?, _ quote: Quote?,
    _ mentioned: [MentionedPerson], mentionsAll: Bool
  ) throws(StoreFailure) -> Outcome {
    let statements = session.statements
    let conversationKey: Int64
    if let key = place.key { conversationKey = key } else { conversationKey = try makeConversation(place) }
    let id = session.head.value + 1
    let seq = try session.append(
      .message, at: now, conversation: conversationKey, user: caller.key, message: id)
    let positions = try number(message, id: id, conversationKey)
    try NewMessageRow(
      id: id, conversationKey: conversationKey, rootKey: message.parent?.value ?? 0, senderKey: caller.key,
      threadPosition: positions.inThread, authorPosition: positions.ofAuthor, content: StoredContent(message.content),
      muid: message.muid, extras: message.extras, quote: quote?.copy, quotedSenderKey: quote?.senderKey,
      mentionCount: mentioned.count, mentionsAll: mentionsAll, sentAt: now
    ).insert(session.statements)
    try session.store(mentioned, of: id)
    if !message.muid.isEmpty {
      try statements.newMUID.bind(caller.key).bind(message.muid).bind(digest).bind(id).bind(now.value).run()
    }
    try statements.newJob.bind(id).bind(conversationKey).bind(now.value).run()

    let accepted = Message(
      id: MessageID(id), muid: message.muid, conversation: place.conversation, sender: caller.row.user,
      receiver: place.receiver, content: message.content, parent: message.parent, quoted: quote?.copy,
      extras: message.extras, mentions: mentioned.map(\.row.user), mentionsAll: mentionsAll, sentAt: now,
      updatedAt: now)
    let thread = SubscriptionTransaction.Thread(
      root: message.parent ?? accepted.id, author: root?.senderKey ?? caller.key, conversation: place.conversation,
      conversationKey: conversationKey)
    var events = [Event(seq: seq, body: .message(accepted), thread: try progress(accepted, positions, root))]
    events += try subscribe(mentioned, to: thread, isReply: root != nil, cause: seq, joinedSeq: place.joinedSeq)
    let viewer = ViewerState(
      threadSubscribed: true, mentionedMe: mentionsAll || mentioned.contains { $0.row.key == caller.key },
      unreadRepliesCount: root == nil
        ? 0
        : try session.viewers.standings.unreadReplies(
          ofUser: caller.key, root: thread.root.value, conversation: conversationKey, joinedSeq: place.joinedSeq))
    return Outcome(.success(.message(FetchedMessage(message: accepted, viewer: viewer))), events: events)
  }

  private func makeConversation(_ place: Place) throws(StoreFailure) -> Int64 {
    guard let pair = place.pair,
      let key = try session.statements.newPair.bind(pair.first).bind(pair.second).first({ $0.integer(0) })
    else { preconditionFailure("Only a pair's conversation is made by a message.") }
    session.directory.remember(conversation: key, first: pair.first, second: pair.second)
    return key
  }

  /// A reply's numbers; zeros for a root.
  private struct Positions {
    var inThread: Int64 = 0
    var ofAuthor: Int64 = 0
    /// The thread's replies, this one included.
    var replyCount: Int64 = 0
  }

  /// Counts a reply into its thread (T3) and numbers it.
  private func number(
    _ message: OutgoingMessage, id: Int64, _ conversationKey: Int64
  ) throws(StoreFailure) -> Positions {
    guard let parent = message.parent?.value else { return Positions() }
    let statements = session.statements
    let thread = try statements.countReply.bind(parent).bind(conversationKey).bind(id).bind(now.value)
      .first { (last: $0.integer(0), count: $0.integer(1)) }
    guard let thread else { throw .damaged("thread \(parent) took no reply") }
    let previous = try statements.lastAuthorPosition.bind(parent).bind(caller.key).first { $0.integer(0) }
    return Positions(inThread: thread.last, ofAuthor: (previous ?? 0) + 1, replyCount: thread.count)
  }

  /// Where the thread stands with this reply; nil for a root.
  private func progress(
    _ reply: Message, _ positions: Positions, _ root: MessageRows.Facts?
  ) throws(StoreFailure) -> ThreadProgress? {
    guard let parent = reply.parent, let root else { return nil }
    return ThreadProgress(
      root: parent, replyCount: Int(positions.replyCount), lastReply: reply.id, lastReplyAt: now, asOf: reply.id.seq,
      // The replier follows from now on in any case (T4).
      followingAuthor: root.senderKey == caller.key
        ? caller.uid
        : try session.viewers.followingAuthor(
          ofThread: parent.value, author: root.senderKey, conversation: root.conversationKey))
  }

  /// T4: the author by replying, then the mentioned, each once.
  private func subscribe(
    _ mentioned: [MentionedPerson], to thread: SubscriptionTransaction.Thread, isReply: Bool, cause: Seq, joinedSeq: Seq
  ) throws(StoreFailure) -> [Event] {
    let subscriptions = SubscriptionTransaction(session: session, now: now)
    var events: [Event] = []
    if isReply {
      events += try subscriptions.meet(.reply, at: cause, user: caller.row, joinedSeq: joinedSeq, thread)
    }
    for person in mentioned where person.row.key != caller.key {
      events += try subscriptions.meet(.mention, at: cause, user: person.row, joinedSeq: person.joinedSeq, thread)
    }
    return events
  }
}
