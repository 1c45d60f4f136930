import Testing
import WebSocket

@Suite("RFC 6455 §10.4: memory, C005, C006, C025")
struct MemoryTests {
  /// The most that a machine held between its events, in bytes, and what it said.
  private func run(_ pieces: [[UInt8]], _ setup: Setup, _ inflater: Inflater? = nil) -> (
    held: Int, notes: [Note], rest: Int
  ) {
    var machine = setup.machine()
    var held = 0
    var notes: [Note] = []
    for piece in pieces {
      notes += machine.notes(piece, inflater)
      held = max(held, machine.heldBytes)
    }
    return (held, notes, machine.heldBytes)
  }

  @Test func C005_nothingIsTakenBeforeTheFirstCompressedMessage() {
    let inflater = Inflater()
    var machine = Setup.deflatingServer.machine()
    #expect(machine.notes(masked(0x81, "plain"), inflater) == [.text("plain")])
    #expect(inflater.largestHeldBytes == 0)
    let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
    #expect(machine.notes(masked(0xC1, hello), inflater) == [.text("Hello")])
    #expect(inflater.largestHeldBytes == 4096)
  }

  /// Doubling stops at the limit.
  @Test func C025_fragmentsHoldNoMoreThanTheLimit() {
    let piece = [UInt8](repeating: 7, count: 1_000)
    let frames = [masked(0x02, piece)] + [[UInt8]](repeating: masked(0x00, piece), count: 1_047)
    let open = run(frames, .server)
    #expect(open.notes == [])
    #expect(open.held >= 1_048_000)
    #expect(open.held <= 1 << 20 + 4_096)
    let crossed = run(frames + [masked(0x00, piece)], .server)
    #expect(crossed.notes == [.failed(.messageTooBig, 1009)])
    #expect(crossed.rest == 0)
  }

  /// The connection lives on until our own close frame has left.
  @Test(arguments: [[], [0x03, 0xE8]] as [[UInt8]]) func C025_aCloseFreesTheMessageThatItCutsOff(_ payload: [UInt8]) {
    let open = masked(0x02, [UInt8](repeating: 7, count: 100_000))
    let closed = run([open, masked(0x88, payload)], .server)
    #expect(closed.held >= 100_000)
    #expect(closed.notes == [.close(payload.isEmpty ? nil : 1000, "")])
    #expect(closed.rest == 0)
  }

  /// A peer that announces 16 MB and sends little takes little.
  @Test func memoryGrowsWithWhatHasCome() {
    let setup = Setup(maximumMessageBytes: 1 << 24)
    let header: [UInt8] = [0x82, 0xFF, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    #expect(run([header, [1]], setup).held <= 70_000)
    #expect(run([header, [1], [UInt8](repeating: 0, count: 100_000)], setup).held <= 220_000)
  }

  @Test func memoryIsGivenBackBehindMessagesAndControlFrames() {
    let large = [UInt8](repeating: 7, count: 1_000_000)
    let message = run([masked(0x02, large), masked(0x80, [1])], .server)
    #expect(message.notes == [.binary(large + [1])])
    #expect(message.rest == 0)
    let ping = masked(0x89, "abc")
    let control = run([Array(ping[..<7]), Array(ping[7...])], .server)
    #expect(control.notes == [.ping([0x61, 0x62, 0x63])])
    #expect(control.rest == 0)
    // What lies whole in one read is handed over where it lies.
    #expect(run([masked(0x82, large)], .server).held == 0)
  }

  @Test(arguments: [1 << 16, 1 << 20]) func C006_aBombTakesNoMoreThanItsLimit(_ limit: Int) throws {
    let bomb = try InflateLimitTests.bomb()
    let setup = Setup(maximumMessageBytes: limit, deflate: DeflateParameters())
    let whole = masked(0xC2, bomb)
    for pieces in [[whole], Feeding.split(1_000).pieces(whole)] {
      let inflater = Inflater()
      let outcome = run(pieces, setup, inflater)
      #expect(outcome.notes == [.failed(.messageTooBig, 1009)])
      #expect(inflater.largestHeldBytes <= limit + 1)
      #expect(inflater.heldBytes <= 65_536)
      #expect(outcome.held <= limit + limit / 8 + 4_096)
      #expect(outcome.rest == 0)
    }
  }

  /// Incompressible messages of the limit pass in whichever way their sender coded them: in small stored blocks, or in the
  /// fixed codes, which take nine bits for each octet from 144 on (RFC 1951 §3.2.6).
  @Test func whatCannotBeCompressedPassesUpToTheLimit() {
    let high = (0..<10_000).map { UInt8(144 + $0 * 7 % 112) }
    var bits: [UInt8] = [0, 1, 0]
    for byte in high {
      let word = 0b1_1001_0000 + Int(byte) - 144
      bits += (0..<9).reversed().map { UInt8(word >> $0 & 1) }
    }
    bits += [UInt8](repeating: 0, count: 10)
    let fixed = stride(from: 0, to: bits.count, by: 8).map { start in
      bits[start..<min(start + 8, bits.count)].reversed().reduce(UInt8(0)) { $0 << 1 | $1 }
    }
    let stored = stride(from: 0, to: high.count, by: 100).reduce(into: [UInt8]()) { bytes, start in
      bytes += [0x00, 0x64, 0x00, 0x9B, 0xFF] + high[start..<start + 100]
    }
    let setup = Setup(maximumMessageBytes: 10_000, deflate: DeflateParameters())
    for payload in [fixed, stored + [0x00]] {
      for feeding in [Feeding.whole, .oneByOne, .split(5_000)] {
        #expect(read(masked(0xC2, payload), setup, feeding) == [.binary(high)], "\(feeding)")
      }
    }
  }
}
