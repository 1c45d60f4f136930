import Synchronization

/// A number that goes up and down. Updates are relaxed atomics.
package final class Gauge: Sendable {
  private let present = Atomic<Int64>(0)

  package init() {}

  package func set(_ value: Int64) { present.store(value, ordering: .relaxed) }

  /// Moves the gauge; a negative amount moves it down.
  package func add(_ amount: Int64) { present.wrappingAdd(amount, ordering: .relaxed) }

  package var value: Int64 { present.load(ordering: .relaxed) }
}
