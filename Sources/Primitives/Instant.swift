/// A point on the machine's monotonic clock, in nanoseconds. Reading the clock is the business of `Workers.Clock`;
/// pure rooms receive instants as arguments.
@frozen
public struct Instant: Hashable, Comparable, Sendable {
  /// Nanoseconds since an arbitrary origin.
  public var nanoseconds: UInt64

  @inlinable
  public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

  /// Later than every real instant: "no deadline".
  @inlinable
  public static var never: Instant { Instant(nanoseconds: .max) }

  @inlinable
  public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

  /// This instant moved forward; saturates at `never`.
  @inlinable
  public func advanced(byNanoseconds amount: UInt64) -> Instant {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(amount)
    return overflow ? .never : Instant(nanoseconds: sum)
  }

  /// This instant moved forward; saturates at `never`.
  @inlinable
  public func advanced(byMilliseconds amount: UInt64) -> Instant {
    let (product, overflow) = amount.multipliedReportingOverflow(by: 1_000_000)
    return overflow ? .never : advanced(byNanoseconds: product)
  }

  /// This instant moved forward; saturates at `never`.
  @inlinable
  public func advanced(bySeconds amount: UInt64) -> Instant {
    let (product, overflow) = amount.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .never : advanced(byNanoseconds: product)
  }

  /// How far this instant lies after `earlier`; zero when it does not.
  @inlinable
  public func nanoseconds(since earlier: Instant) -> UInt64 {
    nanoseconds > earlier.nanoseconds ? nanoseconds &- earlier.nanoseconds : 0
  }

  /// Whole milliseconds since `earlier`, rounded down; zero when this instant is not later.
  @inlinable
  public func milliseconds(since earlier: Instant) -> UInt64 { nanoseconds(since: earlier) / 1_000_000 }
}
