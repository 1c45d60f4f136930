internal import Glibc

/// The value of `Date` (RFC 9110 §6.6.1), made anew only when the second changes.
package struct DateField: Sendable {
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  private var second = Int64.min
  private var made = ""

  package init() {}

  /// `Sun, 06 Nov 1994 08:49:37 GMT`, an IMF-fixdate (RFC 9110 §5.6.7).
  /// - Parameter unixSeconds: since 1970-01-01 UTC.
  package mutating func text(at unixSeconds: Int64) -> String {
    if unixSeconds != second {
      made = Self.render(unixSeconds)
      second = unixSeconds
    }
    return made
  }

  private static func render(_ unixSeconds: Int64) -> String {
    var seconds = time_t(unixSeconds)
    var parts = tm()
    precondition(gmtime_r(&seconds, &parts) != nil, "a year beyond all calendars")
    func two(_ value: Int32) -> String { value < 10 ? "0\(value)" : "\(value)" }
    let date = "\(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(parts.tm_year + 1900)"
    return "\(days[Int(parts.tm_wday)]), \(date) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
  }
}
