import Glibc

/// A short sleep of a worker or the main thread. Loops never sleep.
enum Backoff {
  static func pauseMilliseconds(_ milliseconds: Int) {
    let wanted = timespec(tv_sec: milliseconds / 1000, tv_nsec: (milliseconds % 1000) * 1_000_000)
    withUnsafeTemporaryAllocation(of: timespec.self, capacity: 1) { left in
      left.initialize(repeating: wanted)
      while nanosleep(left.baseAddress, left.baseAddress) != 0, errno == EINTR {}
    }
  }
}
