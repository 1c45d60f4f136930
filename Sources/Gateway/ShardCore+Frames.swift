import Chat
import Primitives
import Telemetry
import WebSocket
import Wire

/// The socket door: frames become messages, messages become operations, and connections close by the book.
extension ShardCore {
  mutating func readFrames(_ connection: ClientConnection, _ input: inout UnsafeMutableRawBufferPointer) {
    guard let event = connection.machine?.next(&input, inflater: compressor.inflater) else { return }
    switch event {
    case .needMore: break
    case .message(let kind, let payload): received(connection, kind, payload)
    case .ping(let payload): pong(connection, payload)
    case .pong: break
    case .close(let code, _): peerClosed(connection, code)
    case .failed(let failure):
      counters.protocolErrors(failure.kind).increment()
      close(connection, code: failure.code, reason: failure.reason)
      finish(connection)
    }
  }

  private mutating func pong(_ connection: ClientConnection, _ payload: UnsafeRawBufferPointer) {
    guard connection.phase != .closing else { return }
    let frame = compressor.controlFrame(.pong, payload, in: &outlets)
    outlets.send(frame, to: connection.handle, limitBytes: queueLimitBytes(connection), isUrgent: true)
  }

  private mutating func peerClosed(_ connection: ClientConnection, _ code: CloseCode?) {
    counters.peerClosed()
    if connection.phase != .closing {
      // RFC 6455 §5.5.1: the answer echoes the status code.
      sendCloseFrame(connection, code: code, reason: "")
      leave(connection)
    }
    finish(connection)
  }

  /// Sends our close frame; what arrives afterwards is read only for the peer's own close.
  mutating func close(_ connection: ClientConnection, code: CloseCode, reason: String) {
    guard connection.phase != .closing, connection.machine != nil else { return }
    counters.closes(code: Int(code.value)).increment()
    sendCloseFrame(connection, code: code, reason: reason)
    leave(connection)
    connection.phase = .closing
    setTimer(connection, seconds: settings.closeSeconds)
  }

  private mutating func sendCloseFrame(_ connection: ClientConnection, code: CloseCode?, reason: String) {
    connection.machine?.beginClose()
    let frame = compressor.closeFrame(code: code, reason: reason, in: &outlets)
    // Above the queue's limit on purpose: it is small, and it is the last.
    outlets.send(frame, to: connection.handle, limitBytes: .max)
  }

  /// Takes a session out of routing: from here on nothing is queued for it (R8).
  mutating func leave(_ connection: ClientConnection) {
    if connection.phase == .subscriber { echoSubscribers.removeAll { $0 == connection.handle.index } }
    leaveRoutes(connection)
  }

  mutating func leaveRoutes(_ connection: ClientConnection) {
    guard let session = connection.session else { return }
    let slot = connection.handle.index
    routes.leave(slot: slot, user: session.uid)
    if let device = session.device, slotOfDevice[device] == slot { slotOfDevice[device] = nil }
    counters.sessions.add(-1)
    connection.session = nil
    connection.replay = nil
  }

  mutating func overflowed(_ connection: ClientConnection) {
    guard connection.machine != nil else { return intents.append(.abort(connection.handle)) }
    close(connection, code: .slowConsumer, reason: "the outbound queue is full")
    // The queue is full because the peer does not read: it gets the time of a close handshake, not more.
    outlets.seal(connection.handle)
  }

  // MARK: Messages

  private mutating func received(
    _ connection: ClientConnection, _ kind: MessageKind, _ payload: UnsafeRawBufferPointer
  ) {
    switch connection.phase {
    case .echo: echo(connection, kind, payload)
    case .publisher: publish(kind, payload)
    case .subscriber, .closing: break
    case .connecting, .opening, .live:
      guard kind == .text else { return close(connection, code: .unsupportedData, reason: "text frames only") }
      counters.framesReceived.increment()
      received(connection, decoder.decodeFrame(payload))
    case .request, .answering, .upgrading: preconditionFailure("no frames before the upgrade")
    }
  }

  private mutating func received(_ connection: ClientConnection, _ request: FrameRequest) {
    if case .malformed(let refusal) = request {
      guard connection.phase == .live else {
        reply(connection, id: nil, refusal)
        if connection.phase == .connecting {
          refuseSession(connection, .unauthenticated, "the first frame must be connect")
        }
        return
      }
      return malformed(connection, refusal)
    }
    switch connection.phase {
    case .connecting: connect(connection, request)
    case .opening:
      guard connection.waitingOperations.count < settings.queuedBeforeHello else {
        return close(connection, code: .policyViolation, reason: "too many operations before the hello")
      }
      connection.waitingOperations.append(request)
    default: perform(connection, request)
    }
  }

