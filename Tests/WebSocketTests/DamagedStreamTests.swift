import Testing
import WebSocket

@Suite("RFC 6455 §7.1.7: damaged streams")
struct DamagedStreamTests {
  /// Every kind of frame: a text in fragments around a ping, binary, deflated, a pong, a close.
  static let client: [UInt8] = messages + deflated
  private static let plainCount = messages.count
  private static let messages: [UInt8] =
    masked(0x01, "κό") + masked(0x89, "ping") + masked(0x80, "σμε") + masked(0x82, noise(130))
  private static let deflated: [UInt8] =
    masked(0xC1, InflateTests.hello) + masked(0xC1, InflateTests.helloAgain) + masked(0x8A, "")
    + masked(0x88, [0x03, 0xE8, 0x62, 0x79, 0x65])

  static let clientNotes: [Note] = [
    .ping(Array("ping".utf8)), .text("κόσμε"), .binary(noise(130)), .text("Hello"), .text("Hello"), .pong([]),
    .close(1000, "bye"),
  ]

  @Test func theWholeStreamIsRead() {
    Row("client", Self.client, to: InflateTests.keepingServer, Self.clientNotes).check()
  }

  /// One bit flipped anywhere: nothing traps, the reads' cuts make no difference, and a failure is the last word.
  @Test(arguments: 0..<8) func aFlippedBitIsJudgedAlikeHoweverItComes(_ bit: Int) {
    for position in Self.client.indices {
      var bytes = Self.client
      bytes[position] ^= 1 << UInt8(bit)
      let notes = read(bytes, InflateTests.keepingServer)
      for feeding in [Feeding.oneByOne, .split(position), .split(position + 1)] {
        let pieces = feeding.pieces(bytes).filter { !$0.isEmpty }
        var machine = InflateTests.keepingServer.machine()
        let inflater = Inflater()
        var others: [Note] = []
        for piece in pieces { others += machine.notes(piece, inflater) }
        #expect(others == notes, "octet \(position), \(feeding)")
      }
      let failures = notes.indices.filter { index in
        if case .failed = notes[index] { return true }
        return false
      }
      #expect(failures.isEmpty || failures == [notes.count - 1], "octet \(position)")
      // Up to the deflated messages every bit counts; those have padding, and the empty pong's key masks nothing.
      if position < Self.plainCount { #expect(notes != Self.clientNotes, "octet \(position)") }
    }
  }

  /// Octets of no meaning, to both roles, with compression and without.
  @Test(arguments: [Setup.server, .client, .deflatingServer, .deflatingClient]) func noiseIsJudgedAlike(_ setup: Setup)
  {
    var failed = 0
    for seed in 1...300 as ClosedRange<UInt32> {
      let bytes = noise(40, seed: seed &* 2_654_435_761)
      let notes = read(bytes, setup)
      #expect(read(bytes, setup, .oneByOne) == notes, "seed \(seed)")
      if case .failed = notes.last { failed += 1 }
    }
    #expect(failed > 250)
  }
}
