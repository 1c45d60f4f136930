import CLinux
import Primitives
import Telemetry

extension EventLoop {
  /// A TLS connection was accepted. Handshakes are watched one event at a time, so that those beyond a turn's budget
  /// are not reported again while they wait in the list.
  func beginHandshake(_ handle: Handle) {
    let slot = Int(handle.index)
    handshaking += 1
    let deadline = now.advanced(byMilliseconds: configuration.handshakeTimeoutMilliseconds)
    connections[slot].timer = timers.schedule(handle.bits, at: deadline)
    watchHandshake(handle, clinux_EPOLLIN)
  }

  private func watchHandshake(_ handle: Handle, _ events: UInt32) {
    let slot = Int(handle.index)
    let operation = connections[slot].armed == nil ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
    let descriptor = connections[slot].descriptor
    System.epollControl(epoll, operation, descriptor, events: events | clinux_EPOLLONESHOT, data: handle.bits)
    connections[slot].armed = events
  }

  /// Works on the oldest waiting handshakes, at most a turn's budget.
  func continueHandshakes(_ handler: any LoopHandler) {
    var budget = configuration.handshakesPerTurn
    while budget > 0, let handle = handshakes.pop() {
      let slot = Int(handle.index)
      guard connections.contains(handle), connections[slot].state == .handshaking,
        let session = connections[slot].tls
      else { continue }
      budget -= 1
      session.socketMayHaveMore()
      switch session.handshake() {
      case .wantsRead: watchHandshake(handle, clinux_EPOLLIN)
      case .wantsWrite: watchHandshake(handle, clinux_EPOLLOUT)
      case .failed:
        metrics.handshakesFailed.increment()
        finish(handle, .tlsFailure)
      case .done:
        metrics.handshakesDone.increment()
        if session.isResumed { metrics.handshakesResumed.increment() }
        handshaking -= 1
        timers.cancel(connections[slot].timer)
        connections[slot].timer = .none
        open(handle, handler)
        // What came in one segment with the end of the handshake is in OpenSSL's buffer, not in the socket (C020).
        if connections.contains(handle), connections[slot].state == .open, !connections[slot].isPaused {
          queueForReading(handle)
        }
      }
    }
  }
}
