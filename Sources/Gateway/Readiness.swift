import Synchronization

/// Whether this node can accept and commit (S10); set by the committer and the drain, read by every shard.
package final class Readiness: Sendable {
  private let storeWorks = Atomic<Bool>(true)
  private let draining = Atomic<Bool>(false)

  package init() {}

  package func setStoreWorks(_ works: Bool) { storeWorks.store(works, ordering: .relaxed) }
  package func setDraining() { draining.store(true, ordering: .relaxed) }

  package var isStoreWorking: Bool { storeWorks.load(ordering: .relaxed) }
  package var isDraining: Bool { draining.load(ordering: .relaxed) }
  package var isReady: Bool { isStoreWorking && !isDraining }
}
