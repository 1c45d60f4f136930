import CSimdjson

/// Appends compact JSON to bytes that it owns. Commas and colons are the writer's business; that every container is
/// closed is the caller's.
///
/// Text is Swift's and so always valid; quotes, backslashes and control characters are escaped, all else stays.
package struct JSONWriter: Sendable {
  /// Grown ahead of what is written, so that a write is one check and a copy; the tail behind `end` is zeros.
  private var bytes: [UInt8]
  private var end = 0
  private var needsComma = false

  package init(reservingBytes capacity: Int = 0) {
    bytes = [UInt8](repeating: 0, count: capacity)
  }

  /// Bytes written so far.
  package var count: Int { end }

  /// Hands over what was written and starts anew.
  package mutating func take() -> [UInt8] {
    needsComma = false
    var taken: [UInt8] = []
    swap(&taken, &bytes)
    taken.removeLast(taken.count - end)
    end = 0
    return taken
  }

  package mutating func beginObject() {
    separate()
    append(UInt8(ascii: "{"))
    needsComma = false
  }

  package mutating func endObject() {
    append(UInt8(ascii: "}"))
    needsComma = true
  }

  package mutating func beginArray() {
    separate()
    append(UInt8(ascii: "["))
    needsComma = false
  }

  package mutating func endArray() {
    append(UInt8(ascii: "]"))
    needsComma = true
  }

  /// A member's name that needs no escape; its value must follow.
  package mutating func key(_ name: StaticString) {
    let count = name.utf8CodeUnitCount
    let comma = needsComma ? 1 : 0
    makeRoom(count + 4)
    let start = end
    bytes.withUnsafeMutableBytes { buffer in
      buffer[start] = UInt8(ascii: ",")
      buffer[start + comma] = UInt8(ascii: "\"")
      buffer.baseAddress?.advanced(by: start + comma + 1).copyMemory(from: name.utf8Start, byteCount: count)
      buffer[start + comma + 1 + count] = UInt8(ascii: "\"")
      buffer[start + comma + 2 + count] = UInt8(ascii: ":")
    }
    end = start + comma + count + 3
    needsComma = false
  }

  /// A member's name out of somebody's data.
  package mutating func key(_ name: String) {
    string(name)
    append(UInt8(ascii: ":"))
    needsComma = false
  }

  package mutating func string(_ text: String) {
    separate()
    append(UInt8(ascii: "\""))
    let done: Void? = text.utf8.withContiguousStorageIfAvailable { escape($0) }
    if done == nil {
      var native = text
      native.withUTF8 { escape($0) }
    }
    append(UInt8(ascii: "\""))
    needsComma = true
  }

  /// UTF-8 that was checked before.
  package mutating func string(_ utf8: UnsafeBufferPointer<UInt8>) {
    separate()
    append(UInt8(ascii: "\""))
    escape(utf8)
    append(UInt8(ascii: "\""))
    needsComma = true
  }

  package mutating func integer(_ value: Int64) {
    separate()
    if value < 0 { append(UInt8(ascii: "-")) }
    digits(value.magnitude)
    needsComma = true
  }

  package mutating func integer(_ value: Int) { integer(Int64(value)) }

  package mutating func unsigned(_ value: UInt64) {
    separate()
    digits(value)
    needsComma = true
  }

  package mutating func boolean(_ value: Bool) {
    separate()
    literal(value ? "true" : "false")
    needsComma = true
  }

  package mutating func null() {
    separate()
    literal("null")
    needsComma = true
  }

  /// The shortest text that reads back as the same double.
  package mutating func double(_ value: Double) {
    precondition(value.isFinite, "JSON has no number that is not finite.")
    separate()
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { digits in
      guard let start = digits.baseAddress else { return }
      let count = csimdjson_format_double(value, start)
      append(UnsafeBufferPointer(start: start, count: count))
    }
    needsComma = true
  }

  /// A whole value that is compact JSON already.
  package mutating func raw(_ json: String) {
    separate()
    let done: Void? = json.utf8.withContiguousStorageIfAvailable { append($0) }
    if done == nil {
      var native = json
      native.withUTF8 { append($0) }
    }
    needsComma = true
  }

  /// A whole value that is compact JSON already.
  package mutating func raw(_ json: [UInt8]) {
    separate()
    json.withUnsafeBufferPointer { append($0) }
    needsComma = true
  }

  /// Writes a parsed value anew: no white space, minimal escapes, members in their order, doubles in their shortest
  /// form. Recursion is bounded by the depth that the parser let through.
  package mutating func value(_ value: JSONValue) {
    switch value.kind {
    case .object:
      beginObject()
      if let members = value.members {
        for member in members {
          string(member.name)
          append(UInt8(ascii: ":"))
          needsComma = false
          self.value(member.value)
        }
      }
      endObject()
    case .array:
      beginArray()
      if let elements = value.elements {
        for element in elements { self.value(element) }
      }
      endArray()
    case .string:
      if let utf8 = value.utf8 { string(utf8) }
    case .integer:
      if let number = value.integer { integer(number) }
    case .unsigned:
      if let number = value.unsigned { unsigned(number) }
    case .double:
      if let number = value.double { double(number) }
    case .boolean:
      boolean(value.boolean == true)
    case .null:
      null()
    }
  }

  private mutating func makeRoom(_ count: Int) {
    guard bytes.count - end < count else { return }
    let wanted = max(bytes.count * 2, end + count, 64)
    bytes.append(contentsOf: repeatElement(0, count: wanted - bytes.count))
  }

  private mutating func append(_ byte: UInt8) {
    makeRoom(1)
    bytes[end] = byte
    end += 1
  }

  private mutating func append(_ run: UnsafeBufferPointer<UInt8>) {
    guard let source = run.baseAddress, !run.isEmpty else { return }
    makeRoom(run.count)
    let start = end
    bytes.withUnsafeMutableBytes { buffer in
      buffer.baseAddress?.advanced(by: start).copyMemory(from: source, byteCount: run.count)
    }
    end = start + run.count
  }

  private mutating func separate() {
    if needsComma { append(UInt8(ascii: ",")) }
  }

  private mutating func literal(_ text: StaticString) {
    append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private mutating func digits(_ value: UInt64) {
    if value < 10 {
      append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value))
      return
    }
    // 2^64 has 20 digits.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var rest = value
      var first = 20
      while rest > 0 {
        first -= 1
        digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      }
      append(UnsafeBufferPointer(rebasing: digits[first...]))
    }
  }

  /// Copies runs that need no escape in one go; looks at eight bytes at a time.
  private mutating func escape(_ text: UnsafeBufferPointer<UInt8>) {
    guard let start = text.baseAddress else { return }
    let count = text.count
    var copied = 0
    var index = 0
    while index < count {
      if count - index >= 8 {
        let word = UnsafeRawPointer(start + index).loadUnaligned(as: UInt64.self)
        if !Self.holdsEscape(word) {
          index += 8
          continue
        }
      }
      let wordEnd = min(index + 8, count)
      while index < wordEnd {
        let byte = start[index]
        if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
          append(UnsafeBufferPointer(start: start + copied, count: index - copied))
          escape(byte)
          copied = index + 1
        }
        index += 1
      }
    }
    append(UnsafeBufferPointer(start: start + copied, count: count - copied))
  }

  /// Whether one of the eight bytes is below 0x20, a quote or a backslash. May say yes for a neighbour of such a byte,
  /// never no for one.
  private static func holdsEscape(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs: UInt64 = 0x8080_8080_8080_8080
    let quote = word ^ (ones &* 0x22)
    let backslash = word ^ (ones &* 0x5C)
    let control = (word &- (ones &* 0x20)) & ~word
    let isQuote = (quote &- ones) & ~quote
    let isBackslash = (backslash &- ones) & ~backslash
    return (control | isQuote | isBackslash) & highs != 0
  }

  private mutating func escape(_ byte: UInt8) {
    append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(byte)
    case 0x08: append(UInt8(ascii: "b"))
    case 0x09: append(UInt8(ascii: "t"))
    case 0x0A: append(UInt8(ascii: "n"))
    case 0x0C: append(UInt8(ascii: "f"))
    case 0x0D: append(UInt8(ascii: "r"))
    default:
      literal("u00")
      append(UInt8(ascii: "0") + (byte >> 4))
      let low = byte & 0x0F
      append(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + (low - 10))
    }
  }
}
