/// The domain: people, groups, conversations, messages, threads and subscriptions, as values and rules.
///
/// Threads: none. Lifecycle: none; everything here is a value or a function of its arguments.
/// Never imports: JSON, SQL, sockets, clocks, random numbers. Whoever needs "now" passes it in.

/// A position in the log: every durable happening takes the next one (M1). From 1 to 2^53 − 1.
package struct Seq: Hashable, Comparable, Sendable {
  package let value: Int64

  package init(_ value: Int64) { self.value = value }

  package static let none = Seq(0)
  /// The largest integer that every JSON reader holds exactly.
  package static let maximum = Seq(9_007_199_254_740_991)

  package static func < (a: Seq, b: Seq) -> Bool { a.value < b.value }
}

/// A message's identity: the seq of its creation (M1).
package struct MessageID: Hashable, Comparable, Sendable {
  package let value: Int64

  package init(_ value: Int64) { self.value = value }

  /// Nil unless `value` is an integer from 1 to 2^53 − 1.
  package init?(exactly value: Int64) {
    guard value >= 1, value <= Seq.maximum.value else { return nil }
    self.value = value
  }

  package var seq: Seq { Seq(value) }

  package static func < (a: MessageID, b: MessageID) -> Bool { a.value < b.value }
}

/// Unix time in whole seconds, as it stands on the wire (M6).
package struct UnixSeconds: Hashable, Comparable, Sendable {
  package let value: Int64
  package init(_ value: Int64) { self.value = value }
  package static let never = UnixSeconds(0)
  package static func < (a: UnixSeconds, b: UnixSeconds) -> Bool { a.value < b.value }
}

/// A JSON object as the gateway re-encoded it (M5): compact UTF-8, already checked. The domain carries it unread.
package struct JSONText: Hashable, Sendable {
  package let text: String
  package init(unchecked text: String) { self.text = text }
  package static let emptyObject = JSONText(unchecked: "{}")
}
