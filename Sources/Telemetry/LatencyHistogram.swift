/// Durations in fixed buckets, as Prometheus wants them. Recording is a short scan and two relaxed additions.
package final class LatencyHistogram: Sendable {
  /// 100 µs to 10 s in steps of about 2.3.
  package static let defaultBoundsNanoseconds: [UInt64] = [
    100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000,
    250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
  ]

  /// Upper bounds, inclusive, ascending; what is larger falls into the last, unbounded bucket.
  package let boundsNanoseconds: [UInt64]
  /// One more than bounds.
  private let buckets: [Counter]
  private let total = Counter()

  package init(boundsNanoseconds: [UInt64] = LatencyHistogram.defaultBoundsNanoseconds) {
    precondition(
      zip(boundsNanoseconds, boundsNanoseconds.dropFirst()).allSatisfy { $0 < $1 }, "histogram bounds must ascend")
    self.boundsNanoseconds = boundsNanoseconds
    buckets = (0...boundsNanoseconds.count).map { _ in Counter() }
  }

  package func record(nanoseconds: UInt64) {
    var bucket = 0
    while bucket < boundsNanoseconds.count, nanoseconds > boundsNanoseconds[bucket] { bucket += 1 }
    buckets[bucket].increment()
    total.add(nanoseconds)
  }

  /// Values a bucket, not accumulated; the last is the unbounded one.
  package var counts: [UInt64] { buckets.map(\.value) }

  /// The sum of everything recorded.
  package var sumNanoseconds: UInt64 { total.value }
}
