import Testing

@testable import JSON

/// Parses `text` and answers it re-encoded, so that a test compares what the parser understood with literal text.
private func reencoded(_ text: String, maximumDepth: Int = 32) -> Result<String, JSONFailure> {
  reencoded(Array(text.utf8), maximumDepth: maximumDepth)
}

private func reencoded(_ bytes: [UInt8], maximumDepth: Int = 32) -> Result<String, JSONFailure> {
  let parser = JSONParser()
  return bytes.withUnsafeBytes { buffer in
    parser.parse(buffer, maximumDepth: maximumDepth).map { value in
      var writer = JSONWriter()
      writer.value(value)
      return String(decoding: writer.take(), as: UTF8.self)
    }
  }
}

private func withValue(_ text: String, _ body: (JSONValue) throws -> Void) throws {
  let parser = JSONParser()
  try Array(text.utf8).withUnsafeBytes { buffer in
    try body(parser.parse(buffer, maximumDepth: 32).get())
  }
}

@Suite("RFC 8259 parsing")
struct JSONParserTests {
  @Test(arguments: [
    ("{}", "{}"), ("[]", "[]"), (" { \"a\" : [ 1 , true , null ] } ", "{\"a\":[1,true,null]}"),
    ("\"x\"", "\"x\""), ("17", "17"), ("-17", "-17"), ("false", "false"),
    (
      "[9223372036854775807,9223372036854775808,18446744073709551615]",
      "[9223372036854775807,9223372036854775808,18446744073709551615]"
    ),
    ("[-9223372036854775808]", "[-9223372036854775808]"),
    ("[0.1,1.5e3,1e22]", "[0.1,1500.0,1e+22]"),
    ("\"\\u00e9\\n\\/\\\"\\\\\"", "\"é\\n/\\\"\\\\\""),
    ("\"\\ud83d\\ude00\"", "\"😀\""),
    ("{\"b\":1,\"a\":{\"c\":[[]]}}", "{\"b\":1,\"a\":{\"c\":[[]]}}"),
  ])
  func wellFormedTextIsReadAndWrittenCompact(text: String, expected: String) {
    #expect(reencoded(text) == .success(expected))
  }

  @Test(arguments: [
    "{", "[1,", "{\"a\"}", "{\"a\":}", "{a:1}", "[1 2]", "nul", "tru", "'x'", "\"x", "[1]]", "{} {}", "\u{FEFF}{}",
    "\"a\u{01}b\"", "\"\\x\"", "\"\\u12\"", "[1,]", "{\"a\":1,}", "//x\n1",
  ])
  func malformedTextIsRefused(text: String) {
    #expect(reencoded(text) == .failure(.malformed))
  }

  @Test(arguments: ["", " ", "\n\t \r"])
  func nothingIsEmpty(text: String) {
    #expect(reencoded(text) == .failure(.empty))
  }

