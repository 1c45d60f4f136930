import Testing
import WebSocket

@testable import FuzzTargets

/// What makes a fuzzer end: it would be blind if these did not count.
@Suite("The fuzzers' reports")
struct ReportTests {
  @Test func aRejectionThatIsNotListedIsAViolation() {
    var report = FuzzReport(allowed: ["400 the head holds a NUL"])
    report.reject(400, "the head holds a NUL")
    #expect(report.violations.isEmpty)
    report.reject(431, "the head holds a NUL")
    #expect(report.violations == ["a rejection that is not on the list: 431 the head holds a NUL"])
    #expect(report.rejections == ["400 the head holds a NUL", "431 the head holds a NUL"])
  }

  @Test(arguments: [
    ("the message is above 64 bytes", "1 the message is above N bytes"),
    ("the text is not UTF-8", "1 the text is not UTF-8"),
    ("`attachments[2].url` must be an integer from 0 to 9007199254740991.", "1 `_` must be an integer from N to N."),
    ("only HTTP/1.1 and HTTP/1.0 are spoken here", "1 only HTTP/1.1 and HTTP/1.0 are spoken here"),
    ("", "1 "),
  ])
  func rejectionsAreSpeltWithoutTheirInput(_ reason: String, _ text: String) {
    #expect(Rejection.text(1, reason) == text)
  }

  @Test(arguments: [UInt8(0), 1, 2, 3, 4, 5, 77, 254, 255], [1, 2, 300, 5_000])
  func cuttingLosesNothing(_ seed: UInt8, _ count: Int) {
    let pieces = Cutting(seed).pieces(of: count)
    #expect(pieces.first?.lowerBound == 0 && pieces.last?.upperBound == count)
    #expect(zip(pieces, pieces.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
    #expect(pieces.allSatisfy { !$0.isEmpty })
    #expect(Cutting(seed).pieces(of: 0).isEmpty)
  }

  /// The model's answers, written down, since it judges the machine.
  @Test(
    arguments: [
      ([0x81, 0x02, 0x48, 0x69], [.message(.text, [0x48, 0x69])]),
      ([0x82, 0x7E, 0x00, 0x7D], [.failed(1002, "")]),
      ([0x01, 0x01, 0xE2, 0x80, 0x02, 0x82, 0xAC], [.message(.text, [0xE2, 0x82, 0xAC])]),
      ([0x81, 0x02, 0xED, 0xA0], [.failed(1007, "")]),
      ([0x81, 0x01, 0xE2], [.failed(1007, "")]),
      ([0x82, 0x41], [.failed(1009, "")]),
      ([0x89, 0x00, 0x88, 0x02, 0x03, 0xED], [.ping([]), .failed(1002, "")]),
      ([0x88, 0x03, 0x03, 0xE8, 0x21, 0x89, 0x00], [.close(1000, [0x21])]),
    ] as [([UInt8], [FrameTarget.Note])])
  func theModelReadsFrames(_ bytes: [UInt8], _ notes: [FrameTarget.Note]) {
    let setup = FrameTarget.Setup(role: .client, limitBytes: 64, fragments: 2)
    #expect(FrameModel.notes(bytes, setup) == notes)
  }
}
