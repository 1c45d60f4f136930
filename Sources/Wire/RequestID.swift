package import JSON

/// The id that a client gave a request; its reply echoes it exactly (L3).
package enum RequestID: Hashable, Sendable {
  /// From −2^53 to 2^53.
  case integer(Int64)
  /// Up to 64 characters.
  case text(String)

  /// Nil unless `value` is an integer that every JSON reader holds exactly, or a string of at most 64 characters.
  init?(_ value: JSONValue) {
    if let number = value.integer, (-9_007_199_254_740_992...9_007_199_254_740_992).contains(number) {
      self = .integer(number)
    } else if let utf8 = value.utf8, utf8.count <= 256, let text = value.string, text.unicodeScalars.count <= 64 {
      self = .text(text)
    } else {
      return nil
    }
  }

  package func encode(into writer: inout JSONWriter) {
    switch self {
    case .integer(let number): writer.integer(number)
    case .text(let text): writer.string(text)
    }
  }
}
