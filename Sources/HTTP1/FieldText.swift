/// Texts of header fields. Everything here looks at octets: letters beyond ASCII have no upper case in HTTP, and the
/// Kelvin sign is no `k` (RFC 9110 §5.6.2).
extension StringProtocol {
  /// Without spaces and tabs at both ends (OWS, RFC 9110 §5.6.3).
  package func trimmed() -> SubSequence {
    let scalars = unicodeScalars
    var start = scalars.startIndex
    var end = scalars.endIndex
    while start < end, isBlank(scalars[start]) { start = scalars.index(after: start) }
    while end > start, isBlank(scalars[scalars.index(before: end)]) { end = scalars.index(before: end) }
    return self[start..<end]
  }

  /// Whether both are the same but for the case of ASCII letters.
  package func equalsIgnoringASCIICase(_ other: some StringProtocol) -> Bool {
    utf8.elementsEqual(other.utf8) { asciiLowercased($0) == asciiLowercased($1) }
  }

  /// The elements of a list field, trimmed; empty ones are skipped (RFC 9110 §5.6.1).
  package func listElements() -> [String] {
    var elements: [String] = []
    for part in unicodeScalars.split(separator: ",") {
      var element = String.UnicodeScalarView()
      element.append(contentsOf: part)
      let text = String(element).trimmed()
      if !text.isEmpty { elements.append(String(text)) }
    }
    return elements
  }
}

private func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }

func asciiLowercased(_ byte: UInt8) -> UInt8 {
  byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte + 32 : byte
}

func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

/// RFC 9110 §5.6.2.
func isTokenCharacter(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "0")...UInt8(ascii: "9"):
    true
  case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
    UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
    UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
    true
  default: false
  }
}

/// RFC 9110 §5.5: no control characters but the tab.
func isFieldCharacter(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7F || byte == 0x09 }
