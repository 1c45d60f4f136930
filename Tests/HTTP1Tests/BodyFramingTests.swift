import HTTP1
import Testing

@Suite("RFC 9112 §6–§7 and H: bodies")
struct BodyFramingTests {
  static let chunked = "Transfer-Encoding: chunked"

  static let accepted: [Row] = [
    Row("no framing, no body", post(), [.head("POST /x"), .end]),
    Row("length 0", post("Content-Length: 0"), [.head("POST /x"), .end]),
    Row("length 5", post("Content-Length: 5", body: "hello"), [.head("POST /x"), .body("hello"), .end]),
    Row("length with zeros", post("Content-Length: 005", body: "hello"), [.head("POST /x"), .body("hello"), .end]),
    Row("length in blanks", post("Content-Length: \t5 ", body: "hello"), [.head("POST /x"), .body("hello"), .end]),
    Row("length of a GET", get("/", "Host: a", "Content-Length: 2") + "hi", [.head("GET /"), .body("hi"), .end]),
    Row("a length not yet there", post("Content-Length: 5", body: "hel"), [.head("POST /x"), .body("hel")]),
    Row("chunks", post(chunked, body: "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n"), [.head("POST /x"), .body("hello!"), .end]),
    Row("no chunks", post(chunked, body: "0\r\n\r\n"), [.head("POST /x"), .end]),
    Row(
      "hexadecimal sizes", post(chunked, body: "a\r\n0123456789\r\nB\r\nabcdefghijk\r\n0\r\n\r\n"),
      [.head("POST /x"), .body("0123456789abcdefghijk"), .end]),
    Row(
      "size with zeros", post(chunked, body: "0005\r\nhello\r\n000\r\n\r\n"), [.head("POST /x"), .body("hello"), .end]),
    Row(
      "size of 16 digits", post(chunked, body: "0000000000000001\r\nx\r\n0\r\n\r\n"),
      [.head("POST /x"), .body("x"), .end]),
    Row(
      "CRLF as data", post(chunked, body: "4\r\n\r\n\r\n\r\n0\r\n\r\n"), [.head("POST /x"), .body("\r\n\r\n"), .end]),
    Row(
      "extensions", post(chunked, body: "2;a=b;c=\"d e\"\r\nhi\r\n0;last\r\n\r\n"),
      [.head("POST /x"), .body("hi"), .end]),
    Row("trailers", post(chunked, body: "1\r\nx\r\n0\r\nA: b\r\nC:\r\n\r\n"), [.head("POST /x"), .body("x"), .end]),
    Row("coding in capitals", post("TRANSFER-ENCODING: ChunKed", body: "0\r\n\r\n"), [.head("POST /x"), .end]),
    Row("chunks not yet there", post(chunked, body: "5\r\nhe"), [.head("POST /x"), .body("he")]),
    Row("an end not yet there", post(chunked, body: "0\r\n\r"), [.head("POST /x")]),
  ]

