import Chat
import Primitives
import Store
import Wire

/// Which replies a session hears of (R2), the hints for the others (R3), and what is ephemeral (R9).
extension ShardCore {
  // MARK: Choices

  /// L7 `session.update`. Only `subscribed` needs the store: the threads that the user follows.
  mutating func updateSession(
    _ connection: ClientConnection, _ id: RequestID, _ replies: ReplyChoice?, isForeground: Bool?
  ) {
    if let isForeground { connection.session?.isForeground = isForeground }
    let slot = connection.handle.index
    if let replies {
      connection.choiceUpdate = nil
      if replies == .subscribed, routes.choice(of: slot) != .subscribed, let session = connection.session {
        connection.choiceUpdate = id
        let address = beginRequest(connection, id)
        return reads.append(ReadRequest(.followed(session.uid), replyTo: address))
      }
      choose(replies, connection)
    }
    sendText(ReplyEncoder.success(id, sessionChoice(connection)), to: connection)
  }

  mutating func followedLoaded(_ address: ReplyAddress, _ result: Result<SessionSnapshot, Refusal>) {
    guard let connection = connection(address.connection) else { return }
    guard connection.phase == .live, let session = connection.session, case .socket(let id) = address.form,
      connection.choiceUpdate == id
    else { return answer(address, Reply.make(for: address.form, .success(sessionChoice(connection)))) }
    switch result {
    case .failure(let refusal):
      connection.choiceUpdate = nil
      answer(address, Reply.make(for: address.form, .failure(refusal)))
    case .success(let snapshot):
      guard snapshot.head <= position else {
        return ahead.append((snapshot.head, .followedLoaded(address, result)))
      }
      let loaded = RecentChanges.Standing(groups: Set(snapshot.groups), followed: Set(snapshot.followed))
      guard let standing = recent.bringUp(loaded, of: session.uid, since: snapshot.head) else {
        return reads.append(ReadRequest(.followed(session.uid), replyTo: address))
      }
      connection.choiceUpdate = nil
      choose(.subscribed, connection)
      for place in standing.followed { routes.follow(slot: connection.handle.index, place) }
      answer(address, Reply.make(for: address.form, .success(sessionChoice(connection))))
    }
  }

  private func sessionChoice(_ connection: ClientConnection) -> Answer {
    .sessionChoice(
      routes.choice(of: connection.handle.index), isForeground: connection.session?.isForeground ?? false)
  }

  /// A hint that still waits for replies which the session did not get is not forgotten.
  private mutating func choose(_ replies: ReplyChoice, _ connection: ClientConnection) {
    let slot = connection.handle.index
    let before = routes.choice(of: slot)
    guard before != replies else { return }
    if before != .all {
      for hint in hints.allPending where needs(hint, slot) { hints.owe(hint.progress.root, to: connection.handle) }
    }
    routes.setChoice(replies, slot: slot)
  }

  // MARK: Open threads

  /// L7 `thread.open`: the store knows where the thread is and whether the user may see it.
  mutating func openThread(_ connection: ClientConnection, _ id: RequestID, _ root: MessageID) {
    guard let session = connection.session else { return }
    if routes.seat(of: connection.handle.index, in: root)?.isOpened == true {
      return sendText(ReplyEncoder.success(id, .openThread(root, isOpen: true)), to: connection)
    }
    let count = routes.openedCount(connection.handle.index) + connection.openingThreads.count
    guard count < settings.limits.openThreads || connection.openingThreads.contains(root) else {
      return reply(
        connection, id: id,
        Refusal(
          .tooLarge, "The session has \(settings.limits.openThreads) threads open: close one first.",
          details: [.limit(name: "openThreads", value: settings.limits.openThreads)]))
    }
    connection.openingThreads.insert(root)
    let address = beginRequest(connection, id)
    reads.append(ReadRequest(.thread(root, session.uid), replyTo: address))
  }

  mutating func threadFound(_ address: ReplyAddress, _ root: MessageID, _ result: Result<ThreadPlace, Refusal>) {
    guard let connection = connection(address.connection) else { return }
    // Closed again in the meantime: the later wish wins.
    let isWanted = connection.openingThreads.remove(root) != nil
    var answered = result.map { Answer.openThread($0.root, isOpen: false) }
    if case .success(let place) = result, isWanted, connection.phase == .live {
      let slot = connection.handle.index
      oweHint(of: place.root, slot)
      // A membership that ended meanwhile ends the wish, too.
      answered =
        routes.open(slot: slot, place)
        ? .success(.openThread(place.root, isOpen: true)) : .failure(Refusal(.messageNoAccess))
    }
    answer(address, Reply.make(for: address.form, answered))
  }

  mutating func closeThread(_ connection: ClientConnection, _ id: RequestID, _ root: MessageID) {
    connection.openingThreads.remove(root)
    routes.close(slot: connection.handle.index, root: root)
    sendText(ReplyEncoder.success(id, .openThread(root, isOpen: false)), to: connection)
  }

  // MARK: Replies

  /// The sessions that get a reply or what is done to one: those that get every reply, those with a seat in the thread,
  /// and those of the people whom it mentions. Without selective sessions that is the group's own list, untouched.
  func recipientsInThread(of event: Event) -> [UInt32] {
    switch event.audience {
    case .group(let group):
      let everyReply = routes.everyReplySessions(of: group)
      let selective = routes.selectiveSessions(of: group)
      guard !selective.isEmpty, let reach = event.reach else { return everyReply }
      if reach.mentionsAll { return everyReply + selective }
      var slots = everyReply
      for slot in routes.seated(in: reach.root) where routes.choice(of: slot) != .all { slots.append(slot) }
      for slot in unseated(reach) where routes.isMember(slot: slot, of: group) { slots.append(slot) }
      return slots
    case .oneOnOne(let a, let b):
      guard let reach = event.reach else { return [] }
      let extra = unseated(reach)
      return participants(a, b).filter { slot in
        routes.choice(of: slot) == .all || routes.seat(of: slot, in: reach.root) != nil || extra.contains(slot)
      }
    case .groupAndUser, .user, .nobody: return []
    }
  }

