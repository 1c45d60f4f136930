/// Base64 with the URL-safe alphabet and without padding (RFC 4648 §5).
package enum Base64URL {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  package static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count * 4 + 2) / 3)
    var at = 0
    while at < bytes.count {
      let left = bytes.count - at
      let first = UInt32(bytes[at]) << 16
      let second = left > 1 ? UInt32(bytes[at + 1]) << 8 : 0
      let third = left > 2 ? UInt32(bytes[at + 2]) : 0
      let group = first | second | third
      text.append(alphabet[Int(group >> 18)])
      text.append(alphabet[Int(group >> 12 & 63)])
      if left > 1 { text.append(alphabet[Int(group >> 6 & 63)]) }
      if left > 2 { text.append(alphabet[Int(group & 63)]) }
      at += 3
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes, or nil when the text has a character outside the alphabet, an impossible length, or leftover bits.
  package static func decode(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var group: UInt32 = 0
    var bits = 0
    for character in text.utf8 {
      let value: UInt32
      switch character {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = UInt32(character - UInt8(ascii: "A"))
      case UInt8(ascii: "a")...UInt8(ascii: "z"): value = UInt32(character - UInt8(ascii: "a")) + 26
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = UInt32(character - UInt8(ascii: "0")) + 52
      case UInt8(ascii: "-"): value = 62
      case UInt8(ascii: "_"): value = 63
      default: return nil
      }
      group = group << 6 | value
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(bits)))
        group &= (1 << UInt32(bits)) - 1
      }
    }
    guard bits < 6, group == 0 else { return nil }
    return bytes
  }
}
