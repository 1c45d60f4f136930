/// Elements at stable places, named by handles. Storage grows in chunks and never moves; insert, remove and access are
/// O(1) and count no references.
///
/// A slab has a capacity limit given at creation: it owns 8 bytes of bookkeeping a slot (untouched pages cost nothing)
/// and allocates element chunks as they are first needed.
public struct Slab<Element: ~Copyable>: ~Copyable {
  @usableFromInline static var chunkShift: Int { 8 }
  @usableFromInline static var chunkCapacity: Int { 1 << chunkShift }

  /// Element chunks; only the first `chunkCount` are allocated.
  @usableFromInline let chunks: UnsafeMutablePointer<UnsafeMutablePointer<Element>>
  /// Odd: occupied. Initialised below `highWater` only.
  @usableFromInline let generations: UnsafeMutablePointer<UInt32>
  /// Links of the free list; meaningful for free slots below `highWater`.
  @usableFromInline let nextFree: UnsafeMutablePointer<UInt32>
  @usableFromInline var chunkCount = 0
  /// Slots ever used.
  @usableFromInline var highWater = 0
  @usableFromInline var firstFree = UInt32.max

  /// How many elements the slab may hold at once.
  public let capacityLimit: Int
  /// How many it holds now.
  public private(set) var count = 0

  /// - Parameter capacityLimit: at least 1, below 2³².
  public init(capacityLimit: Int) {
    precondition(capacityLimit > 0 && capacityLimit < Int(UInt32.max), "a slab's limit lies between 1 and 2^32 - 2")
    self.capacityLimit = capacityLimit
    let chunkLimit = (capacityLimit + Self.chunkCapacity - 1) >> Self.chunkShift
    chunks = .allocate(capacity: chunkLimit)
    generations = .allocate(capacity: capacityLimit)
    nextFree = .allocate(capacity: capacityLimit)
  }

  deinit {
    for index in 0..<highWater where generations[index] & 1 == 1 {
      (chunks[index >> Self.chunkShift] + (index & (Self.chunkCapacity - 1))).deinitialize(count: 1)
    }
    for chunk in 0..<chunkCount { chunks[chunk].deallocate() }
    chunks.deallocate()
    generations.deallocate()
    nextFree.deallocate()
  }

  public var isFull: Bool { count == capacityLimit }

  @inlinable
  func place(_ index: Int) -> UnsafeMutablePointer<Element> {
    chunks[index >> Self.chunkShift] + (index & (Self.chunkCapacity &- 1))
  }

  /// Puts an element into a free slot.
  /// - Precondition: the slab is not full; ask `isFull` first.
  public mutating func insert(_ element: consuming Element) -> Handle {
    precondition(count < capacityLimit, "a slab was filled beyond its limit")
    let index: Int
    if firstFree != .max {
      index = Int(firstFree)
      firstFree = nextFree[index]
      generations[index] &+= 1
    } else {
      index = highWater
      if index >> Self.chunkShift == chunkCount {
        (chunks + chunkCount).initialize(to: .allocate(capacity: Self.chunkCapacity))
        chunkCount += 1
      }
      (generations + index).initialize(to: 1)
      (nextFree + index).initialize(to: .max)
      highWater += 1
    }
    place(index).initialize(to: element)
    count += 1
    return Handle(index: UInt32(index), generation: generations[index])
  }

  /// Takes the element out; nil when the handle is stale. Every handle of that element misses from now on.
  public mutating func remove(_ handle: Handle) -> Element? {
    guard contains(handle) else { return nil }
    let index = Int(handle.index)
    generations[index] &+= 1
    nextFree[index] = firstFree
    firstFree = handle.index
    count -= 1
    return place(index).move()
  }

  /// Whether the handle names an element that is still here.
  @inlinable
  public func contains(_ handle: Handle) -> Bool {
    Int(handle.index) < highWater && generations[Int(handle.index)] == handle.generation && handle.generation & 1 == 1
  }

  /// The live handle of a slot, or nil when the slot is free.
  @inlinable
  public func handle(at index: Int) -> Handle? {
    guard index >= 0, index < highWater, generations[index] & 1 == 1 else { return nil }
    return Handle(index: UInt32(truncatingIfNeeded: index), generation: generations[index])
  }

  /// Works on the element in place; nil when the handle is stale.
  @inlinable
  public mutating func withElement<Result: ~Copyable, Failure: Error>(
    _ handle: Handle, _ body: (inout Element) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard contains(handle) else { return nil }
    return try body(&place(Int(handle.index)).pointee)
  }

  /// The element in an occupied slot.
  /// - Precondition: the slot is occupied.
  @inlinable
  public subscript(index: Int) -> Element {
    _read {
      precondition(index < highWater && generations[index] & 1 == 1, "a free slab slot was read")
      yield place(index).pointee
    }
    _modify {
      precondition(index < highWater && generations[index] & 1 == 1, "a free slab slot was written")
      yield &place(index).pointee
    }
  }

  /// Calls `body` with the handle of every live element in slot order.
  @inlinable
  public func forEachHandle<Failure: Error>(_ body: (Handle) throws(Failure) -> Void) throws(Failure) {
    for index in 0..<highWater where generations[index] & 1 == 1 {
      try body(Handle(index: UInt32(truncatingIfNeeded: index), generation: generations[index]))
    }
  }

  /// One past the highest slot ever used: the bound for a loop over `handle(at:)`.
  @inlinable
  public var slotBound: Int { highWater }
}
