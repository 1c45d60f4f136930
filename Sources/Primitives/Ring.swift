/// A first-in, first-out queue in a circular buffer that doubles up to a limit and says so when it is full.
public struct Ring<Element>: ~Copyable {
  @usableFromInline var storage: UnsafeMutablePointer<Element>
  @usableFromInline var capacity: Int
  @usableFromInline var head = 0

  /// Elements waiting.
  @inlinable
  public var count: Int { waiting }
  @usableFromInline var waiting = 0
  /// How many elements may wait at once.
  public let limit: Int

  /// - Parameters:
  ///   - limit: at least 1.
  ///   - initialCapacity: rounded up to a power of two.
  public init(limit: Int, initialCapacity: Int = 8) {
    precondition(limit > 0 && initialCapacity > 0, "a ring holds at least one element")
    self.limit = limit
    var capacity = 1
    while capacity < initialCapacity { capacity *= 2 }
    self.capacity = capacity
    storage = .allocate(capacity: capacity)
  }

  deinit {
    for offset in 0..<count { (storage + ((head + offset) & (capacity - 1))).deinitialize(count: 1) }
    storage.deallocate()
  }

  @inlinable
  public var isEmpty: Bool { count == 0 }

  /// Appends at the back.
  /// - Returns: false, and nothing happened, when the ring is at its limit.
  @inlinable
  public mutating func push(_ element: Element) -> Bool {
    guard count < limit else { return false }
    if count == capacity { grow() }
    (storage + ((head &+ count) & (capacity &- 1))).initialize(to: element)
    waiting &+= 1
    return true
  }

  /// Takes from the front; nil when empty.
  @inlinable
  public mutating func pop() -> Element? {
    guard count > 0 else { return nil }
    let element = (storage + head).move()
    head = (head &+ 1) & (capacity &- 1)
    waiting &-= 1
    return element
  }

  /// The front element, left in place; nil when empty.
  @inlinable
  public var first: Element? { count > 0 ? storage[head] : nil }

  /// The element `offset` places behind the front.
  /// - Precondition: `offset < count`.
  @inlinable
  public subscript(offset: Int) -> Element {
    get {
      precondition(offset >= 0 && offset < count, "a ring was read beyond its end")
      return storage[(head &+ offset) & (capacity &- 1)]
    }
    _modify {
      precondition(offset >= 0 && offset < count, "a ring was written beyond its end")
      yield &storage[(head &+ offset) & (capacity &- 1)]
    }
  }

  /// Drops every element and keeps the storage.
  public mutating func removeAll() {
    while pop() != nil {}
    head = 0
  }

  @usableFromInline
  mutating func grow() {
    let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
    let firstPart = capacity - head
    larger.moveInitialize(from: storage + head, count: firstPart)
    (larger + firstPart).moveInitialize(from: storage, count: head)
    storage.deallocate()
    storage = larger
    capacity *= 2
    head = 0
  }
}
