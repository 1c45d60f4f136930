import FuzzTargets
import Testing

/// The committed corpora without libFuzzer: what a fuzzer once found stays found.
@Suite("The fuzzers' corpora")
struct CorpusTests {
  @Test(arguments: FuzzTarget.allCases) func everyInputKeepsThePropertiesOfItsTarget(_ target: FuzzTarget) throws {
    let corpus = try Corpus(target)
    #expect(corpus.inputs.count >= 20)
    for input in corpus.inputs {
      let report = target.run(input.bytes)
      #expect(report.violations.isEmpty, "\(target)/\(input.name)")
    }
  }

  /// The list is complete in both directions: `run` refuses to meet another rejection, and this finds one too many.
  @Test(arguments: FuzzTarget.allCases) func everyAllowedRejectionIsReached(_ target: FuzzTarget) throws {
    var reached: Set<String> = []
    var accepted = 0
    for input in try Corpus(target).inputs {
      let report = target.run(input.bytes)
      reached.formUnion(report.rejections)
      accepted += report.accepted
    }
    #expect(target.allowedRejections.subtracting(reached).sorted() == [])
    #expect(reached.subtracting(target.allowedRejections).sorted() == [])
    #expect(accepted >= 5)
  }

  /// A few neighbours of each input, always the same ones, so that an ordinary test run does not only replay.
  @Test(arguments: FuzzTarget.allCases) func neighboursOfEveryInputKeepTheProperties(_ target: FuzzTarget) throws {
    var dice = Dice(state: 0x9E37_79B9_7F4A_7C15)
    for input in try Corpus(target).inputs where input.bytes.count <= 512 {
      for _ in 0..<4 {
        let bytes = dice.neighbour(of: input.bytes)
        #expect(target.run(bytes).violations.isEmpty, "\(target)/\(input.name) as \(bytes)")
      }
    }
  }

  @Test(arguments: FuzzTarget.allCases) func nothingAtAllIsAnInputToo(_ target: FuzzTarget) {
    #expect(target.run([]).violations.isEmpty)
  }
}

/// Splitmix64 (Steele, Lea, Flood 2014).
private struct Dice {
  var state: UInt64

  mutating func roll(_ sides: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return Int((value ^ value >> 31) % UInt64(sides))
  }

  mutating func neighbour(of bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0...roll(3) where !bytes.isEmpty {
      let at = roll(bytes.count)
      switch roll(4) {
      case 0: bytes[at] ^= 1 << UInt8(roll(8))
      case 1: bytes.remove(at: at)
      case 2: bytes.insert(UInt8(roll(256)), at: at)
      default: bytes.insert(contentsOf: bytes[roll(at + 1)...at], at: at)
      }
    }
    return bytes
  }
}
