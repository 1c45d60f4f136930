import Testing
import WebSocket

@Suite("RFC 7692: what a message may inflate to")
struct InflateLimitTests {
  /// Deflated by hand: blocks without compression.
  static func storedBlocks(_ payload: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    var at = 0
    while at < payload.count {
      let count = min(payload.count - at, 65_535)
      bytes += [0x00, UInt8(count % 256), UInt8(count / 256), UInt8(255 - count % 256), UInt8(255 - count / 256)]
      bytes += payload[at..<at + count]
      at += count
    }
    return bytes + [0x00]
  }

  static func deflated(_ payload: [UInt8], level: Int32 = 1) throws -> [UInt8] {
    let deflater = try Deflater(windowBits: 15, level: level)
    var bytes: [UInt8] = []
    payload.withUnsafeBytes { deflater.compress($0, into: &bytes) }
    return bytes
  }

  /// Limits around the sizes at which memory grows, and messages around the limits.
  @Test(arguments: [1, 100, 4095, 4096, 4097, 8191, 8192, 8193, 10_000, 65_535, 65_536, 65_537, 131_071, 131_072])
  func C001_theLimitIsExact(_ limit: Int) throws {
    let setup = Setup(role: .client, maximumMessageBytes: limit, deflate: DeflateParameters())
    for above in -1...3 {
      let payload = (0..<limit + above).map { UInt8(truncatingIfNeeded: $0 / 7) }
      let expected: [Note] = above > 0 ? [.failed(.messageTooBig, 1009)] : [.binary(payload)]
      #expect(read(plain(0xC2, try Self.deflated(payload)), setup) == expected, "deflated, \(above) above")
      #expect(read(plain(0xC2, Self.storedBlocks(payload)), setup) == expected, "stored, \(above) above")
    }
  }

  /// The same state is used for connections with other limits, whatever memory it holds from before.
  @Test func C001_limitsOfOneStateAreApart() throws {
    let inflater = Inflater()
    let zeros = try Self.deflated([UInt8](repeating: 0, count: 50_000))
    for (limit, fits) in [(50_000, true), (49_999, false), (10, false), (50_000, true), (100_000, true)] {
      var machine = Setup(role: .client, maximumMessageBytes: limit, deflate: DeflateParameters()).machine()
      let expected: Note = fits ? .binary([UInt8](repeating: 0, count: 50_000)) : .failed(.messageTooBig, 1009)
      #expect(machine.notes(plain(0xC2, zeros), inflater) == [expected], "limit \(limit)")
    }
  }

  /// Text at the limit is judged as a whole, not cut to fit.
  @Test func C001_aTextIsNotCut() throws {
    let setup = Setup(role: .client, maximumMessageBytes: 4, deflate: DeflateParameters())
    #expect(read(plain(0xC1, try Self.deflated(Array("κόσ".utf8))), setup) == [.failed(.messageTooBig, 1009)])
    #expect(read(plain(0xC1, try Self.deflated(Array("κό".utf8))), setup) == [.text("κό")])
  }

  /// About 60 KB that inflate to 60 MB: pieces of 256 KB of zeros, each but the first by references to the one before.
  static func bomb() throws -> [UInt8] {
    let deflater = try Deflater(windowBits: 15, keepsContext: true, level: 9)
    let zeros = [UInt8](repeating: 0, count: 1 << 18)
    var bytes: [UInt8] = []
    zeros.withUnsafeBytes { deflater.compress($0, into: &bytes) }
    var next: [UInt8] = []
    zeros.withUnsafeBytes { deflater.compress($0, into: &next) }
    // Between two pieces of one message stands the end of an empty block, which `compress` leaves out.
    for _ in 1..<240 { bytes += [0x00, 0x00, 0xFF, 0xFF] + next }
    return bytes
  }

  @Test func C006_aBombIs1009WithinTheLimitsMemory() throws {
    let bomb = try Self.bomb()
    #expect((50_000...80_000).contains(bomb.count))
    let limit = 1 << 20
    for pieces in [1, 100] {
      let inflater = Inflater()
      var machine = Setup(maximumMessageBytes: limit, deflate: DeflateParameters()).machine()
      var notes: [Note] = []
      let size = (bomb.count + pieces - 1) / pieces
      for index in 0..<pieces {
        let isLast = index == pieces - 1
        let first: UInt8 = (index == 0 ? 0x42 : 0x00) | (isLast ? 0x80 : 0x00)
        notes += machine.notes(masked(first, Array(bomb[index * size..<min(bomb.count, (index + 1) * size)])), inflater)
      }
      #expect(notes == [.failed(.messageTooBig, 1009)], "\(pieces) frames")
      #expect(inflater.heldBytes <= limit + 65_536, "\(pieces) frames")
      #expect(machine.assembledBytes == 0, "\(pieces) frames")
    }
  }

  /// Memory of a large message is given back when the machine is asked for more.
  @Test func aLargeMessageIsNotHeldForever() throws {
    let inflater = Inflater()
    var machine = Setup(role: .client, deflate: DeflateParameters()).machine()
    let large = [UInt8](repeating: 1, count: 500_000)
    #expect(machine.notes(plain(0xC2, try Self.deflated(large)), inflater) == [.binary(large)])
    #expect(inflater.largestHeldBytes >= 500_000)
    #expect(inflater.heldBytes == 0)
    #expect(machine.notes(plain(0xC2, try Self.deflated([1, 2, 3])), inflater) == [.binary([1, 2, 3])])
    #expect(inflater.heldBytes <= 65_536)
  }

  /// What is announced deflated may be a little larger than the limit (RFC 1951 §3.2.4), but not without bounds.
  @Test func aCompressedMessageIsLimitedOnTheWireToo() throws {
    let setup = Setup(role: .client, maximumMessageBytes: 1000, deflate: DeflateParameters())
    #expect(read([0xC2, 0x7E, 0x08, 0x00], setup) == [.failed(.messageTooBig, 1009)])
    var state: UInt32 = 1
    let noise = (0..<1000).map { _ -> UInt8 in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(truncatingIfNeeded: state >> 24)
    }
    let bytes = try Self.deflated(noise)
    #expect(bytes.count > 1000)
    #expect(read(plain(0xC2, bytes), setup) == [.binary(noise)])
  }
}
