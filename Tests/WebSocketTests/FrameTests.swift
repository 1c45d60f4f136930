import Testing
import WebSocket

@Suite("RFC 6455 §5.2 frames")
struct FrameTests {
  /// The examples of §5.7, with the bytes printed there.
  @Test(arguments: [
    Row("an unmasked text", [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F], to: .client, [.text("Hello")]),
    Row(
      "a masked text", [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58], to: .server,
      [.text("Hello")]),
    Row(
      "an unmasked text in two fragments", [0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F], to: .client,
      [.text("Hello")]),
    Row("an unmasked ping", [0x89, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F], to: .client, [.ping(Array("Hello".utf8))]),
    Row(
      "its masked pong", [0x8A, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58], to: .server,
      [.pong(Array("Hello".utf8))]),
    Row(
      "256 bytes of binary", [0x82, 0x7E, 0x01, 0x00] + Array(repeating: 0xAB, count: 256), to: .client,
      [.binary(Array(repeating: 0xAB, count: 256))]),
  ])
  func theExamplesOfSection5_7(_ row: Row) { row.check() }

  @Test func theLastExampleOfSection5_7() {
    let bytes: [UInt8] = [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0] + Array(repeating: 0xCD, count: 65_536)
    let expected: [Note] = [.binary(Array(repeating: 0xCD, count: 65_536))]
    for cut in [1, 2, 5, 9, 10, 11, 65_545] { #expect(read(bytes, .client, .split(cut)) == expected, "cut at \(cut)") }
    #expect(read(bytes, .client, .oneByOne) == expected)
  }

  /// Each edge of the three length forms, in both roles.
  @Test(arguments: [0, 1, 125, 126, 127, 65_535, 65_536, 70_000]) func lengths(_ count: Int) {
    let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    for feeding in [Feeding.whole, .oneByOne, .split(1), .split(2)] {
      #expect(read(masked(0x82, payload), .server, feeding) == [.binary(payload)], "\(feeding)")
      #expect(read(plain(0x82, payload), .client, feeding) == [.binary(payload)], "\(feeding)")
    }
  }

  /// What `FrameEncoder` writes, by the octet.
  @Test(
    arguments: [
      (0, [0x82, 0x00]), (125, [0x82, 0x7D]), (126, [0x82, 0x7E, 0x00, 0x7E]), (65_535, [0x82, 0x7E, 0xFF, 0xFF]),
      (65_536, [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0]),
    ] as [(Int, [UInt8])])
  func headersAreWrittenInTheShortestForm(_ count: Int, _ header: [UInt8]) {
    let payload = [UInt8](repeating: 0x61, count: count)
    #expect(FrameEncoder.frameSize(payloadSize: count) == header.count + count)
    var frame = [UInt8](repeating: 0, count: header.count + count)
    frame.withUnsafeMutableBytes { target in
      payload.withUnsafeBytes {
        FrameEncoder.write(opcode: .binary, payload: $0, isCompressed: false, into: target)
      }
    }
    #expect(frame == header + payload)
    var appended: [UInt8] = [0x00]
    payload.withUnsafeBytes { FrameEncoder.append(opcode: .binary, payload: $0, to: &appended) }
    #expect(appended == [0x00] + header + payload)
  }

  @Test func aClientsFrameIsWrittenMasked() {
    let word = exampleKey.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
    var bytes: [UInt8] = []
    Array("Hello".utf8).withUnsafeBytes {
      FrameEncoder.append(opcode: .text, payload: $0, maskKey: word, to: &bytes)
      FrameEncoder.append(opcode: .text, payload: $0, isFinal: false, isCompressed: true, maskKey: word, to: &bytes)
    }
    #expect(
      bytes == [
        0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58,  //
        0x41, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58,
      ])
    #expect(FrameEncoder.headerSize(payloadSize: 5, role: .client) == 6)
    #expect(FrameEncoder.headerSize(payloadSize: 126, role: .client) == 8)
    #expect(FrameEncoder.headerSize(payloadSize: 65_536, role: .client) == 14)
  }

