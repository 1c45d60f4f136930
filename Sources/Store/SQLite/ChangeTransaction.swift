internal import Chat

/// Edits and deletions inside a transaction (M11, T10): each writes an action message, then the change itself.
struct ChangeTransaction {
  let session: WriterSession
  let caller: Caller
  let now: UnixSeconds

  /// A message that the caller may change.
  private struct Subject {
    let facts: MessageRows.Facts
    let row: MessageRow
    let message: Message
    let ends: ConversationRow.Ends
    /// The thread's root and who wrote it; nil when the message is itself a root.
    let root: MessageRows.Facts?

    var key: Int64 { row.id }
  }

  // MARK: Editing

  func edit(_ id: MessageID, _ edit: MessageEdit) throws(StoreFailure) -> Outcome {
    let subject: Subject
    switch try find(id) {
    case .failure(let refusal): return Outcome(.failure(refusal))
    case .success(let found): subject = found
    }
    let content: Content
    switch ChangeRules.content(subject.message.content, after: edit) {
    case .failure(let refusal): return Outcome(.failure(refusal))
    case .success(let changed): content = changed
    }
    let before = subject.message
    var extras = before.extras
    extras.metadata = edit.metadata ?? extras.metadata
    extras.tags = edit.tags ?? extras.tags
    if before.isExactly(content, extras) {
      return Outcome(.success(.changedMessage(try session.viewers.fetched(subject.row, by: caller))))
    }
    let tokens = Mentions(of: content)
    let mentioned = try session.participants(tokens.uids, in: subject.ends)
    var mentionsAll = false
    if case .group = subject.ends { mentionsAll = tokens.all }

    let action = try tell(.edited, of: subject)
    let statements = session.statements
    try statements.editMessage.bind(subject.key).bind(StoredContent(content).text).bind(extras.metadata.text)
      .bind(extras.tags.isEmpty ? nil : PackedFields.packing(extras.tags)).bind(Int64(mentioned.count)).bind(
        mentionsAll
      )
      .bind(now.value).bind(caller.key).run()
    try statements.deleteMentions.bind(subject.key).run()
    try session.store(mentioned, of: subject.key)
    if subject.root == nil { try statements.touchThread.bind(subject.key).bind(now.value).run() }
    let new = mentioned.filter { person in !before.mentions.contains { $0.uid == person.row.user.uid } }
    return try finish(.edited, subject, action, newlyMentioned: new)
  }

  // MARK: Deleting

  func delete(_ id: MessageID) throws(StoreFailure) -> Outcome {
    let subject: Subject
    switch try find(id) {
    case .failure(let refusal): return Outcome(.failure(refusal))
    case .success(let found): subject = found
    }
    let action = try tell(.deleted, of: subject)
    let statements = session.statements
    try statements.emptyMessage.bind(subject.key).bind(now.value).bind(caller.key).run()
    try statements.deleteMentions.bind(subject.key).run()
    if let root = subject.root { try statements.discountReply.bind(root.judged.id.value).bind(subject.key).run() }
    return try finish(.deleted, subject, action, newlyMentioned: [])
  }

  // MARK: Both

  private func find(_ id: MessageID) throws(StoreFailure) -> Result<Subject, Refusal> {
    let rows = session.viewers.rows
    let facts = try rows.facts(of: id, caller: caller)
    let conversation = try facts.flatMap { facts throws(StoreFailure) in
      try session.directory.conversation(key: facts.conversationKey)
    }
    var rank: MembershipRules.Rank?
    if case .group(let group) = conversation?.ends,
      let membership = try session.directory.membership(group: group, user: caller.key)
    {
      let owner = try session.directory.group(key: group).ownerKey
      rank = MembershipRules.Rank(scope: membership.scope, isOwner: caller.key == owner)
    }
    if let refusal = ChangeRules.refusal(
      ofChanging: facts?.judged, isAuthor: facts?.senderKey == caller.key, rank: rank,
      isApplication: caller.isApplication)
    {
      return .failure(refusal)
    }
    guard let facts, let conversation else { preconditionFailure("The rule admits no missing message.") }
    let row = try rows.row(id.value)
    return .success(
      Subject(
        facts: facts, row: row, message: try rows.whole(row), ends: conversation.ends,
        root: try facts.judged.root.flatMap { root throws(StoreFailure) in try rows.facts(of: root, caller: caller) }))
  }