  /// L8: answered without an id; a hundred a minute are forgiven.
  private mutating func malformed(_ connection: ClientConnection, _ refusal: Refusal) {
    if moment.instant > connection.malformedWindowEnds {
      connection.malformedWindowEnds = moment.instant.advanced(bySeconds: 60)
      connection.malformedInWindow = 0
    }
    connection.malformedInWindow += 1
    if connection.malformedInWindow > settings.malformedPerMinute {
      return close(connection, code: .policyViolation, reason: "too many malformed frames")
    }
    reply(connection, id: nil, refusal)
  }

  // MARK: Frames out

  /// One text message to one connection, deflated when that was agreed and pays.
  mutating func sendText(_ text: [UInt8], to connection: ClientConnection, limitBytes: Int? = nil) {
    let bits = outlets.windowBits(connection.handle)
    let frame = text.withUnsafeBytes { bytes in
      compressor.messageFrame(.text, bytes, windowBits: bits, in: &outlets)
    }
    outlets.send(frame, to: connection.handle, limitBytes: limitBytes ?? queueLimitBytes(connection))
  }

  private mutating func echo(_ connection: ClientConnection, _ kind: MessageKind, _ payload: UnsafeRawBufferPointer) {
    let bits = outlets.windowBits(connection.handle)
    let frame = compressor.messageFrame(kind, payload, windowBits: bits, use: .always, in: &outlets)
    outlets.send(frame, to: connection.handle, limitBytes: settings.echoOutboundBytes)
  }

  // MARK: Heartbeat

  /// L5: a ping and the position after every quiet interval; two pings without any byte since are the end.
  mutating func heartbeat(_ connection: ClientConnection) {
    if let session = connection.session, session.tokenExpiresAt != .never, session.tokenExpiresAt <= moment.unix {
      return close(connection, code: .tokenExpired, reason: "the token has expired")
    }
    let interval = heartbeatNanoseconds(connection)
    let quiet = moment.instant.nanoseconds(since: connection.lastActivity)
    if quiet < interval, connection.unansweredPings == 0 {
      return scheduleHeartbeat(connection, after: interval - quiet)
    }
    let progress = outlets.progress(connection.handle)
    if progress != connection.lastProgress, outlets.queuedBytes(connection.handle) > 0 {
      // The peer is reading a long queue: our ping waits in it, and nothing is wrong (C022).
      connection.unansweredPings = 0
    }
    connection.lastProgress = progress
    if connection.unansweredPings >= 2 {
      close(connection, code: .pongTimeout, reason: "two pings unanswered")
      outlets.seal(connection.handle)
      return
    }
    connection.unansweredPings += 1
    let ping = compressor.controlFrame(.ping, UnsafeRawBufferPointer(start: nil, count: 0), in: &outlets)
    outlets.send(ping, to: connection.handle, limitBytes: settings.outboundBytes)
    // During a replay everything up to its own position has been sent, and no more.
    sendText(EventEncoder.heartbeat(connection.replay?.after ?? position), to: connection)
    scheduleHeartbeat(connection, after: interval)
  }

  /// The interval ± 10 %, spread by slot so that sessions that came together do not beat together.
  private func heartbeatNanoseconds(_ connection: ClientConnection) -> UInt64 {
    let base = UInt64(settings.heartbeatSeconds) * 1_000_000_000
    let spread = (UInt64(connection.handle.index) &* 0x9E37_79B9_7F4A_7C15) >> 48
    return base - base / 10 + (base / 5) / 65_536 * spread
  }

  mutating func startHeartbeat(_ connection: ClientConnection) {
    scheduleHeartbeat(connection, after: heartbeatNanoseconds(connection))
  }

  private mutating func scheduleHeartbeat(_ connection: ClientConnection, after nanoseconds: UInt64) {
    var deadline = moment.instant.advanced(byNanoseconds: nanoseconds)
    if let session = connection.session, session.tokenExpiresAt != .never {
      let left = max(session.tokenExpiresAt.value - moment.unix.value, 0)
      deadline = min(deadline, moment.instant.advanced(bySeconds: UInt64(left)))
    }
    setTimer(connection, at: deadline)
  }
}
