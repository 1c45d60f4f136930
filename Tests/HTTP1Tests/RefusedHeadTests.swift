import HTTP1
import Testing

@Suite("RFC 9112 §2–§5 and H: ambiguous heads")
struct RefusedHeadTests {
  static let rows: [Row] = [
    // §2.2: lines.
    Row("bare LF after the request line", "GET / HTTP/1.1\nHost: a\r\n\r\n", [.failed(400)]),
    Row("bare LF after a field", "GET / HTTP/1.1\r\nHost: a\n\r\n", [.failed(400)]),
    Row("bare LF as the empty line", "GET / HTTP/1.1\r\nHost: a\r\n\n", [.failed(400)]),
    Row("bare LFs alone", "GET / HTTP/1.1\nHost: a\n\n", [.failed(400)]),
    Row("bare LF before anything", "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", [.failed(400)]),
    Row("bare CR in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", [.failed(400)]),
    Row("bare CR in the request line", "GET /\r HTTP/1.1\r\nHost: a\r\n\r\n", [.failed(400)]),
    Row("CR CR LF", "GET / HTTP/1.1\r\r\nHost: a\r\n\r\n", [.failed(400)]),
    Row("NUL in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n", [.failed(400)]),
    Row("NUL in the target", "GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n", [.failed(400)]),
    Row("five empty lines", "\r\n\r\n\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", [.failed(400)]),
    // §3: the request line.
    Row("no version", "GET /\r\nHost: a\r\n\r\n", [.failed(400)]),
    Row("two spaces after the method", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", [.failed(400)]),
    Row("two spaces before the version", "GET /  HTTP/1.1\r\nHost: a\r\n\r\n", [.failed(400)]),
    Row("space before the method", " GET / HTTP/1.1\r\nHost: a\r\n\r\n", [.failed(400)]),
    Row("space after the version", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", [.failed(400)]),
    Row("tab for a space", "GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n", [.failed(400)]),
    Row("space in the target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", [.failed(400)]),
    Row("no token as method", "G(T / HTTP/1.1\r\nHost: a\r\n\r\n", [.failed(400)]),
    Row("TLS on a plain port", bytes: [0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3, 13, 10, 13, 10], [.failed(400)]),
    Row("lower case version", "GET / http/1.1\r\nHost: a\r\n\r\n", [.failed(400)]),
    Row("version of two digits", "GET / HTTP/1.10\r\nHost: a\r\n\r\n", [.failed(400)]),
    Row("version without minor", "GET / HTTP/1\r\nHost: a\r\n\r\n", [.failed(400)]),
    Row("version with tail", "GET / HTTP/1.1x\r\nHost: a\r\n\r\n", [.failed(400)]),
    Row("version with a sign", "GET / HTTP/+.1\r\nHost: a\r\n\r\n", [.failed(400)]),
    Row("the HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [.failed(505)]),
    Row("HTTP/2.0", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", [.failed(505)]),
    Row("HTTP/1.2", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", [.failed(505)]),
    Row("HTTP/0.9", "GET / HTTP/0.9\r\nHost: a\r\n\r\n", [.failed(505)]),
    Row("a method of 33 letters", "\(String(repeating: "M", count: 33)) / HTTP/1.1\r\nHost: a\r\n\r\n", [.failed(501)]),
    // §3.2: the target.
    Row("relative target", get("x", "Host: a"), [.failed(400)]),
    Row("asterisk without OPTIONS", get("*", "Host: a"), [.failed(400)]),
    Row("another scheme", get("ftp://a/x", "Host: a"), [.failed(400)]),
    Row("authority form", "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", [.failed(405)]),
    Row("fragment", get("/a#b", "Host: a"), [.failed(400)]),
    Row("absolute form without authority", get("http:///x", "Host: a"), [.failed(400)]),
    Row("absolute form with user information", get("http://u@a/x", "Host: a"), [.failed(400)]),
    Row("absolute form of another host", get("http://b/x", "Host: a"), [.failed(400)]),
    Row("absolute form of another port", get("http://a:81/x", "Host: a:80"), [.failed(400)]),
    Row("absolute form with a fragment", get("http://a/x#y", "Host: a"), [.failed(400)]),
    Row("absolute form without Host", get("http://a/x"), [.failed(400)]),
    Row("UTF-8 in the target", get("/é", "Host: a"), [.failed(400)]),
    Row("DEL in the target", get("/\u{7F}", "Host: a"), [.failed(400)]),
    // §3.2: Host.
    Row("no Host", get("/"), [.failed(400)]),
    Row("two Hosts", get("/", "Host: a", "Host: b"), [.failed(400)]),
    Row("the same Host twice", get("/", "Host: a", "host: a"), [.failed(400)]),
    Row("two Hosts in HTTP/1.0", "GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", [.failed(400)]),
    Row("a list of hosts", get("/", "Host: a, b"), [.failed(400)]),
    Row("a list without a space", get("/", "Host: a,b"), [.failed(400)]),
    Row("a path in Host", get("/", "Host: a/b"), [.failed(400)]),
    Row("user information in Host", get("/", "Host: u@a"), [.failed(400)]),
    Row("a fragment in Host", get("/", "Host: a#b"), [.failed(400)]),
    Row("a query in Host", get("/", "Host: a?b"), [.failed(400)]),
    Row("a backslash in Host", get("/", "Host: a\\b"), [.failed(400)]),
    Row("letters as port", get("/", "Host: a:b"), [.failed(400)]),
    Row("two ports", get("/", "Host: a:1:2"), [.failed(400)]),
    Row("a port of six digits", get("/", "Host: a:123456"), [.failed(400)]),
    Row("a port alone", get("/", "Host: :80"), [.failed(400)]),
    Row("an open bracket", get("/", "Host: [::1"), [.failed(400)]),
    Row("empty brackets", get("/", "Host: []"), [.failed(400)]),
    Row("text behind brackets", get("/", "Host: [::1]x"), [.failed(400)]),
    Row(
      "octets beyond ASCII in Host", bytes: Array("GET / HTTP/1.1\r\nHost: ".utf8) + [0xFF] + "\r\n\r\n".utf8,
      [.failed(400)]),
    // §5: fields.
    Row("folded with a space", get("/", "Host: a", "X: 1", " 2"), [.failed(400)]),
    Row("folded with a tab", get("/", "Host: a", "X: 1", "\t2"), [.failed(400)]),
    Row("first field folded", get("/", " Host: a", "Host: a"), [.failed(400)]),
    Row("space before the colon", get("/", "Host : a"), [.failed(400)]),
    Row("tab before the colon", get("/", "Host\t: a"), [.failed(400)]),
    Row("no colon", get("/", "Host: a", "X"), [.failed(400)]),
    Row("no name", get("/", "Host: a", ": x"), [.failed(400)]),
    Row("no token as name", get("/", "Host: a", "X(Y): x"), [.failed(400)]),
    Row("UTF-8 in a name", get("/", "Host: a", "é: x"), [.failed(400)]),
    Row("control character in a value", get("/", "Host: a", "X: \u{1}"), [.failed(400)]),
    Row("DEL in a value", get("/", "Host: a", "X: \u{7F}"), [.failed(400)]),
    Row("vertical tab around a value", get("/", "Host: a", "X: \u{B}x"), [.failed(400)]),
  ]

  @Test(arguments: rows) func H_ambiguousHeadIsRefusedAtEverySplit(_ row: Row) {
    for feeding in Feeding.all(row.bytes.count) {
      #expect(requests(feeding.pieces(row.bytes)) == row.notes, "\(feeding)")
    }
  }

  @Test func H_nothingIsReadAfterAFailure() {
    let bytes = Array(("GET / HTTP/1.1\nHost: a\r\n\r\n" + get("/", "Host: a")).utf8)
    for feeding in Feeding.all(bytes.count) { #expect(requests(feeding.pieces(bytes)) == [.failed(400)], "\(feeding)") }
  }
}
