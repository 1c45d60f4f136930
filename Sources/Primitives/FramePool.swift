#if canImport(Glibc)
  import Glibc
#endif

/// The name of a frame in a `FramePool`: 4 bytes, which is what one more recipient costs.
public struct FrameID: Hashable, Sendable {
  @usableFromInline let index: UInt32

  @inlinable init(index: UInt32) { self.index = index }

  /// Names no frame.
  public static let none = FrameID(index: .max)
}

/// Encoded frames of one loop, each written once and shared by every recipient's queue.
///
/// A frame lives while somebody holds a reference to it: its maker from `insert`, and each queue it stands in. The
/// counts are plain integers, because a pool belongs to one thread; nothing here retains or releases a Swift object.
public struct FramePool: ~Copyable {
  @usableFromInline
  struct Entry {
    @usableFromInline var base: UnsafeMutableRawPointer?
    @usableFromInline var byteCount: Int
    @usableFromInline var references: Int
    @usableFromInline var nextFree: UInt32
  }

  @usableFromInline var entries: UnsafeMutablePointer<Entry>
  @usableFromInline var capacity: Int
  @usableFromInline var firstFree: UInt32

  /// Frames alive now.
  public private(set) var count = 0
  /// Bytes of all frames alive now.
  public private(set) var byteCount = 0

  public init() {
    capacity = 0
    entries = UnsafeMutablePointer<Entry>.allocate(capacity: 1)
    firstFree = .max
  }

  deinit {
    for index in 0..<capacity where entries[index].base != nil { free(entries[index].base) }
    entries.deallocate()
  }

  private mutating func grow() {
    let newCapacity = max(64, capacity * 2)
    precondition(newCapacity < Int(UInt32.max), "a frame pool holds fewer than 2^32 frames")
    let wider = UnsafeMutablePointer<Entry>.allocate(capacity: newCapacity)
    wider.moveInitialize(from: entries, count: capacity)
    for index in capacity..<newCapacity {
      let next = index + 1 < newCapacity ? UInt32(index + 1) : UInt32.max
      (wider + index).initialize(to: Entry(base: nil, byteCount: 0, references: 0, nextFree: next))
    }
    entries.deallocate()
    entries = wider
    firstFree = UInt32(capacity)
    capacity = newCapacity
  }

  /// Makes a frame of `byteCount` bytes, written by `fill`, with one reference, the caller's.
  public mutating func insert(byteCount: Int, fill: (UnsafeMutableRawBufferPointer) -> Void) -> FrameID {
    if firstFree == .max { grow() }
    guard let base = malloc(max(byteCount, 1)) else { fatalError("no memory for a frame of \(byteCount) bytes") }
    fill(UnsafeMutableRawBufferPointer(start: base, count: byteCount))
    let index = firstFree
    firstFree = entries[Int(index)].nextFree
    entries[Int(index)] = Entry(base: base, byteCount: byteCount, references: 1, nextFree: .max)
    count += 1
    self.byteCount += byteCount
    return FrameID(index: index)
  }

  /// Makes a frame of these bytes, with one reference, the caller's.
  public mutating func insert(_ bytes: UnsafeRawBufferPointer) -> FrameID {
    insert(byteCount: bytes.count) { target in target.copyMemory(from: bytes) }
  }

  /// The frame's bytes, valid while a reference is held.
  @inlinable
  public func bytes(of frame: FrameID) -> UnsafeRawBufferPointer {
    let entry = entries + Int(frame.index)
    return UnsafeRawBufferPointer(start: entry.pointee.base, count: entry.pointee.byteCount)
  }

  @inlinable
  public func byteCount(of frame: FrameID) -> Int { entries[Int(frame.index)].byteCount }

  /// References held on the frame; for tests and invariants.
  public func references(to frame: FrameID) -> Int { entries[Int(frame.index)].references }

  /// Adds `count` references at once: a fan-out adds them for all its recipients in one step.
  @inlinable
  public mutating func retain(_ frame: FrameID, count: Int = 1) { entries[Int(frame.index)].references &+= count }

  /// Gives back one reference; the last one frees the frame.
  @inlinable
  public mutating func release(_ frame: FrameID) {
    let entry = entries + Int(frame.index)
    entry.pointee.references &-= 1
    if entry.pointee.references == 0 { reclaim(frame) }
  }

  @usableFromInline
  mutating func reclaim(_ frame: FrameID) {
    let entry = entries + Int(frame.index)
    precondition(entry.pointee.base != nil, "a frame was released more often than it was retained")
    free(entry.pointee.base)
    count -= 1
    byteCount -= entry.pointee.byteCount
    entry.pointee.base = nil
    entry.pointee.byteCount = 0
    entry.pointee.nextFree = firstFree
    firstFree = frame.index
  }
}