  /// Writes the action message: in the thread when the subject is a reply, else in the conversation.
  private func tell(_ kind: MessageChange.Kind, of subject: Subject) throws(StoreFailure) -> (seq: Seq, id: Int64) {
    let statements = session.statements
    let id = session.head.value + 1
    let seq = try session.append(
      .message, at: now, conversation: subject.facts.conversationKey, user: caller.key, message: id)
    var row = NewMessageRow(
      id: id, conversationKey: subject.facts.conversationKey, rootKey: subject.row.rootKey, senderKey: caller.key,
      content: StoredContent(.action(kind.rawValue, by: caller.uid, on: .message(subject.message.id))), sentAt: now)
    if row.rootKey != 0 {
      guard let position = try statements.takePosition.bind(row.rootKey).bind(now.value).first({ $0.integer(0) })
      else { throw .damaged("thread \(row.rootKey) is missing") }
      let previous = try statements.lastAuthorPosition.bind(row.rootKey).bind(caller.key).first { $0.integer(0) }
      row.threadPosition = position
      row.authorPosition = (previous ?? 0) + 1
    }
    try row.insert(statements)
    return (seq, id)
  }

  private func finish(
    _ kind: MessageChange.Kind, _ subject: Subject, _ action: (seq: Seq, id: Int64),
    newlyMentioned: [MentionedPerson]
  ) throws(StoreFailure) -> Outcome {
    let rows = session.viewers.rows
    let row = try rows.row(subject.key)
    let message = try rows.whole(row)
    let stays = Set(message.mentions.map(\.uid))
    let former = subject.message.mentions.filter { !stays.contains($0.uid) }
    var payload = PackedFields()
    payload.add(subject.message.mentionsAll ? 1 : 0)
    payload.add(Int64(former.count))
    for user in former { payload.add(try session.directory.anyUser(user.uid)?.key ?? 0) }
    let seq = try session.append(
      kind == .edited ? .messageEdited : .messageDeleted, at: now, conversation: subject.facts.conversationKey,
      user: caller.key, message: subject.key, payload: payload.bytes)
    var progress: ThreadProgress?
    if let root = subject.root {
      progress = try session.viewers.progress(
        of: root.judged.id, author: root.senderKey, conversation: root.conversationKey, asOf: seq)
    }
    let told = try rows.whole(rows.row(action.id))
    let change = MessageChange(
      kind: kind, message: message, formerMentions: former.map(\.uid),
      formerlyMentionedAll: subject.message.mentionsAll)
    var events = [
      Event(seq: action.seq, body: .message(told), thread: progress),
      Event(seq: seq, body: .messageChanged(change), thread: progress),
    ]
    events += try subscribe(newlyMentioned, subject, cause: seq)
    return Outcome(.success(.changedMessage(try session.viewers.fetched(row, by: caller))), events: events)
  }

  /// T4: whom an edit mentions anew follows the thread, unless its root is gone (T10).
  private func subscribe(
    _ people: [MentionedPerson], _ subject: Subject, cause: Seq
  ) throws(StoreFailure) -> [Event] {
    guard !people.isEmpty, subject.root?.judged.isDeleted != true else { return [] }
    let thread = SubscriptionTransaction.Thread(
      root: subject.root?.judged.id ?? subject.message.id, author: subject.root?.senderKey ?? subject.facts.senderKey,
      conversation: subject.message.conversation, conversationKey: subject.facts.conversationKey)
    let subscriptions = SubscriptionTransaction(session: session, now: now)
    var events: [Event] = []
    for person in people {
      events += try subscriptions.meet(.mention, at: cause, user: person.row, joinedSeq: person.joinedSeq, thread)
    }
    return events
  }
}
