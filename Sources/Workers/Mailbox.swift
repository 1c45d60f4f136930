package import Primitives

/// What became of a posted message.
package enum PostOutcome: Sendable {
  /// The consumer will drain it.
  case accepted
  /// The mailbox is at its limit; nothing was stored.
  case full
}

/// Messages from many threads to one. Bounded; the consumer takes everything in one swap and is woken only when the
/// mailbox was empty.
package final class Mailbox<Message: Sendable>: @unchecked Sendable {
  private let lock = Lock()
  private var waiting: [Message] = []
  private var finished = false
  /// How many messages may wait.
  package let limit: Int
  /// Woken when the first message comes; several mailboxes of one consumer may share it.
  package let wakeup: Wakeup

  package init(limit: Int, wakeup: Wakeup) {
    precondition(limit > 0, "a mailbox holds at least one message")
    self.limit = limit
    self.wakeup = wakeup
  }

  /// Messages waiting at this moment; for gauges.
  package var count: Int { lock.withLock { waiting.count } }

  @discardableResult
  package func post(_ message: Message) -> PostOutcome {
    var wasEmpty = false
    let outcome: PostOutcome = lock.withLock {
      guard waiting.count < limit else { return .full }
      wasEmpty = waiting.isEmpty
      waiting.append(message)
      return .accepted
    }
    if wasEmpty { wakeup.wake() }
    return outcome
  }

  /// Posts all messages in order, or none when they do not all fit.
  @discardableResult
  package func post(contentsOf messages: [Message]) -> PostOutcome {
    if messages.isEmpty { return .accepted }
    var wasEmpty = false
    let outcome: PostOutcome = lock.withLock {
      guard waiting.count + messages.count <= limit else { return .full }
      wasEmpty = waiting.isEmpty
      waiting.append(contentsOf: messages)
      return .accepted
    }
    if wasEmpty { wakeup.wake() }
    return outcome
  }

  /// Takes everything, in the order of posting, by swapping arrays; never blocks beyond the swap. Consumer only.
  /// - Parameter batch: comes in empty (its storage is reused for the next messages), goes out filled.
  package func drain(into batch: inout [Message]) {
    precondition(batch.isEmpty, "a mailbox is drained into an empty array")
    lock.withLock { swap(&batch, &waiting) }
  }

  /// Nobody will post any more: a consumer that finds nothing need not wait for more.
  package func finish() {
    lock.withLock { finished = true }
    wakeup.wake()
  }

  package var isFinished: Bool { lock.withLock { finished } }

  /// For a plain worker: blocks until there is a message, the mailbox is finished, or the deadline passed, then drains.
  /// Consumer only.
  /// - Returns: false when the deadline passed or the mailbox is finished with nothing waiting.
  package func wait(until deadline: Instant = .never, drainingInto batch: inout [Message]) -> Bool {
    while true {
      drain(into: &batch)
      if !batch.isEmpty { return true }
      if isFinished { return false }
      if !wakeup.wait(until: deadline) {
        drain(into: &batch)
        return !batch.isEmpty
      }
    }
  }
}
