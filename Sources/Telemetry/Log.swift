import Glibc
import Synchronization
import Workers

/// The process's log: one line an event, at most twenty a second of each event name, the rest counted and told with the
/// next line of that name as `suppressed=N` (S8). Lines leave whole and in order.
package final class Log: Sendable {
  private struct Window: Sendable {
    var start: Int64
    var lines = 0
    var suppressed: UInt64 = 0
  }

  private let written: Atomic<LogFormat>
  private let linesPerSecond: Int
  private let unixMilliseconds: @Sendable () -> Int64
  private let sink: @Sendable ([UInt8]) -> Bool
  private let threshold: Atomic<UInt8>
  /// By event name; names are literals of our own, so there are few.
  private let windows = Guarded<[String: Window]>([:])
  /// Lines that the sink could not take.
  package let dropped = Counter()
  /// Lines that were not written because their name had had its share of the second.
  package let suppressed = Counter()

  /// - Parameters:
  ///   - linesPerSecond: of one event name.
  ///   - unixMilliseconds: the wall clock.
  ///   - sink: takes a whole line with its line feed, under the log's lock; false when it could not.
  package init(
    level: LogLevel = .info, format: LogFormat = .keyValue, linesPerSecond: Int = 20,
    unixMilliseconds: @escaping @Sendable () -> Int64 = { Clock.unixMilliseconds() },
    sink: @escaping @Sendable ([UInt8]) -> Bool = Log.writeToStandardError
  ) {
    threshold = Atomic(level.rawValue)
    written = Atomic(format)
    self.linesPerSecond = linesPerSecond
    self.unixMilliseconds = unixMilliseconds
    self.sink = sink
  }

  /// The least grave level that is written; may change while running (S7).
  package var level: LogLevel {
    get { LogLevel(rawValue: threshold.load(ordering: .relaxed)) ?? .info }
    set { threshold.store(newValue.rawValue, ordering: .relaxed) }
  }

  /// How lines are written; may change while running (S7).
  package var format: LogFormat {
    get { written.load(ordering: .relaxed) }
    set { written.store(newValue, ordering: .relaxed) }
  }

  /// What a log line carries, in order. Made only when the line's level is written.
  package typealias Fields = KeyValuePairs<String, LogValue>

  package func debug(_ event: StaticString, _ fields: @autoclosure () -> Fields = [:]) {
    write(.debug, event, fields())
  }

  package func info(_ event: StaticString, _ fields: @autoclosure () -> Fields = [:]) {
    write(.info, event, fields())
  }

  package func warning(_ event: StaticString, _ fields: @autoclosure () -> Fields = [:]) {
    write(.warning, event, fields())
  }

  package func error(_ event: StaticString, _ fields: @autoclosure () -> Fields = [:]) {
    write(.error, event, fields())
  }

  /// Writes one event unless its level is below the threshold or its name has had its lines for this second.
  package func write(_ level: LogLevel, _ event: StaticString, _ fields: @autoclosure () -> Fields) {
    guard level.rawValue >= threshold.load(ordering: .relaxed) else { return }
    let now = unixMilliseconds()
    let name = event.description
    let format = format
    let fields = fields()
    let taken = windows.withLock { windows in
      var window = windows[name] ?? Window(start: now)
      defer { windows[name] = window }
      // A clock set back starts a new window too.
      if now - window.start >= 1000 || now < window.start {
        window.start = now
        window.lines = 0
      }
      guard window.lines < linesPerSecond else {
        window.suppressed += 1
        suppressed.increment()
        return true
      }
      let line = LogLine.render(
        format, unixMilliseconds: now, level, name, fields.lazy.map { (key: $0.key, value: $0.value) },
        suppressed: window.suppressed)
      window.lines += 1
      window.suppressed = 0
      return sink(line)
    }
    if !taken { dropped.increment() }
  }

  /// Writes to standard error if it takes bytes within 10 ms; a stuck terminal or pipe must not stop a loop.
  package static let writeToStandardError: @Sendable ([UInt8]) -> Bool = { line in
    var sent = 0
    while sent < line.count {
      var request = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
      let ready = poll(&request, 1, 10)
      if ready < 0, errno == EINTR { continue }
      guard ready > 0 else { return false }
      // A pipe that polls ready takes this much without blocking.
      let count = line[sent...].prefix(4096).withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }
}
