/// One element of `Sec-WebSocket-Extensions` (RFC 6455 §9.1).
struct ExtensionOffer: Hashable, Sendable {
  struct Parameter: Hashable, Sendable {
    var name: String
    var value: String?
  }
  var name: String
  var parameters: [Parameter]

  /// Every element of the field's value; nil when the grammar is broken.
  static func parse(_ text: String) -> [ExtensionOffer]? {
    var scanner = Scanner(Array(text.utf8))
    var offers: [ExtensionOffer] = []
    while true {
      scanner.skipSpace()
      // RFC 9110 §5.6.1: empty list elements are skipped.
      if scanner.take(",") { continue }
      if scanner.isAtEnd { return offers }
      guard let name = scanner.token() else { return nil }
      var offer = ExtensionOffer(name: name, parameters: [])
      scanner.skipSpace()
      while scanner.take(";") {
        scanner.skipSpace()
        guard let name = scanner.token() else { return nil }
        var parameter = Parameter(name: name, value: nil)
        scanner.skipSpace()
        if scanner.take("=") {
          scanner.skipSpace()
          guard let value = scanner.value() else { return nil }
          parameter.value = value
        }
        offer.parameters.append(parameter)
        scanner.skipSpace()
      }
      offers.append(offer)
      if scanner.isAtEnd { return offers }
      guard scanner.take(",") else { return nil }
    }
  }

  private struct Scanner {
    let bytes: [UInt8]
    var at = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { at == bytes.count }

    mutating func skipSpace() {
      while at < bytes.count, bytes[at] == 0x20 || bytes[at] == 0x09 { at += 1 }
    }

    mutating func take(_ scalar: Unicode.Scalar) -> Bool {
      guard at < bytes.count, bytes[at] == UInt8(ascii: scalar) else { return false }
      at += 1
      return true
    }

    mutating func token() -> String? {
      let start = at
      while at < bytes.count, Self.isToken(bytes[at]) { at += 1 }
      return at > start ? String(decoding: bytes[start..<at], as: UTF8.self) : nil
    }

    /// A token, or a quoted string whose content is one (RFC 6455 §9.1).
    mutating func value() -> String? {
      guard take("\"") else { return token() }
      var content: [UInt8] = []
      while at < bytes.count, bytes[at] != UInt8(ascii: "\"") {
        if bytes[at] == UInt8(ascii: "\\") { at += 1 }
        guard at < bytes.count, Self.isToken(bytes[at]) else { return nil }
        content.append(bytes[at])
        at += 1
      }
      guard take("\""), !content.isEmpty else { return nil }
      return String(decoding: content, as: UTF8.self)
    }

    static func isToken(_ byte: UInt8) -> Bool {
      switch byte {
      case 0...0x20, 0x7F...0xFF: false
      case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "@"),
        UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: ":"), UInt8(ascii: "\\"), UInt8(ascii: "\""),
        UInt8(ascii: "/"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "?"), UInt8(ascii: "="),
        UInt8(ascii: "{"), UInt8(ascii: "}"):
        false
      default: true
      }
    }
  }
}
