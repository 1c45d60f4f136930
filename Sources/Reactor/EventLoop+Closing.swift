import CLinux
import Glibc
package import Primitives
import Telemetry

extension EventLoop {
  /// Ends a connection. The handler hears nothing more of it but `closed`, later. Closing one that is already closing
  /// gracefully changes something only for `abort`; a stale handle changes nothing.
  package func close(_ connection: Handle, _ mode: CloseMode) {
    let slot = Int(connection.index)
    guard connections.contains(connection), connections[slot].state != .dead else { return }
    switch mode {
    case .abort:
      System.resetOnClose(connections[slot].descriptor)
      finish(connection, .aborted)
    case .graceful:
      guard connections[slot].state == .open else { return }
      connections[slot].owesWritable = false
      let deadline = now.advanced(byMilliseconds: configuration.lingerMilliseconds)
      connections[slot].timer = timers.schedule(connection.bits, at: deadline)
      if let session = connections[slot].tls, session.hasUnsentRecord {
        connections[slot].state = .draining
        connections[slot].wantsWrite = true
        syncInterest(connection)
      } else {
        endStream(connection)
      }
    }
  }

  /// Everything taken has been given to the kernel: say goodbye and wait for the peer's own end, so that the socket is
  /// not closed with unread bytes in it, which would reset it and destroy what the peer has not read yet.
  func endStream(_ handle: Handle) {
    let slot = Int(handle.index)
    if let session = connections[slot].tls, case .taken = session.sendCloseNotify() {
      connections[slot].state = .draining
      connections[slot].wantsWrite = true
      return syncInterest(handle)
    }
    if System.shutdownWriting(connections[slot].descriptor) < 0 { return finish(handle, .finished) }
    connections[slot].state = .lingering
    connections[slot].wantsWrite = false
    syncInterest(handle)
  }

  /// Reads for the bin while lingering.
  func discard(_ handle: Handle) {
    let count = System.receive(connections[Int(handle.index)].descriptor, receiveBuffer, Self.receiveCapacity)
    if count > 0 || -count == Int(EAGAIN) { return }
    finish(handle, .finished)
  }

  /// Closes the socket now; the handler hears `closed` before this turn, or the next, ends.
  func finish(_ handle: Handle, _ cause: CloseCause) {
    let slot = Int(handle.index)
    guard connections.contains(handle), connections[slot].state != .dead else { return }
    if connections[slot].state == .handshaking { handshaking -= 1 }
    timers.cancel(connections[slot].timer)
    disarm(slot)
    connections[slot].tls = nil
    System.close(connections[slot].descriptor)
    connections[slot].state = .dead
    connections[slot].cause = cause
    ended.append(handle)
  }

  /// Tells the handler what ended and frees the slots.
  func reportEnded(_ handler: any LoopHandler) {
    var next = 0
    while next < ended.count {
      let handle = ended[next]
      next += 1
      guard let connection = connections.remove(handle) else {
        preconditionFailure("a connection ended twice")
      }
      if connection.wasOpened {
        metrics.closed.increment()
        handler.closed(handle, connection.cause)
      } else {
        handler.abandoned(connection.peer)
      }
    }
    ended.removeAll(keepingCapacity: true)
  }

  /// The loop stops: abort what is left, tell the handler, forget the handler.
  func endEverything(_ handler: any LoopHandler) {
    disarmListeners()
    var open: [Handle] = []
    connections.forEachHandle { open.append($0) }
    for handle in open { finish(handle, .loopStopped) }
    reportEnded(handler)
    self.handler = nil
  }
}
