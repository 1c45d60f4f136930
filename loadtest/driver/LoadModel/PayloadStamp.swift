import Glibc
package import Primitives

/// What every payload begins with: who sent it, its number among that sender's, and when it should have left.
///
/// On the wire 33 ASCII characters: `tc1:`, 4 hexadecimal digits of the sender, 8 of the number, 16 of the intended time
/// in nanoseconds, `;`.
package struct PayloadStamp: Hashable, Sendable {
  package static let byteCount = 33
  private static let marker: StaticString = "tc1:"

  /// 0–65,535.
  package var sender: Int
  /// From 0, without holes, of one sender.
  package var number: UInt32
  /// On the driver's monotonic clock.
  package var intended: Instant

  package init(sender: Int, number: UInt32, intended: Instant) {
    self.sender = sender
    self.number = number
    self.intended = intended
  }

  /// Overwrites the first 33 bytes.
  package func write(to bytes: inout [UInt8]) {
    precondition(bytes.count >= Self.byteCount, "a payload has room for its stamp")
    for index in 0..<4 { bytes[index] = Self.marker.utf8Start[index] }
    Self.write(UInt64(sender), digits: 4, at: 4, &bytes)
    Self.write(UInt64(number), digits: 8, at: 8, &bytes)
    Self.write(intended.nanoseconds, digits: 16, at: 16, &bytes)
    bytes[32] = UInt8(ascii: ";")
  }

  private static func write(_ value: UInt64, digits: Int, at start: Int, _ bytes: inout [UInt8]) {
    for index in 0..<digits {
      let digit = UInt8(truncatingIfNeeded: value >> UInt64(4 * (digits - 1 - index))) & 15
      bytes[start + index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
    }
  }

  /// The stamp that these bytes begin with; nil when they do not.
  package init?(startOf bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= Self.byteCount, let base = bytes.baseAddress, memcmp(base, Self.marker.utf8Start, 4) == 0,
      bytes[32] == UInt8(ascii: ";"), let sender = Self.read(bytes, at: 4, digits: 4),
      let number = Self.read(bytes, at: 8, digits: 8), let time = Self.read(bytes, at: 16, digits: 16)
    else { return nil }
    self.init(
      sender: Int(sender), number: UInt32(truncatingIfNeeded: number), intended: Instant(nanoseconds: time))
  }

  /// The first stamp anywhere in these bytes.
  package init?(foundIn bytes: UnsafeRawBufferPointer) {
    let wanted = UnsafeRawPointer(Self.marker.utf8Start).loadUnaligned(as: UInt32.self)
    var at = 0
    while at + Self.byteCount <= bytes.count, bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self) != wanted {
      at += 1
    }
    guard at + Self.byteCount <= bytes.count else { return nil }
    self.init(startOf: UnsafeRawBufferPointer(rebasing: bytes[at...]))
  }

  private static func read(_ bytes: UnsafeRawBufferPointer, at start: Int, digits: Int) -> UInt64? {
    var value: UInt64 = 0
    for index in start..<start + digits {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(byte - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
    return value
  }
}

/// What follows the stamp: the same for every payload of a run, and about as compressible as chat.
package enum PayloadText {
  private static let words = [
    "the", "thread", "is", "quiet", "today", "please", "look", "at", "this", "again", "when", "you", "have", "time",
    "meeting", "moved", "to", "seven", "and", "nobody", "told", "me", "but", "thanks", "for", "answering", "so",
    "quickly", "yesterday", "release", "notes", "are", "in", "draft", "perhaps", "tomorrow", "fine", "agreed",
  ]

  /// A payload of exactly that many bytes, its stamp still blank.
  package static func make(byteCount: Int) -> [UInt8] {
    precondition(byteCount >= PayloadStamp.byteCount, "a payload has room for its stamp")
    var bytes = [UInt8](repeating: UInt8(ascii: "0"), count: PayloadStamp.byteCount)
    // A linear congruence (Knuth's MMIX constants) with a fixed start: every run sends the same text.
    var state: UInt64 = 1
    while bytes.count < byteCount {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      bytes += words[Int(state >> 33) % words.count].utf8
      bytes.append(UInt8(ascii: state >> 60 == 0 ? "." : " "))
    }
    return Array(bytes.prefix(byteCount))
  }
}
