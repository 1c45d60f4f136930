import Glibc
import LoadModel
import Primitives
import Workers

/// What the server and the driver used, sampled at the borders of the measured window.
struct Usage {
  private static let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))
  private static let pageBytes = Double(sysconf(Int32(_SC_PAGESIZE)))

  private struct Mark {
    var instant: Instant
    var server: ProcessSample?
    var driverNanoseconds: UInt64
    var idleNanoseconds: UInt64
    var deliveries: UInt64
    var sent: UInt64
  }

  private var before: ProcessSample?
  private var start: Mark?
  private var stop: Mark?

  /// Before the first connection.
  mutating func begin(_ pid: Int32?) { before = Self.sample(pid) }

  mutating func startMeasuring(_ pid: Int32?, ledger: DeliveryLedger, loop: ClientLoop) {
    start = Self.mark(pid, ledger, loop)
  }

  mutating func stopMeasuring(_ pid: Int32?, ledger: DeliveryLedger, loop: ClientLoop) {
    stop = Self.mark(pid, ledger, loop)
  }

  private static func mark(_ pid: Int32?, _ ledger: DeliveryLedger, _ loop: ClientLoop) -> Mark {
    Mark(
      instant: Clock.now(), server: sample(pid), driverNanoseconds: ownNanoseconds(),
      idleNanoseconds: loop.idleNanoseconds, deliveries: ledger.deliveries, sent: ledger.sentTotal)
  }

  private static func sample(_ pid: Int32?) -> ProcessSample? {
    guard let pid, let bytes = try? Files.read("/proc/\(pid)/stat") else { return nil }
    return ProcessSample(stat: String(decoding: bytes, as: UTF8.self))
  }

  private static func ownNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Writes rates and usage of the window. Warns when the driver was the bottleneck, or had no core to run on.
  func add(to report: inout Report, connections: Int, pid: Int32?, polls: Bool) {
    guard let start, let stop else { return }
    let seconds = Double(stop.instant.nanoseconds(since: start.instant)) / 1e9
    let deliveries = stop.deliveries - start.deliveries
    report.add("measured.seconds", seconds)
    if report.scenario.kind.sends {
      report.add("sent.perSecond", Double(stop.sent - start.sent) / seconds)
      report.add("deliveries.perSecond", Double(deliveries) / seconds)
    }
    let idle = 100 * Double(stop.idleNanoseconds - start.idleNanoseconds) / 1e9 / seconds
    report.add("driver.idlePercent", idle)
    let busy = 100 * Double(stop.driverNanoseconds - start.driverNanoseconds) / 1e9 / seconds
    report.add("driver.cpuPercent", busy)
    // Polling is computing, so then idle time is within it.
    let waited = 100 - busy - (polls ? 0 : idle)
    if waited > 10 {
      report.warnings.append(
        "the driver waited \(Report.text(waited)) % of the time for a core that others had: latencies are too high, rates a floor"
      )
    } else if idle < 5 {
      report.warnings.append("the driver was idle for \(Report.text(idle)) % only: the server may be faster than this")
    }
    guard let pid else { return }
    guard let first = start.server, let last = stop.server, let before else {
      return report.warnings.append("process \(pid) cannot be read in /proc")
    }
    let cpuSeconds = Double(last.ticks - first.ticks) / Self.ticksPerSecond
    report.add("server.cpuPercent", 100 * cpuSeconds / seconds)
    if deliveries > 0 { report.add("server.cpuMicrosecondsPerDelivery", cpuSeconds * 1e6 / Double(deliveries)) }
    report.add("server.residentMegabytes", Double(first.residentPages) * Self.pageBytes / 1e6)
    let grown = Double(first.residentPages) - Double(before.residentPages)
    report.add("server.residentBytesPerSession", grown * Self.pageBytes / Double(max(connections, 1)))
  }
}
