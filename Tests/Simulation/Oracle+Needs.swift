import Chat

/// Whom an event concerns (R1, R2, R6, M15, T15), by the log.
extension Oracle {
  enum Need: Hashable {
    case must
    /// The contract leaves it open: a change is on its way, or a state event may be folded into a later one.
    case may
    case mustNot
  }

  func need(_ entry: LogEntry, _ view: ConnectionView) -> Need {
    if !view.isResumed || entry.seq > view.replayEnd { return live(entry, view) }
    if entry.seq <= view.headAtConnect { return replay(entry, view) }
    let (live, replay) = (live(entry, view), replay(entry, view))
    return live == replay ? live : .may
  }

  private func isOwn(_ entry: LogEntry, _ view: ConnectionView) -> Bool { entry.origin?.connection == view.number }

  private func live(_ entry: LogEntry, _ view: ConnectionView) -> Need {
    switch entry.body {
    case .message(let message), .change(_, let message, _), .reaction(let message, _, _, _):
      if isOwn(entry, view) { return .mustNot }
      var memberSince: Int64 = 0
      switch message.conversation {
      case .oneOnOne: guard message.isPair(with: view.user) else { return .mustNot }
      case .group(let group):
        guard let period = model.period(of: view.user, in: group, at: entry.seq) else { return .mustNot }
        memberSince = period.from
      }
      guard message.root != 0 else { return .must }
      let isSubscribed = model.isSubscribed(view.user, to: message.root, upTo: entry.seq - 1)
      return choose(
        message, view, at: entry.seq, memberSince: memberSince,
        mention: mention(in: entry, of: view.user, inReplay: false), subscription: (isSubscribed, isSubscribed),
        inReplay: false)
    case .subscription(let user, _, _, _, let isExplicit):
      guard user == view.user else { return .mustNot }
      return isExplicit && isOwn(entry, view) ? .mustNot : .must
    case .membership(let group, let user, _):
      if isOwn(entry, view) { return .mustNot }
      if user == view.user { return .must }
      return model.period(of: view.user, in: group, at: entry.seq) == nil ? .mustNot : .must
    case .revocation: return .mustNot
    }
  }

  private func replay(_ entry: LogEntry, _ view: ConnectionView) -> Need {
    guard entry.seq > view.start else { return .mustNot }
    switch entry.body {
    case .message(let message), .change(_, let message, _), .reaction(let message, _, _, _):
      var memberSince: Int64 = 0
      var isSure = true
      switch message.conversation {
      case .oneOnOne: guard message.isPair(with: view.user) else { return .mustNot }
      case .group(let group):
        switch still(view, group, entry.seq) {
        case .must: memberSince = model.period(of: view.user, in: group, at: entry.seq)?.from ?? 0
        case .may: isSure = false
        case .mustNot: return .mustNot
        }
      }
      var need = Need.must
      if message.root != 0, message.sender != view.user {
        let end = view.replayEnd == .max ? model.head : view.replayEnd
        let states = model.subscription(
          view.user, to: message.root, from: view.headAtConnect, to: max(end, view.headAtConnect))
        need = choose(
          message, view, at: entry.seq, memberSince: memberSince,
          mention: mention(in: entry, of: view.user, inReplay: true), subscription: (states.ever, states.always),
          inReplay: true)
      }
      return need == .must && (!isSure || isOwn(entry, view)) ? .may : need
    case .subscription(let user, let root, let conversation, _, _):
      guard user == view.user else { return .mustNot }
      // A state: its last one is enough, and none when the membership is over.
      if case .group(let group) = conversation, still(view, group, entry.seq) != .must { return .may }
      return hasLaterWord(user, root, entry.seq) ? .may : .must
    case .membership(let group, let user, let action):
      if user == view.user, action.isMemberAfter == false { return .must }
      let need = still(view, group, entry.seq)
      return user == view.user && need == .mustNot ? .may : need
    case .revocation: return .mustNot
    }
  }

