/// What the fuzzers feed and what they check, apart from libFuzzer: the same bodies replay the committed corpora among the
/// unit tests.
///
/// Pattern: a target takes bytes, of which the first few choose how the machine is set up, and answers with a report.
/// Whatever contradicts a property is a violation in it. Threads: none. Never imports: sockets, clocks, Foundation.

/// One fuzzer: an entry of `make fuzz`, a folder of `Tests/Fuzz/corpus`.
package enum FuzzTarget: String, CaseIterable, Sendable {
  /// `ConnectionMachine` of both roles.
  case frame
  /// `RequestParser`: heads and bodies.
  case head
  /// The opening handshake of both roles.
  case handshake
  /// `Inflater`, alone and behind `Deflater`.
  case inflate
  /// Requests of both doors, from JSON to an operation.
  case operation

  /// Everything that this target may refuse with, in the words of `Rejection`. What is not in it is a violation, and the
  /// committed corpus reaches each.
  package var allowedRejections: Set<String> {
    switch self {
    case .frame: FrameTarget.rejections
    case .head: HeadTarget.rejections
    case .handshake: HandshakeTarget.rejections
    case .inflate: InflateTarget.rejections
    case .operation: OperationTarget.rejections
    }
  }

  /// Runs one input. A shorter input than the options take is filled up with zeros.
  package func run(_ bytes: [UInt8]) -> FuzzReport {
    var report = FuzzReport(allowed: allowedRejections)
    var options = FuzzOptions(bytes)
    switch self {
    case .frame: FrameTarget.run(&options, &report)
    case .head: HeadTarget.run(&options, &report)
    case .handshake: HandshakeTarget.run(&options, &report)
    case .inflate: InflateTarget.run(&options, &report)
    case .operation: OperationTarget.run(&options, &report)
    }
    return report
  }

  /// Runs one input and ends the process at a violation, which is how libFuzzer learns of it.
  package func runOrTrap(_ bytes: UnsafeBufferPointer<UInt8>) {
    let report = run(Array(bytes))
    if let first = report.violations.first { fatalError("\(rawValue): \(first)") }
  }
}

/// What one input led to.
package struct FuzzReport: Sendable {
  private let allowed: Set<String>
  /// Each rejection that the input met, as `Rejection.text` has it.
  package private(set) var rejections: Set<String> = []
  /// Messages, heads, handshakes or operations that were accepted.
  package private(set) var accepted = 0
  /// What contradicts the target's properties, with the first contradiction first; none is what everybody hopes for.
  package private(set) var violations: [String] = []

  init(allowed: Set<String>) { self.allowed = allowed }

  mutating func accept() { accepted += 1 }

  /// Records a rejection; one that is not on the target's list is a violation.
  mutating func reject(_ code: some CustomStringConvertible, _ reason: String) {
    let text = Rejection.text(code, reason)
    rejections.insert(text)
    check(allowed.contains(text), "a rejection that is not on the list: \(text)")
  }

  mutating func check(_ holds: Bool, _ otherwise: @autoclosure () -> String) {
    if !holds { violations.append(otherwise()) }
  }
}

/// The one spelling of rejections: the code, a blank, the reason, with what depends on the input taken out of it. A word
/// that is a number becomes `N`, a name in backticks becomes `_`.
enum Rejection {
  static func text(_ code: some CustomStringConvertible, _ reason: String) -> String {
    var text = Array(code.description.utf8)
    for word in reason.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false) {
      text.append(UInt8(ascii: " "))
      let behindDigits = word.drop { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      if word.first == UInt8(ascii: "`"), let end = word.lastIndex(of: UInt8(ascii: "`")) {
        text += "`_".utf8
        text += word[end...]
      } else if behindDigits.count < word.count, behindDigits.isEmpty || behindDigits.elementsEqual(".".utf8) {
        text += "N".utf8
        text += behindDigits
      } else {
        text += word
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
