#if canImport(Glibc)
  public import Glibc
#endif

/// What waits to be written to one socket: frames by name, in order, and how far the first one has gone.
///
/// Up to three frames stand in the value itself, so a session that is keeping up needs no memory of its own; more take
/// a block that is freed as soon as the queue is empty. Whoever drops a queue empties it first (`removeAll`).
public struct OutboundQueue {
  @usableFromInline static let inlineCapacity = 3

  @usableFromInline var inline: (FrameID, FrameID, FrameID) = (.none, .none, .none)
  @usableFromInline var block: UnsafeMutablePointer<FrameID>?
  /// A power of two while a block exists.
  @usableFromInline var blockCapacity: UInt32 = 0
  @usableFromInline var head: UInt32 = 0
  @usableFromInline var frames: UInt32 = 0
  /// Bytes of the first frame that the socket has taken already.
  @usableFromInline var written: UInt32 = 0
  @usableFromInline var pendingBytes: UInt32 = 0
  /// Urgent frames at the front, behind an ordinary first frame if `urgentFollowFirst`.
  @usableFromInline var urgentFrames: UInt32 = 0
  @usableFromInline var urgentFollowFirst = false

  public init() {}

  @inlinable public var isEmpty: Bool { frames == 0 }
  @inlinable public var count: Int { Int(frames) }
  /// Bytes not yet taken by the socket.
  @inlinable public var byteCount: Int { Int(pendingBytes) }
  /// Whether the first frame is partly on the wire, so that nothing may be put before it.
  @inlinable public var isMidFrame: Bool { written > 0 }

  @inlinable
  public subscript(position: Int) -> FrameID {
    if let block { return block[Int((head &+ UInt32(truncatingIfNeeded: position)) & (blockCapacity &- 1))] }
    switch position {
    case 0: return inline.0
    case 1: return inline.1
    default: return inline.2
    }
  }

  @inlinable
  mutating func set(_ position: Int, _ frame: FrameID) {
    if let block {
      block[Int((head &+ UInt32(truncatingIfNeeded: position)) & (blockCapacity &- 1))] = frame
      return
    }
    switch position {
    case 0: inline.0 = frame
    case 1: inline.1 = frame
    default: inline.2 = frame
    }
  }

  @usableFromInline
  mutating func grow() {
    let newCapacity = max(8, blockCapacity * 2)
    let wider = UnsafeMutablePointer<FrameID>.allocate(capacity: Int(newCapacity))
    for position in 0..<Int(frames) { wider[position] = self[position] }
    for position in Int(frames)..<Int(newCapacity) { wider[position] = .none }
    block?.deallocate()
    block = wider
    blockCapacity = newCapacity
    head = 0
  }

  /// Puts a frame at the end. The caller has retained it for this queue.
  @inlinable
  public mutating func append(_ frame: FrameID, byteCount: Int) {
    if block == nil ? frames == UInt32(Self.inlineCapacity) : frames == blockCapacity { grow() }
    frames &+= 1
    set(Int(frames) - 1, frame)
    pendingBytes &+= UInt32(truncatingIfNeeded: byteCount)
  }

  /// Puts a control frame before every ordinary frame that has not begun to leave (RFC 6455 §5.5: between frames, never
  /// inside one), and behind the urgent ones that came earlier.
  public mutating func appendUrgent(_ frame: FrameID, byteCount: Int) {
    if urgentFrames == 0 { urgentFollowFirst = isMidFrame }
    append(frame, byteCount: byteCount)
    let place = Int(urgentFrames) + (urgentFollowFirst ? 1 : 0)
    var position = Int(frames) - 1
    while position > place {
      set(position, self[position - 1])
      position -= 1
    }
    set(place, frame)
    urgentFrames &+= 1
  }

  /// Fills `slices` with what to write next, in order, and says how many it filled and how many bytes they hold.
  @inlinable
  public func gather(
    from pool: borrowing FramePool, into slices: UnsafeMutableBufferPointer<iovec>
  ) -> (slices: Int, bytes: Int) {
    var used = 0
    var total = 0
    let limit = min(Int(frames), slices.count)
    while used < limit {
      let bytes = pool.bytes(of: self[used])
      let skip = used == 0 ? Int(written) : 0
      slices[used] = iovec(
        iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress)?.advanced(by: skip), iov_len: bytes.count - skip)
      total += bytes.count - skip
      used += 1
    }
    return (used, total)
  }

  /// Records that the socket took `byteCount` more bytes, and releases every frame that has left whole.
  @inlinable
  public mutating func consume(byteCount: Int, releasingInto pool: inout FramePool) {
    var left = byteCount
    pendingBytes &-= UInt32(truncatingIfNeeded: byteCount)
    while left > 0 {
      precondition(frames > 0, "a socket took more bytes than its queue held")
      let frame = self[0]
      let rest = pool.byteCount(of: frame) - Int(written)
      if left < rest {
        written &+= UInt32(truncatingIfNeeded: left)
        return
      }
      left -= rest
      removeFirst()
      pool.release(frame)
    }
  }

  @usableFromInline
  mutating func removeFirst() {
    written = 0
    frames &-= 1
    if urgentFollowFirst {
      urgentFollowFirst = false
    } else if urgentFrames > 0 {
      urgentFrames &-= 1
    }
    if block != nil {
      head = (head &+ 1) & (blockCapacity &- 1)
      if frames == 0 { dropBlock() }
      return
    }
    inline = (inline.1, inline.2, .none)
  }

  private mutating func dropBlock() {
    block?.deallocate()
    block = nil
    blockCapacity = 0
    head = 0
  }

  /// Urgent frames that have not begun to leave, or are leaving.
  public var urgentCount: Int { Int(urgentFrames) }

  private var lastUrgentPlace: Int { Int(urgentFrames) - 1 + (urgentFollowFirst ? 1 : 0) }

  /// The last urgent frame that waits, or `.none`.
  public var lastUrgent: FrameID { urgentFrames == 0 ? .none : self[lastUrgentPlace] }

  /// Puts a frame in the place of the last urgent one that waits (RFC 6455 §5.5.3: only the latest ping need be
  /// answered), and returns that one, which the caller releases.
  /// - Precondition: at least two urgent frames wait, so that the last has not begun to leave.
  public mutating func replaceLastUrgent(_ frame: FrameID, byteCount: Int, oldByteCount: Int) -> FrameID {
    precondition(urgentFrames > 1, "the last of several urgent frames is replaced")
    let old = lastUrgent
    set(lastUrgentPlace, frame)
    pendingBytes = pendingBytes &- UInt32(truncatingIfNeeded: oldByteCount) &+ UInt32(truncatingIfNeeded: byteCount)
    return old
  }

  /// Gives back the block alone, when the pool itself is about to end.
  public mutating func abandon() {
    dropBlock()
    frames = 0
  }

  /// Gives back every frame and the block.
  public mutating func removeAll(releasingInto pool: inout FramePool) {
    for position in 0..<Int(frames) { pool.release(self[position]) }
    dropBlock()
    inline = (.none, .none, .none)
    frames = 0
    written = 0
    pendingBytes = 0
    urgentFrames = 0
    urgentFollowFirst = false
  }
}
