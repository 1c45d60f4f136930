/// Texts and integers one behind another in a blob: for lists that are stored and read whole, never searched.
struct PackedFields {
  private(set) var bytes: [UInt8] = []

  mutating func add(_ text: String) {
    add(Int64(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }

  /// A variable length: seven bits a byte, low ones first.
  mutating func add(_ integer: Int64) {
    var rest = UInt64(bitPattern: integer)
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// `texts`, with their count before them.
  static func packing(_ texts: [String]) -> [UInt8] {
    var fields = PackedFields()
    fields.add(Int64(texts.count))
    for text in texts { fields.add(text) }
    return fields.bytes
  }
}

/// Reads what `PackedFields` wrote. Nil where the bytes end too early: the store is damaged.
struct UnpackedFields {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  mutating func integer() -> Int64? {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while let byte = rest.popFirst(), shift < 64 {
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return Int64(bitPattern: value) }
      shift += 7
    }
    return nil
  }

  mutating func text() -> String? {
    guard let count = integer(), count >= 0, count <= Int64(rest.count) else { return nil }
    let bytes = rest.prefix(Int(count))
    rest = rest.dropFirst(Int(count))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A list with its count before it; empty bytes are an empty list.
  static func texts(_ bytes: [UInt8]) -> [String]? {
    if bytes.isEmpty { return [] }
    var fields = UnpackedFields(bytes)
    guard let count = fields.integer(), count >= 0, count <= Int64(bytes.count) else { return nil }
    var texts: [String] = []
    for _ in 0..<count {
      guard let text = fields.text() else { return nil }
      texts.append(text)
    }
    return texts
  }
}
