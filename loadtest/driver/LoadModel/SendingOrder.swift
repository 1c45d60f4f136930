package import Primitives

/// Which senders to look at: a turn must not cost a step for each of 19,000 that have nothing to do.
package struct SendingOrder: Sendable {
  private var start = Instant.never
  private var pace: Pace?
  private var senders = 0
  /// Messages of an open loop that have come due, over all senders.
  private var ticks: UInt64 = 0
  /// Senders that may have something due, or had and found no room.
  private var waiting: [Int] = []

  /// Nobody sends.
  package init() {}

  package init(_ pace: Pace, senders: Int, start: Instant) {
    self.pace = pace
    self.senders = senders
    self.start = start
    if case .inFlight = pace { waiting = Array(0..<senders) }
  }

  /// Has this sender looked at in the next turn: it has room again, or found none.
  package mutating func add(_ sender: Int) { waiting.append(sender) }

  /// Nobody sends from now on.
  package mutating func stop() { self = SendingOrder() }

  /// When the next message of an open loop is due.
  package var nextDue: Instant {
    guard case .rate(let rate) = pace else { return .never }
    let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: UInt64(rate))
    return start.advanced(byNanoseconds: seconds * 1_000_000_000 + rest * 1_000_000_000 / UInt64(rate))
  }

  /// Takes the senders to look at now.
  package mutating func take(at now: Instant) -> [Int] {
    while case let due = nextDue, due != .never, due <= now {
      // A schedule takes messages in turn over the senders, the first at once.
      waiting.append(Int(ticks % UInt64(senders)))
      ticks += 1
    }
    if waiting.isEmpty { return [] }
    var taken: [Int] = []
    swap(&taken, &waiting)
    return taken
  }
}