  private func hasLaterWord(_ user: UserID, _ root: Int64, _ seq: Int64) -> Bool {
    model.log[model.firstIndex(after: seq)...].contains { entry in
      guard case .subscription(user, root, _, _, _) = entry.body else { return false }
      return true
    }
  }

  /// R6: a member at the event's seq, and still one. Who came back after leaving may get the earlier time or not.
  private func still(_ view: ConnectionView, _ group: GroupID, _ seq: Int64) -> Need {
    guard let period = model.period(of: view.user, in: group, at: seq) else { return .mustNot }
    guard let end = period.to else { return .must }
    if end > view.headAtConnect { return .may }
    return model.isMember(view.user, of: group) ? .may : .mustNot
  }

  /// Whether the message mentions the user, or did before the change: in a replay as it is now, whenever that is.
  private func mention(in entry: LogEntry, of user: UserID, inReplay: Bool) -> (ever: Bool, always: Bool) {
    let message: MessageFact
    switch entry.body {
    case .message(let named), .reaction(let named, _, _, _): message = named
    case .change(_, let changed, let former):
      if former.contains(user) { return (true, true) }
      message = changed
    default: return (false, false)
    }
    guard inReplay else { return (message.mentions.contains(user), message.mentions.contains(user)) }
    let versions = model.versions[message.id] ?? [message]
    return (versions.contains { $0.mentions.contains(user) }, versions.allSatisfy { $0.mentions.contains(user) })
  }

  /// R2: which replies a session gets.
  private func choose(
    _ message: MessageFact, _ view: ConnectionView, at seq: Int64, memberSince: Int64,
    mention: (ever: Bool, always: Bool), subscription: (ever: Bool, always: Bool), inReplay: Bool
  ) -> Need {
    if mention.always { return .must }
    let opening = view.opening(of: message.root, at: seq, memberSince: memberSince, inReplay: inReplay)
    if opening.maybeOpen, !opening.maybeClosed { return .must }
    var answers: Set<Need> = []
    if opening.maybeOpen || mention.ever { answers.insert(.must) }
    for choice in view.choices(at: seq, inReplay: inReplay) {
      switch choice {
      case .all: answers.insert(.must)
      case .open, .none: answers.insert(.mustNot)
      case .subscribed:
        answers.insert(subscription.always ? .must : subscription.ever ? .may : .mustNot)
      }
    }
    let answer = answers.count == 1 ? answers.first ?? .may : .may
    // The contract does not say whether a user's other sessions get the user's own replies against their choice.
    return answer == .mustNot && message.sender == view.user ? .may : answer
  }

  // MARK: When everything is quiet

  /// What a live session must have by now: everything up to the log's end, an answer to each request, and a hint for
  /// each thread of which it did not get a reply.
  func judgeQuiet(_ view: ConnectionView) {
    let end = model.log.last?.seq ?? 0
    expect(view.confirmed >= end, view, "L5: at rest the session is at \(view.confirmed) of \(end)")
    expect(view.pending.isEmpty, view, "L3: no reply to \(view.pending.keys.sorted())")
    var owed: [Int64: Int64] = [:]
    for entry in model.log[model.firstIndex(after: view.start)...] {
      guard case .message(let message) = entry.body, message.root != 0, !view.received.contains(entry.seq),
        !isOwn(entry, view), need(entry, view) == .mustNot, isPresentSince(message, entry.seq, view)
      else { continue }
      owed[message.root] = max(owed[message.root] ?? 0, entry.seq)
    }
    for (root, reply) in owed.sorted(by: { $0.key < $1.key }) {
      let told = view.hints[root]?.latest ?? 0
      expect(told >= reply, view, "R3: the last hint of \(root) is at \(told), its reply \(reply) was not sent")
    }
  }

  private func isPresentSince(_ message: MessageFact, _ seq: Int64, _ view: ConnectionView) -> Bool {
    switch message.conversation {
    case .oneOnOne: message.isPair(with: view.user)
    case .group(let group):
      model.period(of: view.user, in: group, at: seq).map { $0.to == nil } ?? false
    }
  }
}
