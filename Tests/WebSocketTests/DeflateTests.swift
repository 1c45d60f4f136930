import Testing
import WebSocket

@Suite("RFC 7692 §7.2.1: deflating")
struct DeflateTests {
  private func compress(_ text: String, _ deflater: Deflater) -> [UInt8] {
    var bytes: [UInt8] = []
    Array(text.utf8).withUnsafeBytes { deflater.compress($0, into: &bytes) }
    return bytes
  }

  /// A small message is one block of fixed codes, as §7.2.3.1 prints it, and the tail is left out.
  @Test(arguments: [9, 10, 12, 15]) func theExampleOfSection7_2_3_1(_ bits: Int) throws {
    let deflater = try Deflater(windowBits: bits)
    for _ in 0..<3 { #expect(compress("Hello", deflater) == [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]) }
  }

  /// With context the second message refers to the first, as §7.2.3.2 prints it.
  @Test func theExampleOfSection7_2_3_2() throws {
    let deflater = try Deflater(windowBits: 15, keepsContext: true, level: 6)
    #expect(compress("Hello", deflater) == [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00])
    #expect(compress("Hello", deflater) == [0xF2, 0x00, 0x11, 0x00, 0x00])
  }

  /// §7.2.3.6: a single 00, however many empty messages follow each other, with context and without.
  @Test(arguments: [false, true]) func anEmptyMessageIsOneOctet(_ keepsContext: Bool) throws {
    for bits in 8...15 {
      let deflater = try Deflater(windowBits: bits, keepsContext: keepsContext)
      for _ in 0..<3 { #expect(compress("", deflater) == [0x00]) }
      #expect(compress("Hello", deflater) == [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00])
      for _ in 0..<3 { #expect(compress("", deflater) == [0x00]) }
    }
  }

  @Test func outputIsAppended() throws {
    let deflater = try Deflater(windowBits: 15)
    var bytes: [UInt8] = [1, 2, 3]
    Array("Hello".utf8).withUnsafeBytes { deflater.compress($0, into: &bytes) }
    #expect(bytes == [1, 2, 3, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00])
  }

  /// Incompressible data of many sizes stays within the space that is set aside for it.
  @Test(arguments: 8...15) func incompressibleDataFits(_ bits: Int) throws {
    for keepsContext in [false, true] {
      let deflater = try Deflater(windowBits: bits, keepsContext: keepsContext)
      let inflater = Inflater()
      for size in [1, 2, 31, 127, 128, 1023, 4096, 16_383, 16_384, 33_000, 65_535, 65_536, 200_000] {
        let payload = noise(size)
        var bytes: [UInt8] = []
        payload.withUnsafeBytes { deflater.compress($0, into: &bytes) }
        let inflated = bytes.withUnsafeBytes {
          inflater.inflate($0, limitBytes: size, keepsContext: keepsContext).map { Array($0) }
        }
        #expect(inflated == .success(payload), "\(size) bytes")
        #expect(bytes.count <= size + size / 8 + 16, "\(size) bytes")
      }
    }
  }

  @Test func aWindowOf7BitsIsOurMistake() async {
    await #expect(processExitsWith: .failure) { _ = try Deflater(windowBits: 7) }
  }

  @Test func aWindowOf16BitsIsOurMistake() async {
    await #expect(processExitsWith: .failure) { _ = try Deflater(windowBits: 16) }
  }
}
