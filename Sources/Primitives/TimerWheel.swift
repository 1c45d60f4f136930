/// Names one scheduled timer; useless once that timer fired or was cancelled.
@frozen
public struct TimerID: Hashable, Sendable {
  @usableFromInline let index: UInt32
  @usableFromInline let generation: UInt32

  @inlinable
  init(index: UInt32, generation: UInt32) {
    self.index = index
    self.generation = generation
  }

  /// Names no timer; cancelling it does nothing.
  @inlinable
  public static var none: TimerID { TimerID(index: .max, generation: 0) }
}

/// Coarse timers by the hundred thousand: five levels of 256 slots over ticks of 8 ms, intrusive lists in flat arrays,
/// a bitmap a level. Schedule and cancel are O(1); a timer moves down a level at most four times in its life.
///
/// A timer fires at the first `advance` at or after its instant rounded up to a tick: never early, at most one tick
/// (plus the caller's delay) late. Timers of one tick fire in no particular order.
public struct TimerWheel: ~Copyable {
  /// The resolution.
  public static let tickNanoseconds: UInt64 = 8_000_000

  private static let levels = 5
  private static let slotsPerLevel = 256
  private static let lastTick: UInt64 = (1 << 40) - 1
  private static let end = UInt32.max

  private struct Entry {
    var token: UInt64
    var tick: UInt64
    var next: UInt32
    var previous: UInt32
    /// Level × 256 + slot, or `end` while the entry is free.
    var slot: UInt32
    var generation: UInt32
  }

  private let origin: Instant
  /// Ticks since the origin that have been worked off.
  private var current: UInt64 = 0
  private var entries: [Entry] = []
  private var firstFree = TimerWheel.end
  private var heads: [UInt32]
  /// One bit a slot, four words a level.
  private var occupied: [UInt64]

  /// Timers waiting.
  public private(set) var count = 0

  /// - Parameter origin: an instant not later than any given to this wheel; normally the present.
  public init(origin: Instant) {
    self.origin = origin
    heads = Array(repeating: Self.end, count: Self.levels * Self.slotsPerLevel)
    occupied = Array(repeating: 0, count: Self.levels * 4)
  }

  private func tick(roundingUp instant: Instant) -> UInt64 {
    let elapsed = instant.nanoseconds(since: origin)
    let tick = elapsed / Self.tickNanoseconds + (elapsed % Self.tickNanoseconds == 0 ? 0 : 1)
    return min(tick, Self.lastTick)
  }

  /// Remembers to hand `token` out at `deadline`. A deadline in the past fires at the next tick.
  public mutating func schedule(_ token: UInt64, at deadline: Instant) -> TimerID {
    let index: UInt32
    if firstFree != Self.end {
      index = firstFree
      firstFree = entries[Int(index)].next
    } else {
      index = UInt32(entries.count)
      entries.append(Entry(token: 0, tick: 0, next: Self.end, previous: Self.end, slot: Self.end, generation: 0))
    }
    entries[Int(index)].token = token
    entries[Int(index)].tick = max(tick(roundingUp: deadline), current + 1)
    entries[Int(index)].generation &+= 1
    link(index)
    count += 1
    return TimerID(index: index, generation: entries[Int(index)].generation)
  }

  /// Forgets a timer.
  /// - Returns: false when it already fired or was cancelled.
  @discardableResult
  public mutating func cancel(_ id: TimerID) -> Bool {
    guard Int(id.index) < entries.count else { return false }
    let entry = entries[Int(id.index)]
    guard entry.generation == id.generation, entry.slot != Self.end else { return false }
    unlink(id.index)
    release(id.index)
    return true
  }

  /// Moves time forward and calls `fire` with the token of each timer that came due. `fire` cannot reach the wheel; a
  /// caller that schedules while firing collects the tokens first.
  public mutating func advance(to now: Instant, fire: (UInt64) -> Void) {
    let target = min(now.nanoseconds(since: origin) / Self.tickNanoseconds, Self.lastTick)
    while current < target {
      guard let event = nextEventTick(), event <= target else { break }
      current = event
      for level in stride(from: Self.levels - 1, to: 0, by: -1) where event & ((1 << UInt64(8 * level)) - 1) == 0 {
        cascade(level: level)
      }
      let slot = Int(event & 255)
      while heads[slot] != Self.end {
        let index = heads[slot]
        let token = entries[Int(index)].token
        unlink(index)
        release(index)
        fire(token)
      }
    }
    current = max(current, target)
  }

  /// When `advance` next has work: no timer fires before it. `never` when none waits. It may name the moment at which a
  /// far timer moves down a level, so it is a lower bound and a good time-out to sleep for.
  public func nextDeadline() -> Instant {
    guard let event = nextEventTick() else { return .never }
    return origin.advanced(byNanoseconds: event * Self.tickNanoseconds)
  }

  /// The next tick at which a slot of any level is due. A level's occupied slots all lie after its position in the
  /// present revolution, because a timer's level is the highest byte in which its tick differs from now.
  private func nextEventTick() -> UInt64? {
    for level in 0..<Self.levels {
      let shift = UInt64(8 * level)
      let position = Int((current >> shift) & 255)
      guard let slot = nextOccupied(level: level, from: position + 1) else { continue }
      let revolution = (current >> (shift + 8)) << (shift + 8)
      return revolution | (UInt64(slot) << shift)
    }
    return nil
  }

  private func nextOccupied(level: Int, from slot: Int) -> Int? {
    guard slot < Self.slotsPerLevel else { return nil }
    var word = slot >> 6
    var bits = occupied[level * 4 + word] & (UInt64.max << UInt64(slot & 63))
    while bits == 0 {
      word += 1
      guard word < 4 else { return nil }
      bits = occupied[level * 4 + word]
    }
    return word * 64 + bits.trailingZeroBitCount
  }

  private mutating func cascade(level: Int) {
    let slot = level * Self.slotsPerLevel + Int((current >> UInt64(8 * level)) & 255)
    while heads[slot] != Self.end {
      let index = heads[slot]
      unlink(index)
      link(index)
    }
  }

  private mutating func link(_ index: UInt32) {
    let tick = entries[Int(index)].tick
    let difference = tick ^ current
    let level = difference == 0 ? 0 : (63 - difference.leadingZeroBitCount) / 8
    let slot = level * Self.slotsPerLevel + Int((tick >> UInt64(8 * level)) & 255)
    let head = heads[slot]
    entries[Int(index)].next = head
    entries[Int(index)].previous = Self.end
    entries[Int(index)].slot = UInt32(slot)
    if head != Self.end { entries[Int(head)].previous = index }
    heads[slot] = index
    occupied[slot >> 6] |= 1 << UInt64(slot & 63)
  }

  private mutating func unlink(_ index: UInt32) {
    let entry = entries[Int(index)]
    if entry.previous != Self.end {
      entries[Int(entry.previous)].next = entry.next
    } else {
      heads[Int(entry.slot)] = entry.next
      if entry.next == Self.end { occupied[Int(entry.slot) >> 6] &= ~(1 << UInt64(entry.slot & 63)) }
    }
    if entry.next != Self.end { entries[Int(entry.next)].previous = entry.previous }
  }

  private mutating func release(_ index: UInt32) {
    entries[Int(index)].slot = Self.end
    entries[Int(index)].next = firstFree
    firstFree = index
    count -= 1
  }
}
