import FuzzTargets
import Testing

/// Inputs that stand for cases from the field, each with exactly the rejection that it must meet. An input without one is
/// accepted.
@Suite("The fuzzers' corpora: cases from the field")
struct CaseTests {
  /// A row of a table: an input and its rejection.
  struct Row: Sendable, CustomTestStringConvertible {
    var target: FuzzTarget
    var name: String
    var rejection: String?

    init(_ target: FuzzTarget, _ name: String, _ rejection: String? = nil) {
      self.target = target
      self.name = name
      self.rejection = rejection
    }

    var testDescription: String { "\(target)/\(name)" }

    func check() throws {
      let report = target.run(try Corpus.input(target, name))
      #expect(report.violations.isEmpty)
      #expect(report.rejections == (rejection.map { [$0] } ?? []))
      if rejection == nil { #expect(report.accepted > 0) }
    }
  }

  private static let inflatesToMore = "1009 the message inflates to more than N bytes"

  @Test(arguments: [
    Row(.frame, "C001-inflates-to-the-limit"), Row(.frame, "C001-one-above-the-limit", inflatesToMore),
    Row(.frame, "C001-two-above-the-limit", inflatesToMore), Row(.frame, "C001-three-above-the-limit", inflatesToMore),
    Row(.inflate, "C001-to-the-limit"), Row(.inflate, "C001-one-above", inflatesToMore),
    Row(.inflate, "C001-two-above", inflatesToMore), Row(.inflate, "C001-three-above", inflatesToMore),
  ])
  func C001_theInflateLimitIsExact(_ row: Row) throws { try row.check() }

  @Test(arguments: [
    Row(.frame, "C002-text-inside-a-fragmented-text", "1002 a new message inside a fragmented one"),
    Row(.frame, "C002-continuation-without-a-start", "1002 a continuation without a message"),
  ])
  func C002_messagesAreNotMixed(_ row: Row) throws { try row.check() }

  @Test(arguments: [
    Row(.frame, "C003-fragmented-ping", "1002 a control frame is fragmented"),
    Row(.frame, "C003-ping-of-126", "1002 a control frame is above N bytes"),
    Row(.frame, "C003-close-of-126", "1002 a control frame is above N bytes"),
    Row(.frame, "C003-opcode-3", "1002 the opcode is reserved"),
    Row(.frame, "C003-opcode-11", "1002 the opcode is reserved"),
    Row(.frame, "C003-rsv2", "1002 a reserved bit is set"),
    Row(.frame, "C003-rsv1-without-deflate", "1002 a reserved bit is set"),
    Row(.frame, "C003-unmasked", "1002 a client's frame is not masked"),
    Row(.frame, "C003-masked-by-a-server", "1002 a server's frame is masked"),
    Row(.frame, "C003-compressed-ping", "1002 a control frame is compressed"),
    Row(.frame, "C003-compressed-continuation", "1002 a continuation has the compression bit"),
  ])
  func C003_framesKeepTheirRules(_ row: Row) throws { try row.check() }

  @Test(arguments: [
    Row(.frame, "C006-bomb", inflatesToMore), Row(.frame, "C006-bomb-in-fragments", inflatesToMore),
    Row(.inflate, "C006-bomb", inflatesToMore),
  ])
  func C006_bombsEndAtTheLimit(_ row: Row) throws { try row.check() }

  @Test(arguments: 8...15) func C008_everyWindowInflates(_ bits: Int) throws {
    try Row(.inflate, "C008-window-of-\(bits)").check()
    try Row(.inflate, "C008-window-of-\(bits)-with-context").check()
  }

  @Test(arguments: [
    Row(.frame, "C008-two-messages-with-a-context"),
    Row(.frame, "C008-the-second-needs-a-context-that-is-gone", "1007 the compressed data is damaged"),
    Row(.handshake, "C008-offer-chrome"), Row(.handshake, "C008-offer-firefox"), Row(.handshake, "C008-offer-safari"),
    Row(.handshake, "C008-offer-every-parameter"), Row(.handshake, "C008-offer-second-one-fits"),
    Row(.handshake, "C008-offer-unknown-parameter"), Row(.handshake, "C008-offer-repeated-parameter"),
    Row(.handshake, "C008-offer-value-that-is-none"),
    Row(
      .handshake, "C008-answer-with-deflate-unasked", "invalid extensions were answered that were not offered"),
    Row(
      .handshake, "C008-answer-with-a-client-window-unasked",
      "invalid extensions were answered that were not offered"),
  ])
  func C008_bothSidesKeepWhatTheyAgreed(_ row: Row) throws { try row.check() }

