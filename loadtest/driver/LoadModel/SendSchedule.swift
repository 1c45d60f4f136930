package import Primitives

/// When one sender's messages are due.
package struct SendSchedule: Sendable {
  private enum Mode {
    case open(intervalNanoseconds: UInt64, next: Instant)
    case closed(Int)
    case stopped
  }

  private var mode: Mode

  /// - Parameters:
  ///   - pace: of all senders together for a rate, of each for a window.
  ///   - position: the sender's place among `senders`; a rate is spread evenly over them.
  package init(_ pace: Pace, sender position: Int, of senders: Int, start: Instant) {
    switch pace {
    case .rate(let rate):
      let interval = 1_000_000_000 * UInt64(senders) / UInt64(rate)
      let first = start.advanced(byNanoseconds: 1_000_000_000 * UInt64(position) / UInt64(rate))
      mode = .open(intervalNanoseconds: max(interval, 1), next: first)
    case .inFlight(let window): mode = .closed(window)
    }
  }

  /// The intended time of the message to send now; nil when none is due. The caller sends it.
  /// - Parameter underWay: the sender's messages that are not done.
  package mutating func takeDue(at now: Instant, underWay: Int) -> Instant? {
    switch mode {
    case .open(let interval, let next):
      guard next <= now else { return nil }
      mode = .open(intervalNanoseconds: interval, next: next.advanced(byNanoseconds: interval))
      return next
    case .closed(let window): return underWay < window ? now : nil
    case .stopped: return nil
    }
  }

  /// When to ask again; `never` when only an event can make a message due.
  package var nextDue: Instant {
    if case .open(_, let next) = mode { return next }
    return .never
  }

  /// Nothing is due from now on.
  package mutating func stop() { mode = .stopped }
}
