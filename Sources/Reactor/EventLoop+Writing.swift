package import CLinux
import Glibc
package import Primitives
import Telemetry

extension EventLoop {
  /// Sends slices in order. After `partial` the loop waits for room and calls `writable`; until then further writes
  /// take nothing. Bytes reported as taken are the loop's: what follows them may be anything, also something else than
  /// the handler had in mind when it made this call (C031). Under TLS `complete` may leave up to 16 KiB with the session.
  package func write(_ connection: Handle, _ slices: UnsafeBufferPointer<iovec>) -> WriteOutcome {
    let slot = Int(connection.index)
    guard connections.contains(connection), connections[slot].state == .open else { return .failed }
    if connections[slot].wantsWrite {
      connections[slot].owesWritable = true
      return .partial(0)
    }
    let outcome: WriteOutcome
    if let session = connections[slot].tls {
      outcome = writeTLS(connection, session, slices)
    } else {
      outcome = writePlain(connection, slices)
    }
    return outcome
  }

  private func writePlain(_ handle: Handle, _ slices: UnsafeBufferPointer<iovec>) -> WriteOutcome {
    let descriptor = connections[Int(handle.index)].descriptor
    var taken = 0
    var next = 0
    while next < slices.count {
      let end = min(next + 1024, slices.count)
      var wanted = 0
      for index in next..<end { wanted += slices[index].iov_len }
      let count = System.send(descriptor, UnsafeBufferPointer(rebasing: slices[next..<end]))
      if count < 0 {
        if -count == Int(EAGAIN) { return fellShort(handle, taken) }
        finish(handle, .reset(errno: Int32(-count)))
        return .failed
      }
      taken += count
      bytesSent &+= UInt64(count)
      if count < wanted { return fellShort(handle, taken) }
      next = end
    }
    return .complete
  }

  private func fellShort(_ handle: Handle, _ taken: Int) -> WriteOutcome {
    connections[Int(handle.index)].wantsWrite = true
    connections[Int(handle.index)].owesWritable = true
    metrics.shortWrites.increment()
    syncInterest(handle)
    return .partial(taken)
  }

  private func writeTLS(
    _ handle: Handle, _ session: TLSSession, _ slices: UnsafeBufferPointer<iovec>
  ) -> WriteOutcome {
    var cursor = SliceCursor(slices)
    var taken = 0
    while let chunk = cursor.next(gatheringInto: record, capacity: Self.recordCapacity) {
      switch session.write(chunk) {
      case .sent:
        taken += chunk.count
      case .taken:
        // Encrypted, and kept by the session until the socket has room: the handler must not send it again.
        taken += chunk.count
        bytesSent &+= UInt64(taken)
        if cursor.isAtEnd {
          connections[Int(handle.index)].wantsWrite = true
          syncInterest(handle)
          return .complete
        }
        return fellShort(handle, taken)
      case .failed(let cause):
        if cause == .tlsFailure { metrics.tlsFailures.increment() }
        finish(handle, cause)
        return .failed
      }
    }
    bytesSent &+= UInt64(taken)
    return .complete
  }

  /// The socket has room, or broke: in both cases the waiting write finds out.
  func roomToWrite(_ handle: Handle, _ handler: any LoopHandler) {
    let slot = Int(handle.index)
    guard connections[slot].wantsWrite else { return }
    if let session = connections[slot].tls, session.hasUnsentRecord {
      switch session.flush() {
      case .sent: break
      case .taken: return
      case .failed(let cause): return finish(handle, cause)
      }
    }
    connections[slot].wantsWrite = false
    switch connections[slot].state {
    case .open:
      // Reading first: the handler is about to fill the socket again, and a peer that is slow to read would never be
      // heard meanwhile (C022).
      if connections[slot].readAwaitsRoom {
        connections[slot].readAwaitsRoom = false
        connections[slot].tls?.socketMayHaveMore()
        if !connections[slot].isPaused { read(handle, handler) }
        guard connections.contains(handle), connections[slot].state == .open else { return }
      }
      if connections[slot].owesWritable, !connections[slot].wantsWrite {
        connections[slot].owesWritable = false
        handler.writable(handle)
      }
      if connections.contains(handle) { syncInterest(handle) }
    case .draining: endStream(handle)
    case .handshaking, .lingering, .dead: break
    }
  }
}

/// Walks over slices, handing out pieces of one TLS record's size: a large slice, or the last, as it lies, small
/// ones gathered.
struct SliceCursor {
  private let slices: UnsafeBufferPointer<iovec>
  private var index = 0
  private var offset = 0

  init(_ slices: UnsafeBufferPointer<iovec>) {
    self.slices = slices
    skipEmpty()
  }

  var isAtEnd: Bool { index == slices.count }

  private mutating func skipEmpty() {
    while index < slices.count, offset == slices[index].iov_len {
      index += 1
      offset = 0
    }
  }

  /// The next piece, valid until the next call; nil at the end.
  mutating func next(
    gatheringInto scratch: UnsafeMutableRawPointer, capacity: Int
  ) -> UnsafeRawBufferPointer? {
    guard !isAtEnd else { return nil }
    let left = slices[index].iov_len - offset
    if let base = slices[index].iov_base, left >= capacity || index + 1 == slices.count {
      let piece = UnsafeRawBufferPointer(start: base + offset, count: min(left, capacity))
      offset += piece.count
      skipEmpty()
      return piece
    }
    var filled = 0
    while !isAtEnd, filled < capacity {
      guard let base = slices[index].iov_base else { preconditionFailure("a slice with a length has no address") }
      let count = min(capacity - filled, slices[index].iov_len - offset)
      (scratch + filled).copyMemory(from: base + offset, byteCount: count)
      filled += count
      offset += count
      skipEmpty()
    }
    return UnsafeRawBufferPointer(start: scratch, count: filled)
  }
}
