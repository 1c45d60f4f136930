/// Counts values in log-linear buckets: exact below 16, then 16 buckets an octave, so a quantile is at most 1/16 too
/// high. About 8 KB; recording is a shift and an increment.
public struct Histogram: Sendable {
  @usableFromInline static var bucketCount: Int { 16 + 60 * 16 }

  @usableFromInline var buckets: [UInt64]
  /// Values recorded.
  @inlinable
  public var count: UInt64 { recorded }
  @usableFromInline var recorded: UInt64 = 0
  /// Their sum, wrapping.
  @inlinable
  public var sum: UInt64 { total }
  @usableFromInline var total: UInt64 = 0
  /// The largest of them; zero when there are none.
  @inlinable
  public var maximum: UInt64 { largest }
  @usableFromInline var largest: UInt64 = 0

  public init() { buckets = Array(repeating: 0, count: Self.bucketCount) }

  @inlinable
  static func bucket(of value: UInt64) -> Int {
    if value < 16 { return Int(truncatingIfNeeded: value) }
    let exponent = 63 &- value.leadingZeroBitCount
    let step = Int(truncatingIfNeeded: (value >> UInt64(exponent &- 4)) & 15)
    return (exponent &- 3) &* 16 &+ step
  }

  /// The largest value that falls into a bucket.
  static func upperBound(of bucket: Int) -> UInt64 {
    if bucket < 16 { return UInt64(bucket) }
    let exponent = bucket / 16 + 3
    let step = UInt64(bucket % 16)
    let width = UInt64(1) << UInt64(exponent - 4)
    return (16 + step) * width + (width - 1)
  }

  @inlinable
  public mutating func record(_ value: UInt64) {
    buckets[Self.bucket(of: value)] &+= 1
    recorded &+= 1
    total &+= value
    if value > largest { largest = value }
  }

  /// Adds everything `other` has counted.
  public mutating func merge(_ other: Histogram) {
    for index in buckets.indices { buckets[index] &+= other.buckets[index] }
    recorded &+= other.recorded
    total &+= other.total
    largest = max(largest, other.largest)
  }

  /// The smallest bucket bound that at least the fraction `rank` of the values do not exceed; zero when empty.
  /// - Parameter rank: 0 … 1; 0.99 is the 99th percentile.
  public func quantile(_ rank: Double) -> UInt64 {
    precondition(rank >= 0 && rank <= 1, "a quantile's rank lies between 0 and 1")
    guard count > 0 else { return 0 }
    let wanted = max(1, UInt64((Double(count) * rank).rounded(.up)))
    var seen: UInt64 = 0
    for index in buckets.indices {
      seen &+= buckets[index]
      if seen >= wanted { return min(Self.upperBound(of: index), maximum) }
    }
    return maximum
  }

  /// Forgets everything.
  public mutating func reset() {
    for index in buckets.indices { buckets[index] = 0 }
    recorded = 0
    total = 0
    largest = 0
  }
}
