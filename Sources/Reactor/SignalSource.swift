import CLinux
import Glibc

/// The signals an operator sends, taken one at a time by the main thread (S7).
package enum SignalSource {
  package enum Signal: Sendable, Equatable {
    /// SIGTERM: drain.
    case terminate
    /// SIGINT: drain.
    case interrupt
    /// SIGHUP: reload.
    case hangup
  }

  private static let watched: [(number: Int32, signal: Signal)] = [
    (SIGTERM, .terminate), (SIGINT, .interrupt), (SIGHUP, .hangup),
  ]

  private static func watchedSet() -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for entry in watched { sigaddset(&set, entry.number) }
    return set
  }

  /// Call first in main: threads inherit the mask, so that only `wait` sees these signals. SIGPIPE is ignored for good
  /// (C030).
  package static func blockSignals() {
    var set = watchedSet()
    let status = pthread_sigmask(SIG_BLOCK, &set, nil)
    precondition(status == 0, "signals could not be blocked: error \(status)")
    signal(SIGPIPE, SIG_IGN)
  }

  /// Blocks until one of the signals comes.
  /// - Precondition: `blockSignals` was called before any thread was started.
  package static func wait() -> Signal {
    var set = watchedSet()
    while true {
      var number: Int32 = 0
      let status = sigwait(&set, &number)
      precondition(status == 0 || status == EINTR, "signals could not be waited for: error \(status)")
      if let entry = watched.first(where: { $0.number == number }) { return entry.signal }
    }
  }
}