  @Test(
    arguments: [
      [0x22, 0xFF, 0x22], [0x22, 0xC0, 0xAF, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
      [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22],
      [0x22, 0xE2, 0x82, 0x22], [0x7B, 0x80], [0x5B, 0x22, 0xC3, 0x22],
    ] as [[UInt8]])
  func badUTF8IsNamedWhateverElseIsWrong(bytes: [UInt8]) {
    #expect(reencoded(bytes) == .failure(.badUTF8))
  }

  @Test func everyPrefixOfADocumentIsRefused() {
    let text = Array("{\"id\":7,\"op\":\"ping\",\"data\":{\"é\":[1.5,\"\\u00e9\"]}}".utf8)
    for count in 0..<text.count {
      let result = reencoded(Array(text[..<count]))
      guard case .failure = result else {
        Issue.record("a document cut at \(count) was accepted")
        continue
      }
    }
    #expect(reencoded(text) == .success("{\"id\":7,\"op\":\"ping\",\"data\":{\"é\":[1.5,\"é\"]}}"))
  }

  @Test(arguments: [
    ("[]", 1, true), ("[[]]", 1, false), ("[[1]]", 2, true), ("[{\"a\":[]}]", 2, false), ("[{\"a\":[]}]", 3, true),
    ("7", 1, true), ("[[[1]]]", 2, false), ("[[],[],[]]", 2, true),
  ])
  func depthIsCountedInNestedContainers(text: String, depth: Int, isAccepted: Bool) {
    #expect(reencoded(text, maximumDepth: depth) == (isAccepted ? .success(text) : .failure(.tooDeep)))
  }

  @Test func M5_depth32PassesAnd33DoesNot() {
    let at = String(repeating: "[", count: 32) + String(repeating: "]", count: 32)
    let full = String(repeating: "[", count: 32) + "1" + String(repeating: "]", count: 32)
    #expect(reencoded(at) == .success(at))
    #expect(reencoded(full) == .success(full))
    #expect(reencoded("[" + at + "]") == .failure(.tooDeep))
    #expect(reencoded("[" + full + "]") == .failure(.tooDeep))
  }

  @Test func C084_tenThousandLevelsAreAnError() {
    let deep = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
    #expect(reencoded(deep) == .failure(.tooDeep))
    let objects = String(repeating: "{\"a\":", count: 10_000) + "1" + String(repeating: "}", count: 10_000)
    #expect(reencoded(objects) == .failure(.tooDeep))
  }

  @Test(arguments: [
    "1e400", "-1e400", "18446744073709551616", "-9223372036854775809", String(repeating: "9", count: 10_000), "01",
    "1.",
    "-", "1e",
  ])
  func C084_aNumberThatNothingHoldsIsRefused(number: String) {
    #expect(reencoded("{\"n\":\(number)}") == .failure(.number))
  }

  @Test(arguments: [
    ("-0", "-0.0"), ("[-0,0,\"-0\",-0.0,10,-0]", "[-0.0,0,\"-0\",-0.0,10,-0.0]"),
    ("{\"a-0\":0,\"\\\"-0\":-0,\"b\":-05e0}", ""), ("[\"2026-01-02\",0]", "[\"2026-01-02\",0]"),
    ("[\"\\\\\",-0,\"-0\\\\\",0]", "[\"\\\\\",-0.0,\"-0\\\\\",0]"),
  ])
  func C084_negativeZeroIsNoInteger(text: String, expected: String) {
    #expect(reencoded(text) == (expected.isEmpty ? .failure(.number) : .success(expected)))
  }

  @Test func C084_integersAreOnlyWhatIsWrittenAsSuch() throws {
    try withValue("[7,1.0,1e3,-0,\"42\",true,null,9223372036854775808,0]") { value in
      let elements = try Array(#require(value.elements))
      #expect(elements.map(\.integer) == [7, nil, nil, nil, nil, nil, nil, nil, 0])
      #expect(elements.map(\.unsigned) == [nil, nil, nil, nil, nil, nil, nil, 9_223_372_036_854_775_808, nil])
      #expect(elements.map(\.double) == [7, 1, 1000, 0, nil, nil, nil, 9_223_372_036_854_775_808, 0])
      #expect(
        elements.map(\.kind) == [
          .integer, .double, .double, .double, .string, .boolean, .null, .unsigned, .integer,
        ])
    }
  }

  @Test(arguments: [
    "\"a\\u0000b\"", "{\"a\\u0000\":1}", "[[\"\\u0000\"]]", "\"\\udc00\"", "\"\\udc00\\ud83d\"", "{\"\\udfff\":1}",
    "\"\\ud83d\"", "\"\\ud83dx\"", "\"\\ud83d\\ud83d\"", "\"\\ud83d\\u0041\"", "\"x\\udc00y\"", "\"\\uD83D\\n\"",
    "\"a\u{0}b\"", "{\"a\u{0}\":1}",
  ])
  func C085_nulAndLoneSurrogatesAreRefusedAnywhere(text: String) {
    switch reencoded(text) {
    case .failure(let failure): #expect(failure == .forbiddenScalar || failure == .malformed)
    case .success(let accepted): Issue.record("accepted: \(accepted)")
    }
  }

  @Test func C085_literalBackslashTextIsUntouched() {
    #expect(reencoded("\"a\\\\u0000b\"") == .success("\"a\\\\u0000b\""))
    #expect(reencoded("\"\\\\ud83d\"") == .success("\"\\\\ud83d\""))
    #expect(reencoded("\"\u{D7FF}\u{E000}\\u0041\"") == .success("\"\u{D7FF}\u{E000}A\""))
  }

  @Test func theLastOfSeveralMembersCounts() throws {
    try withValue("{\"a\":1,\"b\":2,\"a\":3,\"\\u0061\":4}") { value in
      #expect(value["a"]?.integer == 4)
      #expect(value["b"]?.integer == 2)
      #expect(value["c"] == nil)
      #expect(value.member("a")?.integer == 4)
    }
  }

  @Test func lookupStaysInItsOwnObject() throws {
    try withValue("{\"x\":{\"a\":1},\"y\":[{\"a\":2}],\"z\":\"a\",\"ab\":5}") { value in
      #expect(value["a"] == nil)
      #expect(value["ab"]?.integer == 5)
      #expect(value["x"]?["a"]?.integer == 1)
      #expect(value["y"]?["a"] == nil)
      #expect(value["z"]?.isString("a") == true)
      #expect(value["z"]?.isString("ab") == false)
    }
  }

  @Test func buffersShrinkAfterABigDocument() {
    let parser = JSONParser(retainedBytes: 8_192)
    let big = Array(("\"" + String(repeating: "x", count: 100_000) + "\"").utf8)
    let small = Array("{}".utf8)
    let bigCount = big.withUnsafeBytes { parser.parse($0, maximumDepth: 4).map { $0.utf8?.count } }
    #expect(bigCount == .success(100_000))
    #expect(parser.capacity >= 100_000)
    let isObject = small.withUnsafeBytes { parser.parse($0, maximumDepth: 4).map { $0.isObject } }
    #expect(isObject == .success(true))
    #expect(parser.capacity == 4_096)
    parser.releaseBuffers()
    #expect(parser.capacity == 0)
  }

  @Test func aFailedDocumentLeavesTheParserFit() {
    let parser = JSONParser()
    let bad = Array("{\"a\":[".utf8)
    let good = Array("[5]".utf8)
    for depth in 1...3 {
      let failure = bad.withUnsafeBytes { parser.parse($0, maximumDepth: 8).map { $0.isObject } }
      #expect(failure == .failure(.malformed))
      let number = good.withUnsafeBytes { buffer in
        parser.parse(buffer, maximumDepth: depth).map { value in value.elements.map { $0.map(\.integer) } }
      }
      #expect(number == .success([5]))
    }
  }
}
