import CLinux
import Glibc
import Primitives
import Telemetry

extension EventLoop {
  func armListeners() {
    guard !listenersAreArmed, !stopsAccepting else { return }
    listenersAreArmed = true
    for (index, listener) in listeners.enumerated() {
      let sharing = listener.group.isShared ? clinux_EPOLLEXCLUSIVE : 0
      System.epollControl(
        epoll, EPOLL_CTL_ADD, listener.descriptor, events: clinux_EPOLLIN | sharing, data: UInt64(index))
    }
  }

  func disarmListeners() {
    guard listenersAreArmed else { return }
    listenersAreArmed = false
    for listener in listeners { System.epollControl(epoll, EPOLL_CTL_DEL, listener.descriptor, events: 0, data: 0) }
  }

  /// Accepts what waits on one listener, a bounded number, so that one burst does not own the turn.
  func acceptBurst(_ index: Int, _ handler: any LoopHandler) {
    var accepted = 0
    while accepted < configuration.acceptsPerTurn, listenersAreArmed {
      if connections.isFull { return restListeners("this loop's connection limit") }
      var storage = sockaddr_storage()
      let result = System.accept(listeners[index].descriptor, &storage)
      guard result >= 0 else {
        if connectionDiedWaiting(Int32(-result)) { continue }
        return
      }
      accepted += 1
      if let since = acceptPausedSince { tellAcceptingResumed(since) }
      acceptPauseMilliseconds = configuration.acceptPauseMilliseconds
      metrics.accepted.increment()
      enter(Int32(result), PeerAddress(&storage), index, handler)
    }
  }

  /// Sorts an accept error.
  /// - Returns: true when the next waiting connection may be tried at once.
  private func connectionDiedWaiting(_ code: Int32) -> Bool {
    switch code {
    case EAGAIN: return false
    case EMFILE, ENFILE, ENOBUFS, ENOMEM:
      // The connection stays in the backlog, so the listener stays readable: asking again at once would spin (C016).
      restListeners(System.describe(code))
      return false
    case ECONNABORTED, EPROTO, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH, EPERM:
      return true
    default:
      preconditionFailure("accept failed in a way it never should: errno \(code)")
    }
  }

  /// Stops accepting for a while. The first pause of a row is told, the row's end too (C016).
  private func restListeners(_ reason: String) {
    metrics.acceptPauses.increment()
    if acceptPausedSince == nil {
      acceptPausedSince = now
      log?.warning("accept_paused", ["reason": .text(reason), "connections": .number(connections.count)])
    }
    disarmListeners()
    acceptResumesAt = now.advanced(byMilliseconds: acceptPauseMilliseconds)
    acceptPauseMilliseconds = min(acceptPauseMilliseconds * 2, 1000)
  }

  private func tellAcceptingResumed(_ since: Instant) {
    acceptPausedSince = nil
    log?.info(
      "accept_resumed",
      ["paused_ms": .number(now.milliseconds(since: since)), "connections": .number(connections.count)])
  }

  func resumeAccepting() {
    acceptResumesAt = .never
    armListeners()
  }

  private func enter(_ descriptor: Int32, _ peer: PeerAddress, _ listener: Int, _ handler: any LoopHandler) {
    guard handler.admits(peer) else {
      metrics.refused.increment()
      System.close(descriptor)
      return
    }
    if let bytes = configuration.sendBufferBytes { _ = System.setOption(descriptor, SOL_SOCKET, SO_SNDBUF, bytes) }
    if let bytes = configuration.receiveBufferBytes { _ = System.setOption(descriptor, SOL_SOCKET, SO_RCVBUF, bytes) }
    var connection = Connection(
      descriptor: descriptor, state: .open, listener: listener, peer: peer, tls: nil, armed: nil)
    if let slot = listeners[listener].group.tls {
      guard handshaking < configuration.handshakeLimit else {
        metrics.refused.increment()
        System.close(descriptor)
        handler.abandoned(peer)
        return
      }
      connection.tls = TLSSession(slot.current, descriptor: descriptor)
      connection.state = .handshaking
      let handle = connections.insert(connection)
      beginHandshake(handle)
      return
    }
    let handle = connections.insert(connection)
    open(handle, handler)
  }

  /// From here on the handler knows the connection.
  func open(_ handle: Handle, _ handler: any LoopHandler) {
    let slot = Int(handle.index)
    connections[slot].state = .open
    connections[slot].wasOpened = true
    syncInterest(handle)
    let listener = connections[slot].listener
    let peer = connections[slot].peer
    handler.opened(handle, listener: listener, peer: peer)
  }
}
