import Glibc
import Workers

/// What the system knows of this process (S8), read at each scrape, under the names that Prometheus' own libraries use.
package struct ProcessMetrics: Sendable {
  private let version: String
  private let startedUnixMilliseconds: Int64

  /// - Parameter version: of the gateway, for `threadcast_build_info`.
  package init(version: String) {
    self.version = version
    startedUnixMilliseconds = Clock.unixMilliseconds()
  }

  package func register(in registry: MetricRegistry) {
    let started = Double(startedUnixMilliseconds) / 1000
    registry.gauge(
      "threadcast_build_info", help: "Always 1; the label is the gateway's version.", labels: [("version", version)]
    ) { 1 }
    registry.gauge("process_start_time_seconds", help: "When the process started, in Unix time.") { started }
    registry.counter("process_cpu_seconds_total", help: "Processor time used, user and system.") { Self.cpuSeconds }
    registry.gauge("process_resident_memory_bytes", help: "Memory of the process that is in RAM.") {
      Double(Self.residentBytes)
    }
    registry.gauge("process_open_fds", help: "File descriptors that are open.") { Double(Self.openDescriptors) }
    registry.gauge("process_max_fds", help: "File descriptors that may be open.") { Double(Self.descriptorLimit) }
  }

  /// The second number of `/proc/self/statm` is in pages (proc(5)); zero when it cannot be read.
  package static var residentBytes: Int {
    let fields = contents("/proc/self/statm").split(separator: " ")
    guard fields.count > 1, let pages = Int(fields[1]) else { return 0 }
    return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
  }

  /// Counted by the kernel since Linux 6.2; before, by reading the folder.
  package static var openDescriptors: Int {
    var status = stat()
    if stat("/proc/self/fd", &status) == 0, status.st_size > 0 { return Int(status.st_size) }
    guard let folder = opendir("/proc/self/fd") else { return 0 }
    defer { closedir(folder) }
    var entries = 0
    while readdir(folder) != nil { entries += 1 }
    // Not `.`, `..` and the descriptor of this look.
    return max(0, entries - 3)
  }

  package static var descriptorLimit: UInt {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
    return UInt(limit.rlim_cur)
  }

  package static var cpuSeconds: Double {
    var usage = rusage()
    guard getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else { return 0 }
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
  }

  private static func contents(_ path: String) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    let bytes = [UInt8](unsafeUninitializedCapacity: 256) { buffer, count in
      count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
