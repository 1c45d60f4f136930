import Glibc
package import Primitives

/// The machine's clocks, read.
package enum Clock {
  /// The monotonic clock.
  package static func now() -> Instant {
    let time = read(CLOCK_MONOTONIC)
    return Instant(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
  }

  /// Whole seconds since 1970-01-01 UTC.
  package static func unixSeconds() -> Int64 { Int64(read(CLOCK_REALTIME).tv_sec) }

  /// Whole milliseconds since 1970-01-01 UTC.
  package static func unixMilliseconds() -> Int64 {
    let time = read(CLOCK_REALTIME)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  private static func read(_ clock: clockid_t) -> timespec {
    var time = timespec()
    let status = clock_gettime(clock, &time)
    precondition(status == 0, "the clock cannot be read: errno \(errno)")
    return time
  }
}
