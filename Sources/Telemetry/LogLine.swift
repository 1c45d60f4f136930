import Synchronization

/// How grave an event is.
package enum LogLevel: UInt8, Comparable, Sendable, CaseIterable {
  case debug, info, warning, error

  package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }

  /// The word in a log line, and in configuration.
  package var name: String {
    switch self {
    case .debug: return "debug"
    case .info: return "info"
    case .warning: return "warning"
    case .error: return "error"
    }
  }
}

/// How lines are written (S8).
package enum LogFormat: UInt8, Sendable, AtomicRepresentable { case keyValue, json }

/// The value of one field.
package enum LogValue: Sendable, Equatable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation,
  ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
  case text(String)
  case integer(Int64)
  case flag(Bool)

  package init(stringLiteral value: String) { self = .text(value) }
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(booleanLiteral value: Bool) { self = .flag(value) }

  /// Any integer; one beyond Int64 is clamped.
  package static func number(_ value: some BinaryInteger) -> LogValue { .integer(Int64(clamping: value)) }
}

/// One event as bytes: pure, so that its escapes can be tested without a log.
enum LogLine {
  typealias Field = (key: String, value: LogValue)

  static func render(
    _ format: LogFormat, unixMilliseconds: Int64, _ level: LogLevel, _ event: String, _ fields: some Sequence<Field>,
    suppressed: UInt64
  ) -> [UInt8] {
    var line = ""
    let time = timestamp(unixMilliseconds)
    switch format {
    case .keyValue:
      line += "\(time) \(level.name) \(event)"
      for (key, value) in fields { line += " \(key)=\(plain(value))" }
      if suppressed > 0 { line += " suppressed=\(suppressed)" }
    case .json:
      line += "{\"ts\":\"\(time)\",\"level\":\"\(level.name)\",\"event\":\(quoted(event))"
      for (key, value) in fields { line += ",\(quoted(key)):\(json(value))" }
      if suppressed > 0 { line += ",\"suppressed\":\(suppressed)" }
      line += "}"
    }
    line += "\n"
    return Array(line.utf8)
  }

  /// `2026-01-31T23:59:59.999Z`, by the civil calendar (RFC 3339).
  static func timestamp(_ unixMilliseconds: Int64) -> String {
    let (seconds, milliseconds) = floorDivide(unixMilliseconds, 1000)
    let (days, secondOfDay) = floorDivide(seconds, 86_400)
    // Years counted from 1 March make the leap day the last of its year; 146,097 days are 400 years.
    let (era, dayOfEra) = floorDivide(days + 719_468, 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * shifted + 2) / 5 + 1
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))T\(pad(secondOfDay / 3600, 2)):"
      + "\(pad(secondOfDay / 60 % 60, 2)):\(pad(secondOfDay % 60, 2)).\(pad(milliseconds, 3))Z"
  }

  private static func floorDivide(_ value: Int64, _ divisor: Int64) -> (Int64, Int64) {
    let (quotient, rest) = value.quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
  }

  private static func pad(_ value: Int64, _ width: Int) -> String {
    let digits = "\(value)"
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }

  private static func plain(_ value: LogValue) -> String {
    switch value {
    case .integer(let number): return "\(number)"
    case .flag(let flag): return flag ? "true" : "false"
    case .text(let text):
      let isBare =
        !text.isEmpty
        && text.unicodeScalars.allSatisfy { scalar in
          scalar.value > 32 && scalar != "\"" && scalar != "=" && scalar != "\\" && !moves(scalar)
        }
      return isBare ? text : quoted(text)
    }
  }

  private static func json(_ value: LogValue) -> String {
    switch value {
    case .integer(let number): return "\(number)"
    case .flag(let flag): return flag ? "true" : "false"
    case .text(let text): return quoted(text)
    }
  }

  /// Whether a terminal or a reader of lines may do something else than show it: the controls of ASCII and Latin-1, line
  /// and paragraph separators, marks that turn the writing direction.
  private static func moves(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<32, 0x7F..<0xA0, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// A JSON string: nothing a peer sends can end the line or forge a field.
  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where moves(scalar):
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