  @Test(arguments: [
    Row("RSV1 without an extension", [0xC1, 0x80, 0, 0, 0, 0], [.failed(.reservedBits, 1002)]),
    Row("RSV2", [0xA1, 0x80, 0, 0, 0, 0], [.failed(.reservedBits, 1002)]),
    Row("RSV3", [0x91, 0x80, 0, 0, 0, 0], [.failed(.reservedBits, 1002)]),
    Row("all three", [0xF1, 0x80, 0, 0, 0, 0], [.failed(.reservedBits, 1002)]),
    Row("RSV1 in a client", [0xC1, 0x00], to: .client, [.failed(.reservedBits, 1002)]),
    Row("RSV2 with compression", [0xE1, 0x80, 0, 0, 0, 0], to: .deflatingServer, [.failed(.reservedBits, 1002)]),
    Row("RSV3 with compression", [0x92, 0x00], to: .deflatingClient, [.failed(.reservedBits, 1002)]),
    Row("a compressed ping", [0xC9, 0x80, 0, 0, 0, 0], to: .deflatingServer, [.failed(.reservedBits, 1002)]),
    Row("a compressed close", [0xC8, 0x80, 0, 0, 0, 0], to: .deflatingServer, [.failed(.reservedBits, 1002)]),
    Row(
      "RSV1 on a continuation", masked(0x41, [0xF2]) + masked(0xC0, [0x48]), to: .deflatingServer,
      [.failed(.reservedBits, 1002)]),
  ])
  func reservedBits(_ row: Row) { row.check() }

  @Test(arguments: [0x3, 0x4, 0x5, 0x6, 0x7, 0xB, 0xC, 0xD, 0xE, 0xF] as [UInt8])
  func reservedOpcodes(_ opcode: UInt8) {
    Row("masked", masked(0x80 | opcode, "x"), [.failed(.reservedOpcode, 1002)]).check()
    Row("plain", plain(0x80 | opcode, [0x78]), to: .client, [.failed(.reservedOpcode, 1002)]).check()
    #expect(octetsUntilFailure(masked(opcode, "x")) == 1)
  }

  /// §5.2: the shortest form must be used, and the top bit of a 64-bit length is 0.
  @Test(arguments: [
    Row("125 in two octets", [0x82, 0xFE, 0x00, 0x7D], [.failed(.length, 1002)]),
    Row("0 in two octets", [0x82, 0xFE, 0x00, 0x00], [.failed(.length, 1002)]),
    Row("65535 in eight octets", [0x82, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], [.failed(.length, 1002)]),
    Row("1 in eight octets", [0x82, 0xFF, 0, 0, 0, 0, 0, 0, 0, 1], [.failed(.length, 1002)]),
    Row("2^63", [0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0], [.failed(.length, 1002)]),
    Row("2^64 - 1", [0x82, 0xFF] + Array(repeating: 0xFF, count: 8), [.failed(.length, 1002)]),
    Row("125 in two octets to a client", [0x82, 0x7E, 0x00, 0x7D], to: .client, [.failed(.length, 1002)]),
    Row("2^63 to a client", [0x82, 0x7F, 0x80, 0, 0, 0, 0, 0, 0, 0], to: .client, [.failed(.length, 1002)]),
    Row(
      "2^63 - 1 is a length, and too much", [0x82, 0x7F, 0x7F] + Array(repeating: 0xFF, count: 7), to: .client,
      [.failed(.messageTooBig, 1009)]),
  ])
  func lengthsThatAreNotAllowed(_ row: Row) { row.check() }

  /// §5.1: a client masks every frame, a server none.
  @Test(arguments: [0x81, 0x82, 0x88, 0x89, 0x8A] as [UInt8]) func eachRoleHasItsMaskingRule(_ first: UInt8) {
    Row("an unmasked frame to a server", plain(first, []), [.failed(.masking, 1002)]).check()
    Row("a masked frame to a client", masked(first, []), to: .client, [.failed(.masking, 1002)]).check()
    #expect(octetsUntilFailure(plain(first, [])) == 2)
    #expect(octetsUntilFailure(masked(first, []), .client) == 2)
  }

  /// A masking key of zeros is one like any other.
  @Test func aKeyOfZerosIsAllowed() {
    Row("zeros", [0x81, 0x82, 0, 0, 0, 0, 0x6F, 0x6B], [.text("ok")]).check()
  }

  @Test func framesOfOneReadComeInOrder() {
    Row(
      "five", masked(0x81, "a") + masked(0x89, "b") + masked(0x82, [1]) + masked(0x8A, "c") + masked(0x81, ""),
      [.text("a"), .ping([0x62]), .binary([1]), .pong([0x63]), .text("")]
    ).check()
  }
}
