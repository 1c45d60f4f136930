/// Takes the choices off the front of an input; `rest` is what the machine is fed.
///
/// The choices have a place of their own so that a mutation of the payload does not change the setup, and the other way
/// round.
package struct FuzzOptions {
  private let bytes: [UInt8]
  private var at = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The next byte of choices; 0 behind the end.
  mutating func byte() -> UInt8 {
    guard at < bytes.count else { return 0 }
    defer { at += 1 }
    return bytes[at]
  }

  var rest: [UInt8] { Array(bytes[at...]) }
}

/// How bytes are cut into reads, all from one byte: 0 leaves them whole, 1 cuts them one by one, any other begins a row
/// of pseudo-random lengths up to 3, 16, 256 or 4,096.
struct Cutting: Equatable {
  static let whole = Cutting(0)
  static let oneByOne = Cutting(1)

  private let seed: UInt8

  init(_ seed: UInt8) { self.seed = seed }

  func pieces(of count: Int) -> [Range<Int>] {
    if count == 0 { return [] }
    switch seed {
    case 0: return [0..<count]
    case 1: return (0..<count).map { $0..<$0 + 1 }
    default: break
    }
    let longest = [3, 16, 256, 4_096][Int(seed & 3)]
    var state = UInt32(seed) &* 2_654_435_761
    var pieces: [Range<Int>] = []
    var start = 0
    while start < count {
      // Xorshift (Marsaglia 2003).
      state ^= state << 13
      state ^= state >> 17
      state ^= state << 5
      let end = min(count, start + 1 + Int(state) % longest)
      pieces.append(start..<end)
      start = end
    }
    return pieces
  }

  /// The ways in which an input is fed: whole, as `self` says, and, while it is short, one by one.
  func all(for count: Int) -> [Cutting] {
    var cuttings = [Cutting.whole]
    if self != .whole { cuttings.append(self) }
    if count <= 512, self != .oneByOne { cuttings.append(.oneByOne) }
    return cuttings
  }
}

/// Whether bytes are well-formed UTF-8 in the eyes of the standard library, which shares no code with the gateway's
/// own validator.
func isUTF8(_ bytes: some Collection<UInt8>) -> Bool { String(validating: bytes, as: UTF8.self) != nil }
