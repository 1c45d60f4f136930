import Glibc
import Primitives

/// One broadcast's frames in a shard: the plain one, and a deflated twin for each window size in use, made when the
/// first session that wants it turns up (RFC 7692 §7.1.2.1; window bits 8–15).
struct FrameSet {
  var plain: FrameID
  var plainBytes: Int
  var twins = InlineArray<16, FrameID>(repeating: .none)
  /// Recipients counted per frame during one fan-out; the references are taken in one step afterwards.
  var plainRecipients = 0
  var twinRecipients = InlineArray<16, Int>(repeating: 0)
}

/// The outbound side of every connection of a shard, flat in memory: what a fan-out touches, and nothing else.
///
/// Indexed by the slot of the connection's handle. A slot is *dirty* while it has something to write and is on the
/// list of this turn; *blocked* while its socket refused more and the loop will say when it is writable again.
struct Outlets: ~Copyable {
  struct Outlet {
    var queue = OutboundQueue()
    var generation: UInt32 = 0
    var isOpen = false
    var isDirty = false
    var isBlocked = false
    /// A replay comes first: a broadcast passes by, and is held beside the queue.
    var isHeld = false
    /// Nothing more is accepted; the connection ends when the queue is empty.
    var isClosing = false
    /// The deflate window agreed for what we send: 8–15, or 0 without deflate.
    var windowBits: UInt8 = 0
    /// Writes that the socket took something of; wraps. Tells a slow reader from a dead one.
    var progress: UInt32 = 0
  }

  private(set) var pool = FramePool()
  private var outlets: UnsafeMutablePointer<Outlet>
  private var capacity: Int
  private var dirty: [UInt32] = []
  /// Sessions whose queue would have crossed its limit in this turn (R7); the shard closes them.
  private(set) var overflowed: [Handle] = []
  /// Slots that the last broadcast passed by.
  private var held: [UInt32] = []
  /// Ephemeral frames that found a queue too full (R7).
  private(set) var shedCount = 0
  /// Bytes waiting in all queues.
  private(set) var queuedBytes = 0
  /// Since the last flush: frames queued, once for each recipient, and the size of the frames made, once each.
  private(set) var framesQueued = 0
  private(set) var bytesMade = 0

  init() {
    capacity = 0
    outlets = UnsafeMutablePointer<Outlet>.allocate(capacity: 1)
  }

  deinit {
    for slot in 0..<capacity {
      outlets[slot].queue.abandon()
    }
    outlets.deallocate()
  }

  mutating func open(_ handle: Handle) {
    let slot = Int(handle.index)
    if slot >= capacity {
      let newCapacity = max(64, max(capacity * 2, slot + 1))
      let wider = UnsafeMutablePointer<Outlet>.allocate(capacity: newCapacity)
      wider.moveInitialize(from: outlets, count: capacity)
      (wider + capacity).initialize(repeating: Outlet(), count: newCapacity - capacity)
      outlets.deallocate()
      outlets = wider
      capacity = newCapacity
    }
    outlets[slot] = Outlet(generation: handle.generation, isOpen: true)
  }

  /// Forgets what waits; a handle used after this falls on the floor.
  mutating func close(_ handle: Handle) {
    guard isOpen(handle) else { return }
    let outlet = outlets + Int(handle.index)
    queuedBytes -= outlet.pointee.queue.byteCount
    outlet.pointee.queue.removeAll(releasingInto: &pool)
    outlet.pointee.isOpen = false
  }

  func isOpen(_ handle: Handle) -> Bool {
    let slot = Int(handle.index)
    return slot < capacity && outlets[slot].isOpen && outlets[slot].generation == handle.generation
  }

  func handle(ofSlot slot: UInt32) -> Handle { Handle(index: slot, generation: outlets[Int(slot)].generation) }

  func windowBits(_ handle: Handle) -> UInt8 { isOpen(handle) ? outlets[Int(handle.index)].windowBits : 0 }

  mutating func setWindowBits(_ bits: Int, for handle: Handle) {
    if isOpen(handle) { outlets[Int(handle.index)].windowBits = UInt8(truncatingIfNeeded: bits) }
  }

  func progress(_ handle: Handle) -> UInt32 { isOpen(handle) ? outlets[Int(handle.index)].progress : 0 }

