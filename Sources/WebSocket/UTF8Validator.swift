/// Checks UTF-8 as it arrives, in pieces, and fails at the first octet that cannot be part of it (RFC 3629; RFC 6455
/// §8.1). The state is what is still expected: how many continuation octets, and the range of the next one.
package struct UTF8Validator: Sendable {
  private var continuationsLeft: UInt8 = 0
  private var lowest: UInt8 = 0x80
  private var highest: UInt8 = 0xBF

  package init() {}

  /// The text may end here: no scalar value is half read.
  package var isComplete: Bool { continuationsLeft == 0 }

  /// False when the octets cannot follow what was read before; the validator is of no use then.
  package mutating func accept(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let base = bytes.baseAddress else { return true }
    var at = 0
    let count = bytes.count
    while at < count {
      if continuationsLeft == 0 {
        at = Self.skipASCII(base, from: at, count: count)
        if at == count { return true }
      }
      guard step(base.load(fromByteOffset: at, as: UInt8.self)) else { return false }
      at += 1
    }
    return true
  }

  /// Eight octets at a time while none has its top bit set.
  @_noLocks @_noAllocation
  private static func skipASCII(_ base: UnsafeRawPointer, from start: Int, count: Int) -> Int {
    var at = start
    while count &- at >= 8 {
      if base.loadUnaligned(fromByteOffset: at, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { break }
      at &+= 8
    }
    while at < count, base.load(fromByteOffset: at, as: UInt8.self) < 0x80 { at &+= 1 }
    return at
  }

  /// The table of well-formed sequences (Unicode, table 3-7).
  @_noLocks @_noAllocation
  private mutating func step(_ byte: UInt8) -> Bool {
    if continuationsLeft > 0 {
      guard byte >= lowest, byte <= highest else { return false }
      continuationsLeft &-= 1
      lowest = 0x80
      highest = 0xBF
      return true
    }
    switch byte {
    case 0x00...0x7F: return true
    case 0xC2...0xDF: continuationsLeft = 1
    case 0xE0: (continuationsLeft, lowest) = (2, 0xA0)
    case 0xE1...0xEC, 0xEE...0xEF: continuationsLeft = 2
    case 0xED: (continuationsLeft, highest) = (2, 0x9F)
    case 0xF0: (continuationsLeft, lowest) = (3, 0x90)
    case 0xF1...0xF3: continuationsLeft = 3
    case 0xF4: (continuationsLeft, highest) = (3, 0x8F)
    default: return false
    }
    return true
  }
}
