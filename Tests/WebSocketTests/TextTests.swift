import Testing
import WebSocket

@Suite("RFC 6455 §8.1: UTF-8 in text")
struct TextTests {
  /// κόσμε, then a family of three joined by U+200D: 10 octets, a space, 18 octets.
  static let family: [UInt8] = [
    0xCE, 0xBA, 0xCF, 0x8C, 0xCF, 0x83, 0xCE, 0xBC, 0xCE, 0xB5, 0x20,  //
    0xF0, 0x9F, 0x91, 0xA9, 0xE2, 0x80, 0x8D, 0xF0, 0x9F, 0x91, 0xA9, 0xE2, 0x80, 0x8D, 0xF0, 0x9F, 0x91, 0xA7,
  ]

  /// Fragments may split a character anywhere; reads may split the fragments.
  @Test func C021_fragmentsSplitCharacters() {
    let text = "κόσμε 👩‍👩‍👧"
    #expect(Array(text.utf8) == Self.family)
    for cut in 0...Self.family.count {
      Row(
        "cut at \(cut)", masked(0x01, Array(Self.family[..<cut])) + masked(0x80, Array(Self.family[cut...])),
        [.text(text)]
      ).check()
    }
    let singles = Self.family.enumerated().flatMap { index, byte in
      masked(index == 0 ? 0x01 : 0x00, [byte])
    }
    Row("an octet a fragment", singles + masked(0x80, []), [.text(text)]).check()
  }

  @Test func C021_readsSplitCharacters() { Row("one frame", masked(0x81, Self.family), [.text("κόσμε 👩‍👩‍👧")]).check() }

  /// What must fail, and at which of its octets.
  static let wrong: [(name: String, bytes: [UInt8], failsAt: Int)] = [
    ("a lone continuation", [0x80], 1),
    ("the last continuation", [0xBF], 1),
    ("a surrogate", [0xED, 0xA0, 0x80], 2),
    ("the last surrogate", [0xED, 0xBF, 0xBF], 2),
    ("an overlong slash", [0xC0, 0xAF], 1),
    ("an overlong C1", [0xC1, 0xBF], 1),
    ("an overlong of three", [0xE0, 0x9F, 0xBF], 2),
    ("an overlong of four", [0xF0, 0x8F, 0xBF, 0xBF], 2),
    ("above U+10FFFF", [0xF4, 0x90, 0x80, 0x80], 2),
    ("F5", [0xF5, 0x80, 0x80, 0x80], 1),
    ("FE", [0xFE], 1),
    ("FF", [0xFF], 1),
    ("two octets cut by ASCII", [0xC3, 0x28], 2),
    ("three octets cut by ASCII", [0xE2, 0x82, 0x28], 3),
    ("four octets cut by a start", [0xF0, 0x9F, 0x91, 0xF0], 4),
    ("a continuation too many", [0xC3, 0xA9, 0xA9], 3),
  ]

  /// The machine fails with the first wrong octet, long before the frame's announced end.
  @Test(arguments: [0, 1, 7, 8, 9, 17]) func C021_wrongOctetsFailAtOnce(_ before: Int) {
    for row in Self.wrong {
      let payload = [UInt8](repeating: 0x61, count: before) + row.bytes + [UInt8](repeating: 0x62, count: 20)
      let frame = masked(0x81, payload)
      #expect(octetsUntilFailure(frame) == 6 + before + row.failsAt, "\(row.name) after \(before)")
      #expect(read(frame) == [.failed(.invalidText, 1007)], "\(row.name) after \(before)")
      let pieces = masked(0x01, Array(payload[..<before])) + masked(0x80, Array(payload[before...]))
      #expect(octetsUntilFailure(pieces) == 12 + before + row.failsAt, "\(row.name) in the second fragment")
    }
  }

  @Test func C021_everyFeedingFailsAlike() {
    for row in Self.wrong {
      Row(row.name, masked(0x81, Array("ab".utf8) + row.bytes), [.failed(.invalidText, 1007)]).check()
      Row(row.name, plain(0x81, row.bytes), to: .client, [.failed(.invalidText, 1007)]).check()
    }
  }

  @Test(
    arguments: [
      [0xCE], [0xE2], [0xE2, 0x82], [0xF0], [0xF0, 0x9F], [0xF0, 0x9F, 0x91], [0x61, 0xC3],
    ] as [[UInt8]])
  func C021_aTruncatedTailFailsAtTheEnd(_ bytes: [UInt8]) {
    Row("whole", masked(0x81, bytes), [.failed(.invalidText, 1007)]).check()
    Row("in fragments", masked(0x01, bytes) + masked(0x80, []), [.failed(.invalidText, 1007)]).check()
    // While the message is open, the rest may still come.
    #expect(read(masked(0x01, bytes)) == [])
  }

  /// The edges of every row of Unicode's table of well-formed sequences.
  @Test(
    arguments: [
      [0x00], [0x7F], [0xC2, 0x80], [0xDF, 0xBF], [0xE0, 0xA0, 0x80], [0xE0, 0xBF, 0xBF], [0xE1, 0x80, 0x80],
      [0xEC, 0xBF, 0xBF], [0xED, 0x80, 0x80], [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80], [0xEF, 0xBF, 0xBF],
      [0xF0, 0x90, 0x80, 0x80], [0xF0, 0xBF, 0xBF, 0xBF], [0xF1, 0x80, 0x80, 0x80], [0xF3, 0xBF, 0xBF, 0xBF],
      [0xF4, 0x80, 0x80, 0x80], [0xF4, 0x8F, 0xBF, 0xBF],
    ] as [[UInt8]])
  func edgesAreText(_ bytes: [UInt8]) {
    for bytes in [bytes, bytes + bytes] {
      for feeding in Feeding.all(bytes.count) {
        var validator = UTF8Validator()
        for piece in feeding.pieces(bytes) { #expect(piece.withUnsafeBytes { validator.accept($0) }, "\(feeding)") }
        #expect(validator.isComplete, "\(feeding)")
      }
    }
  }

  /// Each pair of octets, judged by the definition: one scalar of two octets, or two of ASCII.
  @Test func everyPairOfOctets() {
    var wrong: [[UInt8]] = []
    for first in UInt8.min...UInt8.max {
      for second in UInt8.min...UInt8.max {
        let isText =
          (first < 0x80 && second < 0x80)
          || ((0xC2...0xDF).contains(first) && (0x80...0xBF).contains(second))
        var validator = UTF8Validator()
        let accepted = [first, second].withUnsafeBytes { validator.accept($0) } && validator.isComplete
        if accepted != isText { wrong.append([first, second]) }
      }
    }
    #expect(wrong == [])
  }

  @Test func binaryIsNotChecked() { Row("binary", masked(0x82, [0xC0, 0xAF]), [.binary([0xC0, 0xAF])]).check() }

  /// A text may begin anew after each message: no state is carried over.
  @Test func messagesAreCheckedApart() {
    Row("two", masked(0x01, [0xCE]) + masked(0x80, [0xBA]) + masked(0x81, [0xCE, 0xBA]), [.text("κ"), .text("κ")])
      .check()
    Row(
      "the second is wrong", masked(0x81, [0xCE, 0xBA]) + masked(0x81, [0xBA]),
      [.text("κ"), .failed(.invalidText, 1007)]
    )
    .check()
  }
}
