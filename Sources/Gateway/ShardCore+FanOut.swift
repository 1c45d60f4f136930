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
    }
    switch event.body {
    case .groupMember(let change):
      recent.record(event)
      if change.action.isMemberAfter == true { join(change) }
    case .tokensRevoked(let user, let hash):
      recent.record(event)
      revoke(user, hash)
    case .message, .threadSubscription: break
    }
    switch event.audience {
    case .nobody: break
    case .user(let user): broadcast(delivery.text, to: routes.sessions(of: user), except: excluded)
    case .group(let group): broadcast(delivery.text, to: routes.sessions(of: group), except: excluded)
    case .oneOnOne(let a, let b):
      var slots = routes.sessions(of: a)
      if a != b { slots += routes.sessions(of: b) }
      broadcast(delivery.text, to: slots, except: excluded)
    case .groupAndUser(let group, let user):
      var slots = routes.sessions(of: group)
      slots += routes.sessions(of: user).filter { !routes.isMember(slot: $0, of: group) }
      broadcast(delivery.text, to: slots, except: excluded)
    }
    if case .groupMember(let change) = event.body, change.action.isMemberAfter == false {
      for slot in routes.sessions(of: change.user.uid) { routes.leave(slot: slot, group: change.group.guid) }
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
  private mutating func broadcast(_ text: [UInt8], to slots: [UInt32], except excluded: UInt32?) {
    guard !slots.isEmpty else { return }
    text.withUnsafeBytes { bytes in
      fanOut(.text, bytes, to: slots, except: excluded, limitBytes: settings.outboundBytes)
    }
  }

  private mutating func fanOut(
    _ kind: MessageKind, _ payload: UnsafeRawBufferPointer, to slots: [UInt32], except excluded: UInt32?,
    limitBytes: Int
  ) {
    let compressor = self.compressor
    let plain = compressor.messageFrame(kind, payload, windowBits: 0, in: &outlets)
    var set = FrameSet(plain: plain, plainBytes: outlets.byteCount(of: plain))
    let delivered = slots.withUnsafeBufferPointer { slots in
      outlets.broadcast(&set, to: slots, except: excluded, limitBytes: limitBytes) { bits, pool in
        compressor.deflatedFrame(kind, payload, windowBits: bits, in: &pool)
      }
    }
    outlets.finish(set)
    counters.deliveries.add(UInt64(delivered))
  }

  // MARK: The echo endpoints (S4)

  mutating func publish(_ kind: MessageKind, _ payload: UnsafeRawBufferPointer) {
    fanOut(kind, payload, to: echoSubscribers, except: nil, limitBytes: settings.echoOutboundBytes)
    if counters.hasOtherShards { publications.append(PublishedMessage(bytes: Array(payload), isText: kind == .text)) }
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
    let delay = Int(connection.handle.index &* 2_654_435_761 >> 8) % drainMilliseconds
    close(connection, code: .draining, reason: "{\"reconnectAfterMs\":\(delay)}")
  }
}
