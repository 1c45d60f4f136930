/// The identity of a slab entry. The generation changes whenever a slot is given to another element, so a handle that
/// outlived its element misses instead of reaching a stranger.
@frozen
public struct Handle: Hashable, Sendable {
  /// The slot, counted from zero.
  public var index: UInt32
  /// Odd while the slot is occupied by the element this handle names.
  public var generation: UInt32

  @inlinable
  public init(index: UInt32, generation: UInt32) {
    self.index = index
    self.generation = generation
  }

  /// The handle in one word, for epoll user data and timer tokens.
  @inlinable
  public var bits: UInt64 { UInt64(generation) << 32 | UInt64(index) }

  /// The handle whose `bits` these are.
  @inlinable
  public init(bits: UInt64) {
    self.init(index: UInt32(truncatingIfNeeded: bits), generation: UInt32(truncatingIfNeeded: bits >> 32))
  }

  /// Names nothing: generations of live entries are odd.
  @inlinable
  public static var none: Handle { Handle(index: .max, generation: 0) }
}
