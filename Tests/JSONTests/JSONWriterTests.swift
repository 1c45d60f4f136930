import Testing

@testable import JSON

private func written(_ body: (inout JSONWriter) -> Void) -> String {
  var writer = JSONWriter()
  body(&writer)
  return String(decoding: writer.take(), as: UTF8.self)
}

@Suite("RFC 8259 writing")
struct JSONWriterTests {
  @Test func containersGetTheirCommas() {
    let text = written { writer in
      writer.beginObject()
      writer.key("a")
      writer.beginArray()
      writer.integer(1)
      writer.beginArray()
      writer.endArray()
      writer.beginObject()
      writer.endObject()
      writer.null()
      writer.boolean(true)
      writer.boolean(false)
      writer.endArray()
      writer.key("b")
      writer.string("x")
      writer.key("c\"d" as String)
      writer.raw("{\"e\":1}")
      writer.key("f")
      writer.raw(Array("[2]".utf8))
      writer.endObject()
    }
    #expect(text == "{\"a\":[1,[],{},null,true,false],\"b\":\"x\",\"c\\\"d\":{\"e\":1},\"f\":[2]}")
  }

  @Test(
    arguments: [
      (0, "0"), (9, "9"), (10, "10"), (-1, "-1"), (1_000_000, "1000000"), (Int64.max, "9223372036854775807"),
      (Int64.min, "-9223372036854775808"),
    ] as [(Int64, String)])
  func integersHaveAllTheirDigits(value: Int64, expected: String) {
    #expect(written { $0.integer(value) } == expected)
  }

  @Test func theLargestUnsignedInteger() {
    #expect(written { $0.unsigned(.max) } == "18446744073709551615")
  }

  @Test(arguments: [(0.5, "0.5"), (-0.0, "-0.0"), (1e300, "1e+300"), (0.1, "0.1"), (123456.0, "123456.0")])
  func doublesAreShort(value: Double, expected: String) {
    #expect(written { $0.double(value) } == expected)
  }

  @Test(arguments: [
    ("", "\"\""), ("plain", "\"plain\""), ("\"\\", "\"\\\"\\\\\""), ("\u{08}\t\n\u{0C}\r", "\"\\b\\t\\n\\f\\r\""),
    ("\u{0}\u{1}\u{1F}\u{7F}", "\"\\u0000\\u0001\\u001f\u{7F}\""), ("/", "\"/\""), ("é😀\u{2028}", "\"é😀\u{2028}\""),
  ])
  func onlyWhatMustBeIsEscaped(text: String, expected: String) {
    #expect(written { $0.string(text) } == expected)
  }

  @Test func anEscapeIsFoundAtEveryPlaceOfEveryLength() {
    for length in 0...20 {
      for place in 0..<max(length, 1) where place < length {
        for (character, escape) in [
          ("\"", "\\\""), ("\\", "\\\\"), ("\u{1F}", "\\u001f"), ("é", "é"), ("\u{80}", "\u{80}"),
        ] {
          let before = String(repeating: "a", count: place)
          let after = String(repeating: "!", count: length - place - 1)
          #expect(written { $0.string(before + character + after) } == "\"" + before + escape + after + "\"")
        }
      }
    }
  }

  @Test func takeStartsAnew() {
    var writer = JSONWriter(reservingBytes: 64)
    writer.integer(1)
    #expect(writer.count == 1)
    #expect(writer.take() == [0x31])
    writer.integer(2)
    #expect(writer.take() == [0x32])
    #expect(writer.count == 0)
  }
}
