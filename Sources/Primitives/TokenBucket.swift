/// A rate limit in integers: `burst` at once, `perSecond` in the long run. Time is an argument.
///
/// Kept as the instant at which the bucket will be full again, so a bucket is one word that needs no refill timer
/// (the generic cell rate algorithm).
@frozen
public struct TokenBucket: Sendable {
  @usableFromInline var fullAt: UInt64 = 0
  @usableFromInline var nanosecondsPerToken: UInt64
  @usableFromInline var burst: UInt64

  /// - Parameters:
  ///   - perSecond: tokens gained a second, 1 … 10⁹.
  ///   - burst: tokens a full bucket holds, 1 … 10⁹.
  @inlinable
  public init(perSecond: UInt32, burst: UInt32) {
    precondition(perSecond > 0 && perSecond <= 1_000_000_000, "a bucket gains between 1 and 10^9 tokens a second")
    precondition(burst > 0 && burst <= 1_000_000_000, "a bucket holds between 1 and 10^9 tokens")
    nanosecondsPerToken = 1_000_000_000 / UInt64(perSecond)
    self.burst = UInt64(burst)
  }

  /// Takes `count` tokens if that many are there.
  /// - Returns: false, and nothing is taken, when there are too few.
  @inlinable
  public mutating func take(_ count: UInt32 = 1, at now: Instant) -> Bool {
    let start = max(fullAt, now.nanoseconds)
    let full = start &+ UInt64(count) &* nanosecondsPerToken
    guard full &- now.nanoseconds <= burst &* nanosecondsPerToken else { return false }
    fullAt = full
    return true
  }

  /// Whole tokens in the bucket at `now`.
  @inlinable
  public func available(at now: Instant) -> UInt64 {
    let missing = fullAt > now.nanoseconds ? fullAt &- now.nanoseconds : 0
    let whole = burst &* nanosecondsPerToken
    return missing >= whole ? 0 : (whole &- missing) / nanosecondsPerToken
  }

  /// The earliest instant at which `take(count)` will succeed; `never` when `count` exceeds the burst.
  @inlinable
  public func nextAvailable(_ count: UInt32 = 1, at now: Instant) -> Instant {
    guard UInt64(count) <= burst else { return .never }
    let slack = (burst &- UInt64(count)) &* nanosecondsPerToken
    let earliest = fullAt > slack ? fullAt &- slack : 0
    return Instant(nanoseconds: max(earliest, now.nanoseconds))
  }
}