  func queuedBytes(_ handle: Handle) -> Int { isOpen(handle) ? outlets[Int(handle.index)].queue.byteCount : 0 }

  /// Nothing is accepted after this; what waits still leaves.
  mutating func seal(_ handle: Handle) {
    guard isOpen(handle) else { return }
    outlets[Int(handle.index)].isClosing = true
    mark(handle.index)
  }

  func isSealed(_ handle: Handle) -> Bool { isOpen(handle) && outlets[Int(handle.index)].isClosing }

  private mutating func mark(_ slot: UInt32) {
    let outlet = outlets + Int(slot)
    guard !outlet.pointee.isDirty, !outlet.pointee.isBlocked else { return }
    outlet.pointee.isDirty = true
    dirty.append(slot)
  }

  // MARK: Frames in

  mutating func makeFrame(byteCount: Int, fill: (UnsafeMutableRawBufferPointer) -> Void) -> FrameID {
    bytesMade &+= byteCount
    return pool.insert(byteCount: byteCount, fill: fill)
  }

  /// Frames that somebody still waits for; for tests and gauges.
  var liveFrames: Int { pool.count }

  func byteCount(of frame: FrameID) -> Int { pool.byteCount(of: frame) }

  /// Puts a frame into one queue, taking over the caller's reference. A queue that is at its limit takes no more; one
  /// below it takes the frame whole, so that a page longer than the limit reaches a peer that reads.
  mutating func send(_ frame: FrameID, to handle: Handle, limitBytes: Int, isUrgent: Bool = false) {
    guard isOpen(handle), !outlets[Int(handle.index)].isClosing else {
      pool.release(frame)
      return
    }
    let bytes = pool.byteCount(of: frame)
    let outlet = outlets + Int(handle.index)
    // A pong is never dropped (R7); when many wait, the newest takes the last one's place (C023).
    if isUrgent, outlet.pointee.queue.urgentCount >= Self.urgentLimit {
      replaceLastUrgent(frame, bytes, handle)
      return
    }
    if !isUrgent, outlet.pointee.queue.byteCount >= limitBytes {
      pool.release(frame)
      overflowed.append(handle)
      return
    }
    if isUrgent {
      outlet.pointee.queue.appendUrgent(frame, byteCount: bytes)
    } else {
      outlet.pointee.queue.append(frame, byteCount: bytes)
    }
    queuedBytes += bytes
    framesQueued &+= 1
    mark(handle.index)
  }

  /// Pongs that may wait for one peer: enough for any burst of an honest one.
  private static let urgentLimit = 64

  private mutating func replaceLastUrgent(_ frame: FrameID, _ byteCount: Int, _ handle: Handle) {
    let outlet = outlets + Int(handle.index)
    let before = outlet.pointee.queue.byteCount
    let last = outlet.pointee.queue.lastUrgent
    let old = outlet.pointee.queue.replaceLastUrgent(
      frame, byteCount: byteCount, oldByteCount: pool.byteCount(of: last))
    pool.release(old)
    queuedBytes += outlet.pointee.queue.byteCount - before
  }

  /// Queues one broadcast for many slots. `twin` makes the deflated frame for a window when the first session that
  /// agreed on it is met; it returns `.none` when compressing does not pay. Returns how many sessions got it.
  ///
  /// The cost of a recipient is this loop's body: 4 bytes in a queue, no allocation while the queue is short, no ARC.
  mutating func broadcast(
    _ set: inout FrameSet, to slots: UnsafeBufferPointer<UInt32>, except excluded: UInt32?, limitBytes: Int,
    isEphemeral: Bool = false, twin: (UInt8, inout FramePool) -> FrameID
  ) -> Int {
    var delivered = 0
    var deliveredBytes = 0
    let skip = excluded ?? .max
    for slot in slots where slot != skip {
      let outlet = outlets + Int(slot)
      if outlet.pointee.isClosing || !outlet.pointee.isOpen { continue }
      if outlet.pointee.isHeld {
        held.append(slot)
        continue
      }
      var frame = set.plain
      var bytes = set.plainBytes
      let bits = Int(outlet.pointee.windowBits)
      if bits != 0 {
        if set.twins[bits] == .none { set.twins[bits] = makeTwin(bits, set.plain, twin) }
        frame = set.twins[bits]
        bytes = pool.byteCount(of: frame)
      }
      if outlet.pointee.queue.byteCount >= limitBytes {
        if isEphemeral {
          shedCount &+= 1
        } else {
          overflowed.append(Handle(index: slot, generation: outlet.pointee.generation))
        }
        continue
      }
      if frame == set.plain { set.plainRecipients &+= 1 } else { set.twinRecipients[bits] &+= 1 }
      outlet.pointee.queue.append(frame, byteCount: bytes)
      deliveredBytes &+= bytes
      delivered &+= 1
      if !outlet.pointee.isDirty, !outlet.pointee.isBlocked {
        outlet.pointee.isDirty = true
        dirty.append(slot)
      }
    }
    queuedBytes += deliveredBytes
    framesQueued &+= delivered
    settle(&set)
    return delivered
  }