  @Test(arguments: [999, 1004, 1005, 1006, 1015, 1016, 2999, 5000]) func C013_codesThatMayNotBeSent(
    _ code: Int
  ) throws {
    try Row(.frame, "C013-close-\(code)-may-not-be-sent", "1002 the close code may not be sent").check()
  }

  @Test(arguments: [
    Row(.frame, "C013-close-of-one-byte", "1002 a close frame of one byte"),
    Row(.frame, "C013-close-with-a-broken-reason", "1007 the close reason is not UTF-8"),
  ])
  func C013_closePayloads(_ row: Row) throws { try row.check() }

  @Test(arguments: [
    Row(.head, "C019-many-fields", "431 more than N header fields"),
    Row(.head, "C019-a-long-field", "431 the request head is above N bytes"),
    Row(.head, "C019-a-long-target", "414 the request target is above N bytes"),
    Row(.head, "C019-a-target-without-end", "414 the request target is above N bytes"),
    Row(.handshake, "C019-answer-too-large", "response 431 the response head is too large"),
  ])
  func C019_headsEndAtTheirLimits(_ row: Row) throws { try row.check() }

  private static let notText = "1007 the text is not UTF-8"

  @Test(arguments: [
    Row(.frame, "C021-text-in-fragments"), Row(.frame, "C021-text-cut-off", notText),
    Row(.frame, "C021-surrogate", notText), Row(.frame, "C021-overlong", notText),
    Row(.frame, "C021-above-unicode", notText), Row(.frame, "deflate-text-not-utf8", notText),
  ])
  func C021_textIsUTF8(_ row: Row) throws { try row.check() }

  @Test(arguments: [
    Row(.frame, "C025-fragments-above-the-limit", "1009 the message is above N bytes"),
    Row(.frame, "C025-empty-continuations", "1008 too many fragments"),
  ])
  func C025_fragmentsAreCounted(_ row: Row) throws { try row.check() }

  private static let noParent = "ERR_INVALID_PARENT_MESSAGE_ID `_` must be an integer from N to N."
  private static let noNumber = "ERR_BAD_REQUEST The JSON has a number that cannot be held."

  @Test(arguments: [
    Row(.operation, "C084-parent-1.0", noParent), Row(.operation, "C084-parent-1e3", noParent),
    Row(.operation, "C084-parent-minus-zero", noParent), Row(.operation, "C084-parent-minus-one", noParent),
    Row(.operation, "C084-parent-2-to-the-63", noParent), Row(.operation, "C084-parent-true", noParent),
    Row(.operation, "C084-parent-1e400", noNumber), Row(.operation, "C084-parent-2-to-the-64", noNumber),
    Row(.operation, "C084-parent-of-10000-digits", noNumber), Row(.operation, "C084-parent-text-42"),
    Row(.operation, "C084-parent-null"), Row(.operation, "http-C084-parent", noParent),
    Row(.operation, "C084-deep", "ERR_BAD_REQUEST The JSON is nested too deep."),
    Row(.operation, "C084-very-deep", "ERR_BAD_REQUEST The JSON is nested too deep."),
  ])
  func C084_numbersAndDepthNeverTrap(_ row: Row) throws { try row.check() }

  @Test func C085_noTextHoldsANUL() throws {
    try Row(.operation, "C085-nul", "ERR_BAD_REQUEST NUL and lone surrogates are not allowed in strings.").check()
  }

  /// Whether the parser or the look at its strings notices is simdjson's business.
  @Test(arguments: ["C085-high-surrogate", "C085-low-before-high", "C085-lone-low-surrogate"])
  func C085_surrogatesOutOfOrderAreRefused(_ name: String) throws {
    let report = FuzzTarget.operation.run(try Corpus.input(.operation, name))
    #expect(report.violations.isEmpty)
    #expect(report.rejections.count == 1 && report.accepted == 0)
  }

  @Test func C085_aLiteralBackslashIsText() throws { try Row(.operation, "C085-literal-backslash").check() }
}
