import HTTP1
import Testing

@Suite("RFC 9112 §9.3 and H: one request after another")
struct PipelineTests {
  static let stream =
    get("/1", "Host: a") + post("Content-Length: 3", body: "abc") + "\r\n" + get("/2", "Host: a")
    + post("Transfer-Encoding: chunked", body: "2\r\nde\r\n0\r\nT: x\r\n\r\n") + get("/3", "Host: a")

  static let notes: [Note] = [
    .head("GET /1"), .end, .head("POST /x"), .body("abc"), .end, .head("GET /2"), .end, .head("POST /x"), .body("de"),
    .end,
    .head("GET /3"), .end,
  ]

  @Test func H_pipelinedRequestsAreReadAtEverySplit() {
    let bytes = Array(Self.stream.utf8)
    for feeding in Feeding.all(bytes.count) { #expect(requests(feeding.pieces(bytes)) == Self.notes, "\(feeding)") }
  }

  /// A body of a length is not looked into: what looks like a request in it is none.
  @Test func H_aRequestInsideABodyIsNoRequest() {
    let inner = get("/admin", "Host: a")
    let bytes = Array((post("Content-Length: \(inner.utf8.count)", body: inner) + get("/2", "Host: a")).utf8)
    for feeding in Feeding.all(bytes.count) {
      #expect(
        requests(feeding.pieces(bytes)) == [.head("POST /x"), .body(inner), .end, .head("GET /2"), .end], "\(feeding)")
    }
  }

  /// The limit holds for each head alone.
  @Test func H_theHeadLimitBeginsAnewWithEachRequest() {
    let one = get("/", "Host: a", "X: " + String(repeating: "x", count: 9_000))
    let bytes = Array((one + one + one).utf8)
    let expected: [Note] = [.head("GET /"), .end, .head("GET /"), .end, .head("GET /"), .end]
    for feeding in [Feeding.whole, .oneByOne, .split(9_000), .split(20_000)] {
      #expect(requests(feeding.pieces(bytes)) == expected, "\(feeding)")
    }
  }

  @Test func C020_octetsBehindAnUpgradeHeadStay() throws {
    let request = get("/v1/live", "Host: a", "Connection: Upgrade", "Upgrade: websocket")
    let frames: [UInt8] = [0x81, 0x82, 1, 2, 3, 4, 0x69, 0x6B, 0x89, 0x80, 13, 10, 13]
    let bytes = Array(request.utf8) + frames
    for feeding in Feeding.all(request.utf8.count + 1) {
      var parser = RequestParser()
      var heads = 0
      var rest: [UInt8] = []
      for var piece in feeding.pieces(bytes) {
        piece.withUnsafeMutableBytes { memory in
          var input = memory
          if heads == 0, case .head = parser.next(&input) { heads += 1 }
          if heads == 1 { rest += input }
        }
      }
      #expect(heads == 1, "\(feeding)")
      #expect(rest == frames, "\(feeding)")
    }
  }

  @Test func idleMeansThatNothingOfARequestHasCome() {
    var parser = RequestParser()
    func feed(_ text: String) {
      var bytes = Array(text.utf8)
      bytes.withUnsafeMutableBytes { memory in
        var input = memory
        while true { if case .needMore = parser.next(&input) { return } }
      }
    }
    #expect(parser.isIdle)
    feed("G")
    #expect(!parser.isIdle)
    feed("ET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(parser.isIdle)
    feed(post("Content-Length: 2", body: "a"))
    #expect(!parser.isIdle)
    feed("b\r\n")
    #expect(parser.isIdle)
    feed(post("Transfer-Encoding: chunked", body: "1\r\n"))
    #expect(!parser.isIdle)
    feed("x\r\n0\r\n\r\n")
    #expect(parser.isIdle)
    feed("\n")
    #expect(!parser.isIdle)
  }
}
