internal import Chat

/// Reactions inside a transaction (M12).
struct ReactionTransaction {
  let session: WriterSession
  let caller: Caller
  let now: UnixSeconds

  func run(_ reaction: String, to id: MessageID, isAdded: Bool) throws(StoreFailure) -> Outcome {
    let rows = session.viewers.rows
    let facts = try rows.facts(of: id, caller: caller)
    if let refusal = ReactionRules.refusal(ofReactingTo: facts?.judged) { return Outcome(.failure(refusal)) }
    guard let facts else { preconditionFailure("The rule admits no missing message.") }
    let row = try rows.row(id.value)
    let isThere = try rows.hasReacted(caller.key, to: id.value, with: reaction)
    if isThere == isAdded { return Outcome(.success(.changedMessage(try session.viewers.fetched(row, by: caller)))) }
    let isCounted = try rows.hasReaction(reaction, message: id.value)
    if isAdded, !isCounted, row.reactionCount >= ReactionRules.perMessage {
      return Outcome(
        .failure(
          Refusal(
            .tooLarge, "The message has \(ReactionRules.perMessage) different reactions already.",
            details: [.limit(name: "reactionsPerMessage", value: ReactionRules.perMessage)])))
    }
    let seq = try session.append(
      isAdded ? .reactionAdded : .reactionRemoved, at: now, conversation: facts.conversationKey, user: caller.key,
      message: id.value, payload: Array(reaction.utf8))
    if isAdded { try add(reaction, id.value, seq) } else { try remove(reaction, id.value) }
    return try finish(reaction, row.id, facts, seq, isAdded: isAdded)
  }

  private func add(_ reaction: String, _ id: Int64, _ seq: Seq) throws(StoreFailure) {
    let statements = session.statements
    try statements.newReaction.bind(id).bind(caller.key).bind(reaction).bind(seq.value).bind(now.value).run()
    if try statements.countReaction.bind(id).bind(reaction).first({ $0.integer(0) }) == nil {
      try statements.newReactionCount.bind(id).bind(reaction).bind(seq.value).run()
      try statements.changeReactionCount.bind(Int64(1)).bind(id).run()
    }
  }

  private func remove(_ reaction: String, _ id: Int64) throws(StoreFailure) {
    let statements = session.statements
    try statements.deleteReaction.bind(id).bind(caller.key).bind(reaction).run()
    if try statements.discountReaction.bind(id).bind(reaction).first({ $0.integer(0) }) == 0 {
      try statements.forgetReaction.bind(id).bind(reaction).run()
      try statements.changeReactionCount.bind(Int64(-1)).bind(id).run()
    }
  }

  private func finish(
    _ reaction: String, _ id: Int64, _ facts: MessageRows.Facts, _ seq: Seq, isAdded: Bool
  ) throws(StoreFailure) -> Outcome {
    let rows = session.viewers.rows
    let row = try rows.row(id)
    let change = ReactionChange(
      isAdded: isAdded, reaction: reaction, user: caller.row.user, at: now, message: try rows.whole(row))
    var progress: ThreadProgress?
    if let root = try facts.judged.root.flatMap({ root throws(StoreFailure) in
      try rows.facts(of: root, caller: caller)
    }) {
      progress = try session.viewers.progress(
        of: root.judged.id, author: root.senderKey, conversation: root.conversationKey, asOf: seq)
    }
    return Outcome(
      .success(.changedMessage(try session.viewers.fetched(row, by: caller))),
      events: [Event(seq: seq, body: .reaction(change), thread: progress)])
  }
}
