import Chat
import HTTP1
import Primitives
import Telemetry
import WebSocket

/// From a committed batch to the queues of the sessions that it concerns (R1, R4, R5).
extension ShardCore {
  /// Steps in order, and within a step its events before its reply: so every session sees seqs rise, and no reply to
  /// a send comes after a later event (R4, L3).
  mutating func committed(_ batch: CommittedBatch) {
    for step in batch.steps {
      for delivery in step.deliveries { route(delivery) }
      if let address = step.replyTo, address.shard == index, let reply = step.reply { answer(address, reply) }
    }
    position = max(position, batch.head)
    openThoseReached()
  }

  private mutating func route(_ delivery: CommittedStep.Delivery) {
    let event = delivery.event
    var excluded: UInt32?
    if let session = delivery.excluded, session.shard == index, outlets.isOpen(session.connection) {
      excluded = session.connection.index
      connection(session.connection)?.replay?.note(own: event.seq)
    }
    recent.record(event)
    switch event.body {
    case .groupMember(let change): if change.action.isMemberAfter == true { join(change) }
    case .threadSubscription(let change): follow(change)
    case .tokensRevoked(let user, let hash): revoke(user, hash)
    case .message, .messageChanged, .reaction: break
    }
    broadcast(delivery.text, to: recipients(of: event), except: excluded)
    for slot in outlets.takeHeld() {
      connection(outlets.handle(ofSlot: slot))?.replay?.hold(
        event.seq, delivery.text, limitBytes: settings.replayPageBytes)
    }
    switch event.body {
    case .message: hint(of: event, origin: excluded)
    case .groupMember(let change) where change.action.isMemberAfter == false:
      for slot in routes.sessions(of: change.user.uid) {
        routes.leave(slot: slot, group: change.group.guid)
        connection(outlets.handle(ofSlot: slot))?.replay?.forget(change.group.guid)
      }
    default: break
    }
  }

  /// R1, R2.
  private func recipients(of event: Event) -> [UInt32] {
    if event.thread != nil { return recipientsInThread(of: event) }
    switch event.audience {
    case .nobody: return []
    case .user(let user): return routes.sessions(of: user)
    case .group(let group): return everySession(of: group)
    case .oneOnOne(let a, let b): return participants(a, b)
    case .groupAndUser(let group, let user):
      return everySession(of: group) + routes.sessions(of: user).filter { !routes.isMember(slot: $0, of: group) }
    }
  }

  private func everySession(of group: GroupID) -> [UInt32] {
    let selective = routes.selectiveSessions(of: group)
    return selective.isEmpty
      ? routes.everyReplySessions(of: group) : routes.everyReplySessions(of: group) + selective
  }

  /// Keeps the seats of sessions that want the replies of threads that their user follows.
  private mutating func follow(_ change: SubscriptionChange) {
    for slot in routes.sessions(of: change.user) where routes.choice(of: slot) == .subscribed {
      if change.isSubscribed {
        oweHint(of: change.root, slot)
        routes.follow(slot: slot, ThreadPlace(root: change.root, conversation: change.conversation))
      } else {
        routes.unfollow(slot: slot, root: change.root)
      }
    }
  }

  private mutating func join(_ change: MembershipChange) {
    for slot in routes.sessions(of: change.user.uid) { routes.join(slot: slot, group: change.group.guid) }
  }

  /// Ends the sessions that live by a token (R8); nil means all of the user's.
  private mutating func revoke(_ user: UserID, _ tokenHash: [UInt8]?) {
    for slot in routes.sessions(of: user) {
      guard let connection = connection(outlets.handle(ofSlot: slot)), let session = connection.session,
        tokenHash == nil || session.tokenHash == tokenHash
      else { continue }
      close(connection, code: .tokenRevoked, reason: "the token was revoked")
    }
  }

  /// One frame for all: encoded by the committer, framed here once, deflated at most once per window size.
  mutating func broadcast(_ text: [UInt8], to slots: [UInt32], except excluded: UInt32?) {
    guard !slots.isEmpty else { return }
    text.withUnsafeBytes { bytes in
      fanOut(.text, bytes, to: slots, except: excluded, limitBytes: sessionLimitBytes)
    }
  }

  /// As above for what may be left out: a session whose queue is half full does not get it (R7).
  mutating func broadcastEphemeral(_ text: [UInt8], to slots: [UInt32]) {
    guard !slots.isEmpty else { return }
    text.withUnsafeBytes { bytes in
      fanOut(.text, bytes, to: slots, except: nil, limitBytes: sessionLimitBytes / 2, isEphemeral: true)
    }
    _ = outlets.takeHeld()
    counters.shedEvents.add(UInt64(outlets.takeShedCount()))
  }

  private mutating func fanOut(
    _ kind: MessageKind, _ payload: UnsafeRawBufferPointer, to slots: [UInt32], except excluded: UInt32?,
    limitBytes: Int, isEphemeral: Bool = false
  ) {
    let compressor = self.compressor
    let plain = compressor.messageFrame(kind, payload, windowBits: 0, in: &outlets)
    var set = FrameSet(plain: plain, plainBytes: outlets.byteCount(of: plain))
    let delivered = slots.withUnsafeBufferPointer { slots in
      outlets.broadcast(
        &set, to: slots, except: excluded, limitBytes: limitBytes, isEphemeral: isEphemeral
      ) { bits, pool in
        compressor.deflatedFrame(kind, payload, windowBits: bits, in: &pool)
      }
    }
    outlets.finish(set)
    counters.deliveries.add(UInt64(delivered))
  }

  // MARK: The echo endpoints (S4)

  mutating func publish(_ kind: MessageKind, _ payload: UnsafeRawBufferPointer) {
    fanOut(kind, payload, to: echoSubscribers, except: nil, limitBytes: settings.echoOutboundBytes)
    if counters.hasOtherShards {
      publications.append(.published(PublishedMessage(bytes: Array(payload), isText: kind == .text)))
    }
  }

  /// What was published on another shard.
  mutating func fanOut(_ message: PublishedMessage) {
    message.bytes.withUnsafeBytes { bytes in
      fanOut(
        message.isText ? .text : .binary, bytes, to: echoSubscribers, except: nil,
        limitBytes: settings.echoOutboundBytes)
    }
  }

  // MARK: Drain (S7)

  /// Refuses new upgrades and sends every session away with its own delay, spread evenly. A session with requests under
  /// way is read no further and goes when they are answered.
  mutating func drain(seconds: Int) {
    guard !isDraining else { return }
    isDraining = true
    drainMilliseconds = max(seconds, 1) * 1000
    for connection in connections {
      guard let connection else { continue }
      if connection.phase == .live, connection.requestsInFlight > 0 {
        pauseReading(connection)
      } else if connection.machine != nil {
        sendAway(connection)
      } else if connection.phase == .request, connection.parser?.isIdle == true {
        // Nothing of a request has come; one that has begun is answered, and its connection closed behind it.
        finish(connection)
      }
    }
  }

  mutating func sendAway(_ connection: ClientConnection) {
    // Steps of the golden ratio fill the span evenly, however many slots are in use.
    let number = UInt64(connection.handle.index) << 8 | UInt64(index & 255)
    let fraction = (number &* 0x9E37_79B9_7F4A_7C15) >> 32
    let delay = (fraction &* UInt64(drainMilliseconds)) >> 32
    close(connection, code: .draining, reason: "{\"reconnectAfterMs\":\(delay)}")
  }
}
