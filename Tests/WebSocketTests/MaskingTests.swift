import Testing

@testable import WebSocket

@Suite("RFC 6455 §5.3: masking")
struct MaskingTests {
  /// Every offset in the key with every length around the eight-octet step.
  @Test(arguments: 0...3) func aMaskIsAppliedOctetByOctet(_ offset: Int) {
    let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
    let word = key.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
    for length in 0...40 {
      let original = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
      // Guards on both sides show that nothing else is written.
      var bytes: [UInt8] = [0xA5] + original + [0x5A]
      bytes.withUnsafeMutableBytes { memory in
        Masking.apply(word, to: UnsafeMutableRawBufferPointer(rebasing: memory[1..<1 + length]), offset: offset)
      }
      var expected: [UInt8] = [0xA5]
      for index in 0..<length { expected.append(original[index] ^ key[(index + offset) % 4]) }
      expected.append(0x5A)
      #expect(bytes == expected, "offset \(offset), length \(length)")
    }
  }

  @Test func theExampleOfSection5_7() {
    var bytes: [UInt8] = [0x7F, 0x9F, 0x4D, 0x51, 0x58]
    let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
    let word = key.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
    bytes.withUnsafeMutableBytes { Masking.apply(word, to: $0, offset: 0) }
    #expect(bytes == Array("Hello".utf8))
  }

  /// An offset far into a long payload counts modulo four.
  @Test func offsetsWrap() {
    var bytes: [UInt8] = [0, 0, 0, 0, 0]
    let key: [UInt8] = [1, 2, 3, 4]
    let word = key.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
    bytes.withUnsafeMutableBytes { Masking.apply(word, to: $0, offset: 1_000_003) }
    #expect(bytes == [4, 1, 2, 3, 4])
  }

  /// §5.3: the same payload in pieces of every length is unmasked alike.
  @Test func aPayloadInPiecesIsUnmaskedAlike() {
    let text = "the quick brown fox jumps over the lazy dog"
    let bytes = masked(0x81, text)
    for size in 1...bytes.count {
      var machine = Setup.server.machine()
      var notes: [Note] = []
      var at = 0
      while at < bytes.count {
        notes += machine.notes(Array(bytes[at..<min(at + size, bytes.count)]))
        at += size
      }
      #expect(notes == [.text(text)], "pieces of \(size)")
    }
  }
}