  private mutating func makeTwin(
    _ bits: Int, _ plain: FrameID, _ twin: (UInt8, inout FramePool) -> FrameID
  ) -> FrameID {
    let made = twin(UInt8(truncatingIfNeeded: bits), &pool)
    return made == .none ? plain : made
  }

  /// Takes the references of the recipients counted so far.
  private mutating func settle(_ set: inout FrameSet) {
    if set.plainRecipients > 0 { pool.retain(set.plain, count: set.plainRecipients) }
    set.plainRecipients = 0
    for bits in 8...15 where set.twinRecipients[bits] > 0 {
      pool.retain(set.twins[bits], count: set.twinRecipients[bits])
      set.twinRecipients[bits] = 0
    }
  }

  /// Gives back the maker's references to a broadcast's frames.
  mutating func finish(_ set: borrowing FrameSet) {
    for bits in 8...15 {
      let twin = set.twins[bits]
      if twin != .none, twin != set.plain { pool.release(twin) }
    }
    pool.release(set.plain)
  }

  /// Whether broadcasts pass by and are reported by `takeHeld` instead.
  mutating func setHeld(_ isHeld: Bool, for handle: Handle) {
    if isOpen(handle) { outlets[Int(handle.index)].isHeld = isHeld }
  }

  mutating func takeHeld() -> [UInt32] {
    if held.isEmpty { return [] }
    defer { held.removeAll(keepingCapacity: true) }
    return held
  }

  mutating func takeShedCount() -> Int {
    defer { shedCount = 0 }
    return shedCount
  }

  mutating func takeOverflowed() -> [Handle] {
    if overflowed.isEmpty { return [] }
    defer { overflowed.removeAll(keepingCapacity: true) }
    return overflowed
  }

  // MARK: Frames out

  var hasDirty: Bool { !dirty.isEmpty }

  /// Hands over the dirty slots; each is clean until something new is queued.
  mutating func takeDirty(into list: inout [UInt32]) {
    framesQueued = 0
    bytesMade = 0
    list.removeAll(keepingCapacity: true)
    swap(&list, &dirty)
    for slot in list { outlets[Int(slot)].isDirty = false }
  }

  /// What a slot wants written next; `.empty` when nothing waits.
  enum Pending {
    case empty(isClosing: Bool)
    case slices(Int, bytes: Int)
  }

  func gather(_ slot: UInt32, into slices: UnsafeMutableBufferPointer<iovec>) -> Pending {
    let outlet = outlets + Int(slot)
    guard outlet.pointee.isOpen, !outlet.pointee.queue.isEmpty else {
      return .empty(isClosing: outlet.pointee.isOpen && outlet.pointee.isClosing)
    }
    let (used, bytes) = outlet.pointee.queue.gather(from: pool, into: slices)
    return .slices(used, bytes: bytes)
  }

  /// The socket took `byteCount` bytes.
  mutating func wrote(_ slot: UInt32, byteCount: Int) {
    let outlet = outlets + Int(slot)
    queuedBytes -= byteCount
    outlet.pointee.progress &+= 1
    outlet.pointee.queue.consume(byteCount: byteCount, releasingInto: &pool)
  }

  /// The socket refused more; `unblock` follows.
  mutating func block(_ slot: UInt32) { outlets[Int(slot)].isBlocked = true }

  mutating func unblock(_ handle: Handle) {
    guard isOpen(handle) else { return }
    outlets[Int(handle.index)].isBlocked = false
    mark(handle.index)
  }
}
