/// What `/proc` says of a process at one moment.
package struct ProcessSample: Hashable, Sendable {
  /// Computing time of all its threads, in clock ticks (100 a second on Linux).
  package var ticks: UInt64
  /// Resident memory, in pages.
  package var residentPages: UInt64

  package init(ticks: UInt64, residentPages: UInt64) {
    self.ticks = ticks
    self.residentPages = residentPages
  }

  /// Reads `/proc/PID/stat` (proc(5): fields 14 and 15 are utime and stime, 24 is rss; the name in field 2 may hold
  /// blanks and brackets).
  package init?(stat text: String) {
    guard let end = text.lastIndex(of: ")") else { return nil }
    let fields = text[text.index(after: end)...].split(separator: " ")
    guard fields.count > 21, let user = UInt64(fields[11]), let system = UInt64(fields[12]),
      let pages = UInt64(fields[21])
    else { return nil }
    self.init(ticks: user + system, residentPages: pages)
  }
}
