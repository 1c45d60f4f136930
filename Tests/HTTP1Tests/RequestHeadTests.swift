import HTTP1
import Testing

@Suite("RFC 9112 §3 and RFC 9110: what an accepted head says")
struct RequestHeadTests {
  static let accepted: [Row] = [
    Row("the least", get("/", "Host: a"), [.head("GET /"), .end]),
    Row("an empty line before", "\r\n" + get("/", "Host: a"), [.head("GET /"), .end]),
    Row("four empty lines before", "\r\n\r\n\r\n\r\n" + get("/", "Host: a"), [.head("GET /"), .end]),
    Row("an empty Host", get("/", "Host:"), [.head("GET /"), .end]),
    Row("no blank behind the colon", get("/", "Host:a", "X:y"), [.head("GET /"), .end]),
    Row("an empty value", get("/", "Host: a", "X:"), [.head("GET /"), .end]),
    Row("a tab in a value", get("/", "Host: a", "X: a\tb"), [.head("GET /"), .end]),
    Row("UTF-8 in a value", get("/", "Host: a", "X: é"), [.head("GET /"), .end]),
    Row("a method of its own", "M-SEARCH / HTTP/1.1\r\nHost: a\r\n\r\n", [.head("M-SEARCH /"), .end]),
    Row("OPTIONS of everything", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", [.head("OPTIONS *"), .end]),
    Row("HTTP/1.0 without Host", "GET / HTTP/1.0\r\n\r\n", [.head("GET /"), .end]),
    Row("absolute form", get("http://a/x", "Host: a"), [.head("GET /x"), .end]),
    Row("absolute form in capitals", get("HTTPS://A:1/x", "Host: a:1"), [.head("GET /x"), .end]),
    Row("absolute form without a path", get("http://a", "Host: a"), [.head("GET /"), .end]),
    Row("absolute form, query without a path", get("http://a?q", "Host: a"), [.head("GET /"), .end]),
    Row("an IPv6 host", get("/", "Host: [::1]:8080"), [.head("GET /"), .end]),
    Row("a host with a port", get("/", "Host: example.org:65535"), [.head("GET /"), .end]),
    Row("a host with an empty port", get("/", "Host: a:"), [.head("GET /"), .end]),
    Row("not yet whole", "GET / HTTP/1.1\r\nHost: a\r\n\r", []),
    Row("nothing", "", []),
  ]

  @Test(arguments: accepted) func H_headIsReadAtEverySplit(_ row: Row) {
    for feeding in Feeding.all(row.bytes.count) {
      #expect(requests(feeding.pieces(row.bytes)) == row.notes, "\(feeding)")
    }
  }

  @Test func fieldsAreFoundByNameInAnyCase() throws {
    let head = try #require(
      try head(get("/p", "Host: a.org", "ACCEPT: x", "accept:\t y ", "Accept-Language: de"))?.get())
    #expect(head.method == "GET")
    #expect(head.text(of: "accept") == "x")
    #expect(head.texts(of: "accept") == ["x", "y"])
    #expect(head.count(of: "accept") == 2)
    #expect(head.text(of: "accept-languag") == nil)
    #expect(head.count(of: "accept-language") == 1)
    #expect(head.host == "a.org")
    #expect(head.minorVersion == 1)
  }

  @Test func tokensAreFoundInLists() throws {
    let head = try #require(
      try head(get("/", "Host: a", "Connection: keep-alive,\t UPGRADE ,", "Connection: x", "Via: upgrades, up grade"))?
        .get())
    #expect(head.hasToken("upgrade", in: "connection"))
    #expect(head.hasToken("keep-alive", in: "connection"))
    #expect(head.hasToken("x", in: "connection"))
    #expect(!head.hasToken("keep", in: "connection"))
    #expect(!head.hasToken("", in: "connection"))
    #expect(!head.hasToken("upgrade", in: "via"))
    #expect(!head.hasToken("upgrade", in: "upgrade"))
  }

  /// U+212A lower-cases to `k` in Unicode, and is no `k` in HTTP.
  @Test func theKelvinSignIsNoLetterOfAToken() throws {
    let head = try #require(try head(get("/", "Host: a", "Upgrade: websoc\u{212A}et"))?.get())
    #expect(!head.hasToken("websocket", in: "upgrade"))
  }

  /// A combining mark behind a comma makes no other character of it.
  @Test func aListIsCutAtCommaOctets() throws {
    let head = try #require(try head(get("/", "Host: a", "Connection: upgrade,\u{301}x"))?.get())
    #expect(head.hasToken("upgrade", in: "connection"))
  }

  @Test(arguments: [
    ("HTTP/1.1\r\nHost: a", true), ("HTTP/1.1\r\nHost: a\r\nConnection: close", false),
    ("HTTP/1.1\r\nHost: a\r\nConnection: x, CLOSE", false), ("HTTP/1.1\r\nHost: a\r\nConnection: closed", true),
    ("HTTP/1.0", false), ("HTTP/1.0\r\nConnection: keep-alive", false),
  ])
  func H_keepAlive(_ rest: String, _ expected: Bool) throws {
    let head = try #require(try head("GET / \(rest)\r\n\r\n")?.get())
    #expect(head.keepAlive == expected)
    #expect(head.minorVersion == (rest.hasPrefix("HTTP/1.0") ? 0 : 1))
  }

  @Test(arguments: [
    (post("Expect: 100-Continue", "Content-Length: 1"), true), (post("Expect: 200-ok"), false), (post(), false),
    ("POST / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n", false),
  ])
  func expectation(_ request: String, _ expected: Bool) throws {
    #expect(try #require(try head(request)?.get()).expectsContinue == expected)
  }

  @Test(arguments: [
    (post(), BodyFraming.none), (post("Content-Length: 7"), .length(7)), (post("Transfer-Encoding: chunked"), .chunked),
  ])
  func framing(_ request: String, _ expected: BodyFraming) throws {
    #expect(try #require(try head(request)?.get()).framing == expected)
  }

  /// RFC 9112 §3.2.2: the target's authority stands above `Host`.
  @Test(arguments: [
    (get("http://Example.org:80/x", "Host: example.org:80"), "Example.org:80"), (get("/x", "Host: a"), "a"),
    ("GET http://b/ HTTP/1.0\r\n\r\n", "b"), ("GET / HTTP/1.0\r\n\r\n", ""), (get("/", "Host:"), ""),
  ])
  func host(_ request: String, _ expected: String) throws {
    #expect(try #require(try head(request)?.get()).host == expected)
  }
}

@Suite("RFC 3986 §2.1: targets and their escapes")
struct TargetTests {
  @Test(
    arguments: [
      ("/", "/", nil), ("/a?b", "/a", "b"), ("/a?", "/a", ""), ("/a?b?c", "/a", "b?c"), ("//a", "//a", nil),
      ("http://h/a?b", "/a", "b"), ("http://h?b", "/", "b"), ("http://h?b/c", "/", "b/c"), ("/%2F", "/%2F", nil),
    ] as [(String, String, String?)])
  func targetIsCutAtItsFirstQuestionMark(_ target: String, _ path: String, _ query: String?) throws {
    let head = try #require(try head(get(target, "Host: h"))?.get())
    #expect(head.rawPath == path)
    #expect(head.rawQuery == query)
  }
}
