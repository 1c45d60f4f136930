import Synchronization
package import Workers

/// The part of a loop that any thread may touch: its wake-up and its stop switch.
package final class LoopControl: Sendable {
  /// Interrupts the loop's sleep; the handler's `mail()` follows. Give it to the loop's mailboxes.
  package let wakeup = Wakeup()
  private let stopping = Atomic<Bool>(false)

  package init() {}

  /// Makes `run()` return after its present turn; every open connection is told `closed`.
  package func stop() {
    stopping.store(true, ordering: .releasing)
    wakeup.wake()
  }

  var isStopping: Bool { stopping.load(ordering: .acquiring) }
}
