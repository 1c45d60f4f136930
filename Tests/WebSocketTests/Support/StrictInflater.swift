import Testing

/// Octets that no compressor can make smaller, the same ones each time.
func noise(_ count: Int, seed: UInt32 = 1) -> [UInt8] {
  var state = seed
  return (0..<count).map { _ in
    state = state &* 1_664_525 &+ 1_013_904_223
    return UInt8(truncatingIfNeeded: state >> 24)
  }
}

/// A peer by the letter of RFC 1951 and RFC 7692: it inflates on its own, and remembers how far back any reference went,
/// so that a window larger than was agreed does not pass. Slow, and without limits.
struct StrictInflater {
  enum Damage: Error {
    case reservedBlock, lengths, distance, symbol, end
  }

  private let keepsContext: Bool
  private var history: [UInt8] = []
  private var input: [UInt8] = []
  private var bit = 0
  /// The largest distance of a reference so far; 0 when there was none.
  private(set) var farthest = 0

  init(keepsContext: Bool) { self.keepsContext = keepsContext }

  /// Inflates one message, to which it adds the tail that the sender left out.
  mutating func inflate(_ message: [UInt8]) throws -> [UInt8] {
    if !keepsContext { history = [] }
    let start = history.count
    input = message + [0x00, 0x00, 0xFF, 0xFF]
    bit = 0
    while bit < input.count * 8 {
      guard try bits(1) == 0 else { throw Damage.end }
      switch try bits(2) {
      case 0: try stored()
      case 1:
        try block(
          Code((0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 }), Code(Array(repeating: 5, count: 30)))
      case 2: try dynamic()
      default: throw Damage.reservedBlock
      }
    }
    return Array(history[start...])
  }

  private mutating func bits(_ count: Int) throws -> Int {
    var value = 0
    for index in 0..<count {
      guard bit / 8 < input.count else { throw Damage.end }
      value |= Int(input[bit / 8] >> UInt8(bit % 8) & 1) << index
      bit += 1
    }
    return value
  }

  private mutating func stored() throws {
    bit = (bit + 7) / 8 * 8
    let count = try bits(16)
    guard try bits(16) == count ^ 0xFFFF else { throw Damage.lengths }
    for _ in 0..<count { history.append(UInt8(try bits(8))) }
  }

  /// RFC 1951 §3.2.2: a canonical code by the lengths of its symbols.
  private struct Code {
    var counts = [Int](repeating: 0, count: 16)
    var symbols: [Int] = []

    init(_ lengths: [Int]) {
      for length in 1...15 {
        for (symbol, own) in lengths.enumerated() where own == length {
          symbols.append(symbol)
          counts[length] += 1
        }
      }
    }
  }

  private mutating func symbol(_ code: Code) throws -> Int {
    var value = 0
    var first = 0
    var index = 0
    for length in 1...15 {
      value = try value << 1 | bits(1)
      first <<= 1
      if value - first < code.counts[length] { return code.symbols[index + value - first] }
      index += code.counts[length]
      first += code.counts[length]
    }
    throw Damage.symbol
  }

  private mutating func dynamic() throws {
    let (literals, distances, kinds) = (try bits(5) + 257, try bits(5) + 1, try bits(4) + 4)
    var lengths = [Int](repeating: 0, count: 19)
    for position in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15].prefix(kinds) {
      lengths[position] = try bits(3)
    }
    let code = Code(lengths)
    var all: [Int] = []
    while all.count < literals + distances {
      switch try symbol(code) {
      case 16:
        guard let last = all.last else { throw Damage.symbol }
        all += Array(repeating: last, count: try bits(2) + 3)
      case 17: all += Array(repeating: 0, count: try bits(3) + 3)
      case 18: all += Array(repeating: 0, count: try bits(7) + 11)
      case let length: all.append(length)
      }
    }
    guard all.count == literals + distances else { throw Damage.symbol }
    try block(Code(Array(all[..<literals])), Code(Array(all[literals...])))
  }

  private mutating func block(_ literals: Code, _ distances: Code) throws {
    while true {
      let symbol = try symbol(literals)
      if symbol < 256 {
        history.append(UInt8(symbol))
        continue
      }
      if symbol == 256 { return }
      guard symbol <= 285 else { throw Damage.symbol }
      let length = try Self.lengthBases[symbol - 257] + bits(Self.lengthExtras(symbol - 257))
      let kind = try self.symbol(distances)
      let extra = kind < 4 ? 0 : kind / 2 - 1
      let distance = try (kind < 4 ? kind + 1 : (2 + kind % 2) << extra + 1) + bits(extra)
      guard distance <= history.count else { throw Damage.distance }
      farthest = max(farthest, distance)
      for _ in 0..<length { history.append(history[history.count - distance]) }
    }
  }

  private static let lengthBases = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
  ]

  private static func lengthExtras(_ index: Int) -> Int { index < 8 || index == 28 ? 0 : index / 4 - 1 }
}
