import CLinux
import Glibc
package import Primitives
import Telemetry

extension EventLoop {
  /// The handler wants no more bytes of this connection for now.
  package func pauseReading(_ connection: Handle) {
    guard connections.contains(connection), connections[Int(connection.index)].state == .open else { return }
    connections[Int(connection.index)].isPaused = true
    syncInterest(connection)
  }

  /// The handler wants bytes again, also those that TLS has decrypted or buffered meanwhile (C004).
  package func resumeReading(_ connection: Handle) {
    let slot = Int(connection.index)
    guard connections.contains(connection), connections[slot].state == .open, connections[slot].isPaused else { return }
    connections[slot].isPaused = false
    syncInterest(connection)
    if connections[slot].tls != nil { queueForReading(connection) }
  }

  func queueForReading(_ handle: Handle) {
    let slot = Int(handle.index)
    if connections[slot].isQueuedForReading { return }
    connections[slot].isQueuedForReading = true
    readable.append(handle)
  }

  /// Goes on where the budget of an earlier turn ended. Those that exhaust it again wait for the next turn.
  func continueReading(_ handler: any LoopHandler) {
    if readable.isEmpty { return }
    let batch = readable
    readable.removeAll(keepingCapacity: true)
    for handle in batch where connections.contains(handle) {
      let slot = Int(handle.index)
      connections[slot].isQueuedForReading = false
      if connections[slot].state == .open, !connections[slot].isPaused {
        read(handle, handler)
      }
    }
  }

  /// The socket has bytes, or ended. A connection that waits in the list has had its budget in this turn.
  func readAfterEvent(_ handle: Handle, _ handler: any LoopHandler) {
    let slot = Int(handle.index)
    connections[slot].tls?.socketMayHaveMore()
    if !connections[slot].isQueuedForReading { read(handle, handler) }
  }

  /// Reads up to the budget. A plain socket needs no list: epoll reports what is left in the next turn.
  func read(_ handle: Handle, _ handler: any LoopHandler) {
    let slot = Int(handle.index)
    if let session = connections[slot].tls {
      readTLS(handle, session, handler)
      return
    }
    let count = System.receive(connections[slot].descriptor, receiveBuffer, configuration.readBudgetBytes)
    if count > 0 {
      bytesReceived &+= UInt64(count)
      handler.received(handle, UnsafeMutableRawBufferPointer(start: receiveBuffer, count: count))
    } else if count == 0 {
      finish(handle, .peerClosed)
    } else if -count != Int(EAGAIN) {
      finish(handle, .reset(errno: Int32(-count)))
    }
  }

  private func readTLS(_ handle: Handle, _ session: TLSSession, _ handler: any LoopHandler) {
    let slot = Int(handle.index)
    var budget = configuration.readBudgetBytes
    var filled = 0
    var ending: CloseCause?
    if session.mustFlushBeforeReading {
      connections[slot].readAwaitsRoom = true
      return syncInterest(handle)
    }
    reading: while budget > 0 {
      switch session.read(into: receiveBuffer + filled, count: budget) {
      case .bytes(let count):
        filled += count
        budget -= count
      case .empty: break reading
      case .awaitsRoom:
        connections[slot].readAwaitsRoom = true
        connections[slot].wantsWrite = true
        syncInterest(handle)
        break reading
      case .ended:
        _ = session.sendCloseNotify()
        ending = .peerClosed
        break reading
      case .failed(let cause):
        if cause == .tlsFailure { metrics.tlsFailures.increment() }
        ending = cause
        break reading
      }
    }
    if budget == 0 { queueForReading(handle) }
    if filled > 0 {
      bytesReceived &+= UInt64(filled)
      handler.received(handle, UnsafeMutableRawBufferPointer(start: receiveBuffer, count: filled))
    }
    if let ending, connections.contains(handle), connections[slot].state != .dead { finish(handle, ending) }
  }
}
