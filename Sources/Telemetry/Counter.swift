import Synchronization

/// A number that only grows. Updates are relaxed atomics: exact in sum, unordered towards everything else.
package final class Counter: Sendable {
  private let total = Atomic<UInt64>(0)

  package init() {}

  package func increment() { total.wrappingAdd(1, ordering: .relaxed) }

  package func add(_ amount: UInt64) { total.wrappingAdd(amount, ordering: .relaxed) }

  package var value: UInt64 { total.load(ordering: .relaxed) }
}
