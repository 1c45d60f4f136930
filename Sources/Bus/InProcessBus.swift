import Workers

/// The bus of one process: a node alone hears nothing, several nodes in one test or simulation hear each other.
package final class InProcessBus: Bus {
  private let receivers = Guarded<[NodeID: @Sendable (EventBatch) -> Void]>([:])

  package init() {}

  package func join(_ node: NodeID, receiver: @escaping @Sendable (EventBatch) -> Void) {
    receivers.withLock { $0[node] = receiver }
  }

  package func leave(_ node: NodeID) {
    receivers.withLock { $0[node] = nil }
  }

  package func publish(_ batch: EventBatch, from node: NodeID) {
    // Called outside the lock: a receiver posts to mailboxes, which have locks of their own.
    let others = receivers.withLock { receivers in receivers.filter { $0.key != node }.map(\.value) }
    for receive in others { receive(batch) }
  }
}