  static let refused: [Row] = [
    // §6.3: lengths.
    Row("both framings", post("Content-Length: 5", chunked, body: "0\r\n\r\n"), [.failed(400)]),
    Row("both framings, other order", post(chunked, "Content-Length: 5", body: "0\r\n\r\n"), [.failed(400)]),
    Row("two lengths", post("Content-Length: 5", "Content-Length: 6", body: "hello"), [.failed(400)]),
    Row("the same length twice", post("Content-Length: 5", "content-length: 5", body: "hello"), [.failed(400)]),
    Row("a list of lengths", post("Content-Length: 5, 5", body: "hello"), [.failed(400)]),
    Row("negative length", post("Content-Length: -5"), [.failed(400)]),
    Row("length with a sign", post("Content-Length: +5"), [.failed(400)]),
    Row("length in hexadecimal", post("Content-Length: 0x5"), [.failed(400)]),
    Row("length with a fraction", post("Content-Length: 5.0"), [.failed(400)]),
    Row("length of two words", post("Content-Length: 5 5"), [.failed(400)]),
    Row("empty length", post("Content-Length:"), [.failed(400)]),
    Row("length in Arabic digits", post("Content-Length: \u{665}"), [.failed(400)]),
    Row("length of 2^63", post("Content-Length: 9223372036854775808"), [.failed(413)]),
    Row("length of 2^64 + 5", post("Content-Length: 18446744073709551621"), [.failed(413)]),
    Row("length of 30 digits", post("Content-Length: 999999999999999999999999999999"), [.failed(413)]),
    Row("length above the limit", post("Content-Length: 1048577"), [.failed(413)]),
    // §6.1: transfer codings.
    Row("chunked in HTTP/1.0", "POST /x HTTP/1.0\r\nHost: a\r\n\(chunked)\r\n\r\n0\r\n\r\n", [.failed(400)]),
    Row("chunked twice", post("Transfer-Encoding: chunked, chunked"), [.failed(400)]),
    Row("chunked in two fields", post(chunked, chunked), [.failed(400)]),
    Row("chunked and then identity", post(chunked, "Transfer-Encoding: identity"), [.failed(400)]),
    Row("chunked not last", post("Transfer-Encoding: chunked, gzip"), [.failed(400)]),
    Row("identity", post("Transfer-Encoding: identity"), [.failed(400)]),
    Row("empty coding", post("Transfer-Encoding:"), [.failed(400)]),
    Row("coding with a prefix", post("Transfer-Encoding: xchunked"), [.failed(400)]),
    Row("coding with a parameter", post("Transfer-Encoding: chunked;q=1"), [.failed(400)]),
    Row("coding in quotes", post("Transfer-Encoding: \"chunked\""), [.failed(400)]),
    Row("coding with an empty element", post("Transfer-Encoding: ,chunked"), [.failed(400)]),
    Row("vertical tab before the coding", post("Transfer-Encoding: \u{B}chunked"), [.failed(400)]),
    Row("space before the colon", post("Transfer-Encoding : chunked"), [.failed(400)]),
    Row("the Kelvin sign as k", post("Transfer-Encoding: chun\u{212A}ed"), [.failed(400)]),
    Row("gzip, chunked", post("Transfer-Encoding: gzip, chunked"), [.failed(501)]),
    // §7.1: chunks.
    Row("no size", post(chunked, body: "\r\n"), [.head("POST /x"), .failed(400)]),
    Row("size with 0x", post(chunked, body: "0x1\r\nx\r\n"), [.head("POST /x"), .failed(400)]),
    Row("negative size", post(chunked, body: "-1\r\n"), [.head("POST /x"), .failed(400)]),
    Row("size with a sign", post(chunked, body: "+1\r\nx\r\n"), [.head("POST /x"), .failed(400)]),
    Row("space before the size", post(chunked, body: " 1\r\nx\r\n"), [.head("POST /x"), .failed(400)]),
    Row("space behind the size", post(chunked, body: "1 \r\nx\r\n"), [.head("POST /x"), .failed(400)]),
    Row("no hexadecimal digit", post(chunked, body: "g\r\n"), [.head("POST /x"), .failed(400)]),
    Row("size of 17 digits", post(chunked, body: "00000000000000001\r\nx\r\n"), [.head("POST /x"), .failed(400)]),
    Row("bare LF behind the size", post(chunked, body: "1\nx\r\n0\r\n\r\n"), [.head("POST /x"), .failed(400)]),
    Row("bare CR behind the size", post(chunked, body: "1\rx\r\n"), [.head("POST /x"), .failed(400)]),
    Row("bare LF behind an extension", post(chunked, body: "1;a\nx\r\n"), [.head("POST /x"), .failed(400)]),
    Row("bare CR in an extension", post(chunked, body: "1;a\rb\r\n"), [.head("POST /x"), .failed(400)]),
    Row("NUL in an extension", post(chunked, body: "1;\0\r\nx\r\n"), [.head("POST /x"), .failed(400)]),
    Row("data longer than its size", post(chunked, body: "1\r\nxy\r\n"), [.head("POST /x"), .body("x"), .failed(400)]),
    Row(
      "data shorter than its size", post(chunked, body: "3\r\nx\r\n0\r\n\r\n"),
      [.head("POST /x"), .body("x\r\n"), .failed(400)]),
    Row("bare LF behind data", post(chunked, body: "1\r\nx\n"), [.head("POST /x"), .body("x"), .failed(400)]),
    Row("bare CR behind data", post(chunked, body: "1\r\nx\r0"), [.head("POST /x"), .body("x"), .failed(400)]),
    Row("size above the limit", post(chunked, body: "100001\r\n"), [.head("POST /x"), .failed(413)]),
    Row("size of 2^64 + 1", post(chunked, body: "10000000000000001\r\n"), [.head("POST /x"), .failed(413)]),
    Row("size of 2^63 - 1", post(chunked, body: "7fffffffffffffff\r\n"), [.head("POST /x"), .failed(413)]),
    Row("trailer without a name", post(chunked, body: "0\r\n: x\r\n\r\n"), [.head("POST /x"), .failed(400)]),
    Row("trailer without a colon", post(chunked, body: "0\r\nx\r\n\r\n"), [.head("POST /x"), .failed(400)]),
    Row("folded trailer", post(chunked, body: "0\r\nA: b\r\n c\r\n\r\n"), [.head("POST /x"), .failed(400)]),
    Row("bare LF behind a trailer", post(chunked, body: "0\r\nA: b\n\r\n"), [.head("POST /x"), .failed(400)]),
    Row("bare LF as the end", post(chunked, body: "0\r\n\n"), [.head("POST /x"), .failed(400)]),
    Row("bare CR as the end", post(chunked, body: "0\r\n\rx"), [.head("POST /x"), .failed(400)]),
    Row(
      "a request in place of the end", post(chunked, body: "0\r\nGET / HTTP/1.1\r\n"), [.head("POST /x"), .failed(400)]),
  ]

