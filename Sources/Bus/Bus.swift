package import Chat

/// Committed events between the nodes of a cluster. A hint, never the truth: whatever the bus loses, a node reads from
/// the store when it sees the hole in `previousHead`.
///
/// Threads: `publish` may be called from any thread; receivers are called on the publisher's thread or the bus's own,
/// and only pass the batch on. Lifecycle: nodes join after they can receive and leave before they stop.
/// Never imports: sockets of clients, SQL, JSON.
package protocol Bus: Sendable {
  /// Hears every batch that other nodes publish from now on.
  func join(_ node: NodeID, receiver: @escaping @Sendable (EventBatch) -> Void)
  func leave(_ node: NodeID)
  /// Tells every other node; returns without waiting for any.
  func publish(_ batch: EventBatch, from node: NodeID)
}

/// A node of the cluster: random, made at start.
package struct NodeID: Hashable, Sendable {
  package let text: String
  package init(_ text: String) { self.text = text }
}

/// One committed batch: its events in seq order, and where it stands in the log.
package struct EventBatch: Sendable {
  package var events: [EncodedEvent]
  package var previousHead: Seq
  package var head: Seq

  /// An event and its frame text, written once (R5).
  package struct EncodedEvent: Sendable {
    package var event: Event
    package var text: [UInt8]
    package init(event: Event, text: [UInt8]) {
      self.event = event
      self.text = text
    }
  }

  package init(events: [EncodedEvent], previousHead: Seq, head: Seq) {
    self.events = events
    self.previousHead = previousHead
    self.head = head
  }
}