  /// Selective sessions without a seat that get the reply all the same: mentioned people's, and those of who follows
  /// without being in the index yet.
  private func unseated(_ reach: ThreadReach) -> [UInt32] {
    var slots: [UInt32] = []
    for person in reach.mentioned {
      for slot in routes.sessions(of: person) where isUnseated(slot, reach.root) { slots.append(slot) }
    }
    for person in reach.followers where !reach.mentioned.contains(person) {
      for slot in routes.sessions(of: person) where routes.choice(of: slot) == .subscribed {
        if isUnseated(slot, reach.root) { slots.append(slot) }
      }
    }
    return slots
  }

  private func isUnseated(_ slot: UInt32, _ root: MessageID) -> Bool {
    routes.choice(of: slot) != .all && routes.seat(of: slot, in: root) == nil
  }

  func participants(_ a: UserID, _ b: UserID) -> [UInt32] {
    a == b ? routes.sessions(of: a) : routes.sessions(of: a) + routes.sessions(of: b)
  }

  // MARK: Hints (R3)

  /// Notes that not everybody got a reply.
  mutating func hint(of event: Event, origin: UInt32?) {
    guard let thread = event.thread, let reach = event.reach, !reach.mentionsAll,
      !selectiveSessions(of: reach.conversation).isEmpty
    else { return }
    let hint = ThreadHints.Hint(
      progress: thread, conversation: reach.conversation, reached: Set(reach.mentioned), followers: reach.followers,
      origin: origin)
    if let due = hints.note(hint, at: moment.instant) { sweep(due) }
  }

  /// Before the session takes a seat in the thread: of replies that it did not get, it hears all the same.
  mutating func oweHint(of root: MessageID, _ slot: UInt32) {
    guard let hint = hints.pending(root), routes.choice(of: slot) != .all, needs(hint, slot) else { return }
    hints.owe(root, to: outlets.handle(ofSlot: slot))
  }

  mutating func sweepDueHints() {
    for hint in hints.due(at: moment.instant) { sweep(hint) }
  }

  private mutating func sweep(_ hint: ThreadHints.Hint) {
    var slots = selectiveSessions(of: hint.conversation).filter { needs(hint, $0) }
    for handle in hint.owed where !slots.contains(handle.index) && takesPart(handle.index, in: hint.conversation) {
      if connection(handle)?.phase == .live { slots.append(handle.index) }
    }
    deliver(hint: hint, to: slots)
  }

  private mutating func deliver(hint: ThreadHints.Hint, to slots: [UInt32]) {
    guard !slots.isEmpty else { return }
    let text = EventEncoder.threadUpdated(hint.progress)
    broadcast(text, to: slots, except: nil)
    for slot in outlets.takeHeld() {
      connection(outlets.handle(ofSlot: slot))?.replay?.hold(
        hint: text, of: ThreadPlace(root: hint.progress.root, conversation: hint.conversation),
        asOf: hint.progress.asOf)
    }
  }

  private func selectiveSessions(of conversation: Conversation) -> [UInt32] {
    switch conversation {
    case .group(let group): routes.selectiveSessions(of: group)
    case .oneOnOne(let a, let b): participants(a, b).filter { routes.choice(of: $0) != .all }
    }
  }

  func takesPart(_ slot: UInt32, in conversation: Conversation) -> Bool {
    switch conversation {
    case .group(let group): routes.isMember(slot: slot, of: group)
    case .oneOnOne(let a, let b):
      connection(outlets.handle(ofSlot: slot))?.session.map { $0.uid == a || $0.uid == b } ?? false
    }
  }

  /// Whether a selective session missed one of the replies that the hint stands for.
  private func needs(_ hint: ThreadHints.Hint, _ slot: UInt32) -> Bool {
    if slot == hint.origin || routes.seat(of: slot, in: hint.progress.root) != nil { return false }
    guard let user = connection(outlets.handle(ofSlot: slot))?.session?.uid else { return false }
    if hint.reached.contains(user) { return false }
    return !(routes.choice(of: slot) == .subscribed && hint.followers.contains(user))
  }

  // MARK: Ephemeral events (R9)

  mutating func typing(_ connection: ClientConnection, _ id: RequestID, _ notice: TypingNotice) {
    guard let session = connection.session else { return }
    if case .group(let group) = notice.receiver, !routes.isMember(slot: connection.handle.index, of: group) {
      return reply(connection, id: id, Refusal(.groupNotJoined))
    }
    let event = EphemeralEvent(
      conversation: Conversation(from: session.uid, to: notice.receiver), sender: session.uid,
      text: EventEncoder.typing(notice, by: session.uid))
    fanOut(event)
    if counters.hasOtherShards { publications.append(.ephemeral(event)) }
    sendText(ReplyEncoder.success(id, .done), to: connection)
  }

  /// To the conversation's other people; a session whose queue is half full goes without (R7).
  mutating func fanOut(_ event: EphemeralEvent) {
    let slots: [UInt32]
    switch event.conversation {
    case .group(let group): slots = routes.everyReplySessions(of: group) + routes.selectiveSessions(of: group)
    case .oneOnOne(let a, let b): slots = routes.sessions(of: a == event.sender ? b : a)
    }
    let own = routes.sessions(of: event.sender)
    broadcastEphemeral(event.text, to: slots.filter { !own.contains($0) })
  }
}
