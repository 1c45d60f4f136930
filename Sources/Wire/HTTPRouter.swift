/// What an HTTP request's method and path mean.
package enum RouteMatch: Sendable {
  /// `parameters` are the template's fields, percent-decoded.
  case operation(OperationDefinition, parameters: [(name: String, value: String)])
  /// The path exists, with these methods.
  case methodNotAllowed(allowed: [String])
  case notFound
}

/// Finds the operation of an HTTP request. A value; safe to share.
package struct HTTPRouter: Sendable {
  private let definitions: [OperationDefinition]

  package init() {
    definitions = OperationTable.all.filter { $0.route != nil }
  }

  /// `path` is the raw path without its query; it is percent-decoded here, segment by segment, so that an encoded slash
  /// stays part of its segment. A path that does not decode to text without NUL is not found (M4). HEAD is not a
  /// method of any operation.
  package func route(method: String, path: String) -> RouteMatch {
    guard path.utf8.first == UInt8(ascii: "/") else { return .notFound }
    var segments: [String] = []
    for segment in path.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
      guard let text = PercentCoding.decode(segment, plusIsSpace: false), !text.isEmpty else { return .notFound }
      segments.append(text)
    }
    var allowed: [String] = []
    for definition in definitions {
      guard let route = definition.route, let parameters = Self.match(route.segments, segments) else { continue }
      if route.method.rawValue == method { return .operation(definition, parameters: parameters) }
      allowed.append(route.method.rawValue)
    }
    return allowed.isEmpty ? .notFound : .methodNotAllowed(allowed: allowed)
  }

  private static func match(_ template: [Substring], _ path: [String]) -> [(name: String, value: String)]? {
    guard template.count == path.count else { return nil }
    var parameters: [(name: String, value: String)] = []
    for (wanted, segment) in zip(template, path) {
      if wanted.utf8.first == UInt8(ascii: "{") {
        parameters.append((String(wanted.dropFirst().dropLast()), segment))
      } else if wanted != segment {
        return nil
      }
    }
    return parameters
  }
}

/// A query string's pairs.
package enum HTTPQuery {
  /// Splits at `&` and `=` and decodes both sides, `+` as a space. Nil when something does not decode to text without
  /// NUL (M4). Of pairs with the same name the last counts.
  package static func parse(_ query: String) -> [(name: String, value: String)]? {
    var pairs: [(name: String, value: String)] = []
    for pair in query.split(separator: "&") {
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = PercentCoding.decode(sides[0], plusIsSpace: true),
        let value = PercentCoding.decode(sides.count > 1 ? sides[1] : "", plusIsSpace: true)
      else { return nil }
      pairs.append((name, value))
    }
    return pairs
  }
}

/// RFC 3986 §2.1.
enum PercentCoding {
  /// Nil for a broken escape, for bytes that are no UTF-8, and for a NUL.
  static func decode(_ text: Substring, plusIsSpace: Bool) -> String? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    var rest = text.utf8.makeIterator()
    while let byte = rest.next() {
      if byte == UInt8(ascii: "%") {
        guard let high = rest.next().flatMap(nibble), let low = rest.next().flatMap(nibble) else { return nil }
        bytes.append(high << 4 | low)
      } else {
        bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
      }
    }
    if bytes.contains(0) { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func nibble(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