  @Test(arguments: accepted) func H_bodyIsReadAtEverySplit(_ row: Row) {
    for feeding in Feeding.all(row.bytes.count) {
      #expect(requests(feeding.pieces(row.bytes)) == row.notes, "\(feeding)")
    }
  }

  @Test(arguments: refused) func H_ambiguousBodyIsRefusedAtEverySplit(_ row: Row) {
    for feeding in Feeding.all(row.bytes.count) {
      #expect(requests(feeding.pieces(row.bytes)) == row.notes, "\(feeding)")
    }
  }

  @Test func H_bodyOfTheLimitPassesAndOneMoreIs413() {
    let limits = HTTPLimits(bodyBytes: 10)
    let ten = "0123456789"
    let whole: [Note] = [.head("POST /x"), .body(ten), .end]
    let rows = [
      Row("length 10", post("Content-Length: 10", body: ten), whole),
      Row("length 11", post("Content-Length: 11", body: ten + "a"), [.failed(413)]),
      Row("one chunk of 10", post(Self.chunked, body: "a\r\n\(ten)\r\n0\r\n\r\n"), whole),
      Row("one chunk of 11", post(Self.chunked, body: "b\r\n\(ten)a\r\n0\r\n\r\n"), [.head("POST /x"), .failed(413)]),
      Row("chunks of 6 and 4", post(Self.chunked, body: "6\r\n012345\r\n4\r\n6789\r\n0\r\n\r\n"), whole),
      Row(
        "chunks of 6 and 5", post(Self.chunked, body: "6\r\n012345\r\n5\r\n6789a\r\n0\r\n\r\n"),
        [.head("POST /x"), .body("012345"), .failed(413)]),
    ]
    for row in rows {
      for feeding in Feeding.all(row.bytes.count) {
        #expect(requests(feeding.pieces(row.bytes), limits: limits) == row.notes, "\(row.name), \(feeding)")
      }
    }
  }

  @Test(arguments: [("extensions", false), ("trailers", true)])
  func H_4096OctetsAroundChunksPassAndOneMoreIs431(_ name: String, isTrailer: Bool) {
    func body(_ overhead: Int) -> [UInt8] {
      // `;` or `a:` count as well.
      let text =
        isTrailer
        ? "0\r\na:" + String(repeating: "x", count: overhead - 2) + "\r\n\r\n"
        : "0;" + String(repeating: "x", count: overhead - 1) + "\r\n\r\n"
      return Array(post(Self.chunked, body: text).utf8)
    }
    for feeding in [Feeding.whole, .oneByOne, .split(100), .split(4000)] {
      #expect(requests(feeding.pieces(body(4096))) == [.head("POST /x"), .end], "\(name), \(feeding)")
      #expect(requests(feeding.pieces(body(4097))) == [.head("POST /x"), .failed(431)], "\(name), \(feeding)")
    }
  }
}
