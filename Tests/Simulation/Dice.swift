import Foundation

/// Every choice of a run, from one seed (SplitMix64): the same seed makes the same choices.
final class Dice {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678_9ABC_DEF1 }

  func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// From 0 to `bound` − 1.
  func below(_ bound: Int) -> Int { bound <= 1 ? 0 : Int(next() % UInt64(bound)) }

  func from(_ range: ClosedRange<Int>) -> Int { range.lowerBound + below(range.count) }

  /// True so many times in a thousand.
  func chance(_ permille: Int) -> Bool { below(1000) < permille }

  func pick<Element>(_ list: [Element]) -> Element? { list.isEmpty ? nil : list[below(list.count)] }

  /// An index of `weights`, each as often as its weight says.
  func weighted(_ weights: [Int]) -> Int {
    var left = below(weights.reduce(0, +))
    for (index, weight) in weights.enumerated() {
      if left < weight { return index }
      left -= weight
    }
    return weights.count - 1
  }

  func shuffled<Element>(_ list: [Element]) -> [Element] {
    var list = list
    for index in stride(from: list.count - 1, to: 0, by: -1) { list.swapAt(index, below(index + 1)) }
    return list
  }
}

/// A promise that the gateway broke.
struct Violation: Error, CustomStringConvertible {
  var description: String
}

/// The last lines of a run, and the first promise that was broken in it.
final class Trace {
  /// `SIMULATION_TRACE` keeps more of them.
  private static let kept = ProcessInfo.processInfo.environment["SIMULATION_TRACE"].flatMap(Int.init) ?? 80
  private var lines: [String] = []
  private var next = 0
  private(set) var violation: Violation?
  /// A fingerprint of everything noted: two runs of one seed must agree on it.
  private(set) var digest: UInt64 = 0xCBF2_9CE4_8422_2325
  var now = 0

  func note(_ line: @autoclosure () -> String) {
    let text = "\(now / 1000).\(String(now % 1000 + 1000).dropFirst())  \(line())"
    for byte in text.utf8 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
    if lines.count < Self.kept {
      lines.append(text)
    } else {
      lines[next] = text
      next = (next + 1) % Self.kept
    }
  }

  /// Only the first break counts; what follows from it is noise.
  func fail(_ what: @autoclosure () -> String) {
    guard violation == nil else { return }
    let text = what()
    note("BROKEN: \(text)")
    violation = Violation(description: text)
  }

  func check() throws(Violation) {
    if let violation { throw violation }
  }

  var text: String { (lines[next...] + lines[..<next]).joined(separator: "\n") }
}
