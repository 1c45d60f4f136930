import HTTP1
import Testing

@Suite("RFC 9112 §4: response heads")
struct ResponseTests {
  @Test func aHeadIsWrittenLineByLine() {
    var head = ResponseHead(status: 200)
    head.append("Content-Type", "application/json")
    head.append("Content-Length", "2")
    var bytes = Array("x".utf8)
    head.write(into: &bytes)
    #expect(
      String(decoding: bytes, as: UTF8.self)
        == "xHTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n")
  }

  @Test(arguments: [
    (101, "Switching Protocols"), (400, "Bad Request"), (408, "Request Timeout"), (413, "Content Too Large"),
    (414, "URI Too Long"), (426, "Upgrade Required"), (429, "Too Many Requests"),
    (431, "Request Header Fields Too Large"), (501, "Not Implemented"), (503, "Service Unavailable"),
    (505, "HTTP Version Not Supported"), (299, "Unknown"),
  ])
  func reasons(_ status: Int, _ reason: String) { #expect(ResponseHead.reason(status) == reason) }

  @Test(
    arguments: [
      (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
      (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (1_767_225_599, "Wed, 31 Dec 2025 23:59:59 GMT"),
      (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
    ] as [(Int64, String)])
  func aDateIsAnIMFFixdate(_ unixSeconds: Int64, _ text: String) {
    var field = DateField()
    #expect(field.text(at: unixSeconds - 1) != text)
    #expect(field.text(at: unixSeconds) == text)
    #expect(field.text(at: unixSeconds) == text)
  }

  @Test(arguments: ["a\r\nSet-Cookie: b", "a\nb", "a\rb", "a\0b"]) func aFieldOfTwoLinesIsOurMistake(_ value: String)
    async
  {
    switch value {
    case "a\nb":
      await #expect(processExitsWith: .failure) {
        var head = ResponseHead(status: 200)
        head.append("X", "a\nb")
      }
    case "a\rb":
      await #expect(processExitsWith: .failure) {
        var head = ResponseHead(status: 200)
        head.append("X", "a\rb")
      }
    case "a\0b":
      await #expect(processExitsWith: .failure) {
        var head = ResponseHead(status: 200)
        head.append("X", "a\0b")
      }
    default:
      await #expect(processExitsWith: .failure) {
        var head = ResponseHead(status: 200)
        head.append("X", "a\r\nSet-Cookie: b")
      }
    }
  }

  /// What a parser says of a response, and what it leaves.
  private func read(_ pieces: [[UInt8]]) -> (event: ResponseParser.Event, rest: [UInt8]) {
    var parser = ResponseParser()
    var event = ResponseParser.Event.needMore
    var rest: [UInt8] = []
    for var piece in pieces {
      piece.withUnsafeMutableBytes { memory in
        var input = memory
        if event == .needMore { event = parser.next(&input) }
        if case .head = event { rest += input }
      }
    }
    return (event, rest)
  }

  @Test func aResponseIsReadAtEverySplitAndItsRestStays() {
    let frames: [UInt8] = [0x81, 0x01, 0x61, 13, 10]
    let bytes =
      Array("HTTP/1.1 101 Switching Protocols\r\nUPGRADE: websocket\r\nX:\t é \r\nx: 2\r\nEmpty:\r\n\r\n".utf8) + frames
    let head = ResponseParser.Head(
      status: 101,
      fields: [
        .init(name: "upgrade", value: "websocket"), .init(name: "x", value: "é"), .init(name: "x", value: "2"),
        .init(name: "empty", value: ""),
      ])
    for feeding in Feeding.all(bytes.count) {
      let (event, rest) = read(feeding.pieces(bytes))
      #expect(event == .head(head), "\(feeding)")
      #expect(rest == frames, "\(feeding)")
    }
    #expect(head.values(of: "x") == ["é", "2"])
    #expect(head.values(of: "y") == [])
  }

  @Test(arguments: [
    ("HTTP/1.1 200\r\n\r\n", 200), ("HTTP/1.1 599 \r\n\r\n", 599), ("HTTP/1.1 404 Not Found here\r\n\r\n", 404),
  ])
  func statusLinesThatPass(_ text: String, _ status: Int) {
    let bytes = Array(text.utf8)
    for feeding in Feeding.all(bytes.count) {
      #expect(read(feeding.pieces(bytes)).event == .head(.init(status: status, fields: [])), "\(feeding)")
    }
  }

  static let refused = [
    "\r\n\r\n", "HTTP/1.0 101 x\r\n\r\n", "HTTP/2 101 x\r\n\r\n", "http/1.1 101 x\r\n\r\n", "HTTP/1.1 +10 x\r\n\r\n",
    "HTTP/1.1 -10 x\r\n\r\n", "HTTP/1.1 1011 x\r\n\r\n", "HTTP/1.1 099 x\r\n\r\n", "HTTP/1.1 600 x\r\n\r\n",
    "HTTP/1.1  101 x\r\n\r\n", "HTTP/1.1\r\n\r\n", "HTTP/1.1 101 \u{1}\r\n\r\n", "HTTP/1.1 101 x\nA: b\r\n\r\n",
    "HTTP/1.1 101 x\r\nA: b\nC: d\r\n\r\n", "HTTP/1.1 101 x\r\nA: b\rc\r\n\r\n", "HTTP/1.1 101 x\r\nA: \0\r\n\r\n",
    "HTTP/1.1 101 x\r\nA : b\r\n\r\n", "HTTP/1.1 101 x\r\n A: b\r\n\r\n", "HTTP/1.1 101 x\r\nA: b\r\n c\r\n\r\n",
    "HTTP/1.1 101 x\r\n: b\r\n\r\n", "HTTP/1.1 101 x\r\nA\r\n\r\n", "HTTP/1.1 101 x\r\nA: \u{7F}\r\n\r\n",
  ]

  @Test(arguments: refused) func malformedResponsesAreRefusedAtEverySplit(_ text: String) {
    let bytes = Array(text.utf8)
    for feeding in Feeding.all(bytes.count) {
      guard case .failed(let failure) = read(feeding.pieces(bytes)).event else {
        Issue.record("\(text.debugDescription) was accepted, \(feeding)")
        continue
      }
      #expect(failure.status == 400)
    }
  }

  @Test func aValueThatIsNotUTF8IsRefused() {
    let bytes = Array("HTTP/1.1 101 x\r\nA: ".utf8) + [0xC0, 0xAF] + Array("\r\n\r\n".utf8)
    for feeding in Feeding.all(bytes.count) {
      #expect(
        read(feeding.pieces(bytes)).event == .failed(HTTPFailure(400, "a header field is malformed")), "\(feeding)")
    }
  }

  @Test func aHeadOf16KiBPassesAndOneMoreOctetIsTooLarge() {
    func response(_ octets: Int) -> [UInt8] {
      let frame = "HTTP/1.1 101 x\r\nA: \r\n\r\n"
      let filler = String(repeating: "a", count: octets - frame.utf8.count)
      return Array("HTTP/1.1 101 x\r\nA: \(filler)\r\n\r\n".utf8)
    }
    for feeding in [Feeding.whole, .oneByOne, .split(16_383)] {
      guard case .head(let head) = read(feeding.pieces(response(16_384))).event else {
        Issue.record("a head within the limit was refused, \(feeding)")
        continue
      }
      #expect(head.status == 101)
      let refused = read(feeding.pieces(response(16_385))).event
      #expect(refused == .failed(HTTPFailure(431, "the response head is too large")), "\(feeding)")
    }
  }

  @Test func nothingIsReadAfterAFailure() {
    var parser = ResponseParser()
    var bytes = Array("HTTP/1.1\r\n\r\nHTTP/1.1 200 OK\r\n\r\n".utf8)
    bytes.withUnsafeMutableBytes { memory in
      var input = memory
      #expect(parser.next(&input) == .failed(HTTPFailure(400, "the status line is malformed")))
      #expect(parser.next(&input) == .needMore)
      #expect(input.isEmpty)
    }
  }
}
