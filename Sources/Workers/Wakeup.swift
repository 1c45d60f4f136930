import CLinux
import Glibc
package import Primitives

/// An eventfd that interrupts one waiting thread: an event loop that has it in its epoll set, or a plain worker that
/// waits on it. Wakes that come before the sleeper looks fall together into one.
package final class Wakeup: Sendable {
  /// Readable while a wake is unconsumed. Owned by this object.
  package let fileDescriptor: Int32

  package init() {
    fileDescriptor = clinux_eventfd()
    precondition(fileDescriptor >= 0, "an eventfd could not be made: errno \(errno)")
  }

  deinit { close(fileDescriptor) }

  /// Ends the current or the next wait.
  package func wake() {
    var one: UInt64 = 1
    while write(fileDescriptor, &one, MemoryLayout<UInt64>.size) < 0 {
      // EAGAIN: the counter is at its maximum, so the sleeper is awake by any measure.
      if errno == EAGAIN { return }
      precondition(errno == EINTR, "an eventfd could not be written: errno \(errno)")
    }
  }

  /// Takes the wakes that have come.
  /// - Returns: false when there were none.
  @discardableResult
  package func consume() -> Bool {
    var wakes: UInt64 = 0
    while read(fileDescriptor, &wakes, MemoryLayout<UInt64>.size) < 0 {
      if errno == EAGAIN { return false }
      precondition(errno == EINTR, "an eventfd could not be read: errno \(errno)")
    }
    return true
  }

  /// Blocks a plain worker until a wake or the deadline, and consumes the wake.
  /// - Returns: false when the deadline passed first.
  package func wait(until deadline: Instant = .never) -> Bool {
    while true {
      if consume() { return true }
      var timeoutMilliseconds: Int32 = -1
      if deadline != .never {
        let left = deadline.nanoseconds(since: Clock.now())
        if left == 0 { return false }
        timeoutMilliseconds = Int32(clamping: (left + 999_999) / 1_000_000)
      }
      var request = pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0)
      if poll(&request, 1, timeoutMilliseconds) < 0 {
        precondition(errno == EINTR, "an eventfd could not be polled: errno \(errno)")
      }
    }
  }
}
