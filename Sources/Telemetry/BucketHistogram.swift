import Synchronization

/// Values in fixed buckets, as Prometheus wants them. Recording is a short scan and two plain stores: it allocates
/// nothing and takes no lock. One thread records, any thread reads; threads that measure the same thing keep one
/// instance each, and the registry adds them up.
package final class BucketHistogram: Sendable {
  /// More bounds than this are a mistake of ours.
  package static let mostBounds = 24

  /// 10 µs to 10 s in steps of about 2.3, in nanoseconds.
  package static let durationBounds: [UInt64] = [
    10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000,
    50_000_000, 100_000_000, 250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
  ]

  /// What values are counted in, and how they are told.
  package enum Unit: Sendable {
    /// Recorded in nanoseconds, told in seconds.
    case nanoseconds
    /// Told as recorded.
    case one

    var perTold: Double {
      switch self {
      case .nanoseconds: 1e9
      case .one: 1
      }
    }
  }

  /// Upper bounds, inclusive, ascending; what is larger falls into the last, unbounded bucket.
  package let bounds: [UInt64]
  package let unit: Unit
  private let buckets = InlineArray<25, Atomic<UInt64>> { _ in Atomic(0) }
  private let total = Atomic<UInt64>(0)

  package init(bounds: [UInt64] = BucketHistogram.durationBounds, unit: Unit = .nanoseconds) {
    precondition(bounds.count <= Self.mostBounds, "a histogram has at most \(Self.mostBounds) bounds")
    precondition(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }, "histogram bounds must ascend")
    self.bounds = bounds
    self.unit = unit
  }

  /// Counts one value. Always from the same thread.
  package func record(_ value: UInt64) {
    var bucket = 0
    while bucket < bounds.count, value > bounds[bucket] { bucket += 1 }
    // With one writer a load and a store lose nothing, and cost no locked instruction.
    buckets[bucket].store(buckets[bucket].load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    total.store(total.load(ordering: .relaxed) &+ value, ordering: .relaxed)
  }

  /// Values a bucket, not accumulated; the last is the unbounded one.
  package var counts: [UInt64] { (0...bounds.count).map { buckets[$0].load(ordering: .relaxed) } }

  /// The sum of everything recorded.
  package var sum: UInt64 { total.load(ordering: .relaxed) }
}
