import HTTP1

/// Requests of one connection, cut into reads, into a `RequestParser`.
///
/// Properties: how the bytes are cut changes no event; an accepted head keeps every limit and names one host and one
/// framing, which is judged on its bytes by other code; a body has the announced length; memory keeps its bound and is
/// gone after a failure; nothing comes behind it.
enum HeadTarget {
  static let rejections: Set<String> = [
    "400 a CR without LF", "400 a line ends without CR", "400 the head holds a NUL",
    "400 empty lines instead of a request", "400 the request line is malformed", "501 the method is not known",
    "414 the request target is above N bytes", "400 the request target holds characters that must be escaped",
    "505 only HTTP/1.1 and HTTP/1.0 are spoken here", "431 more than N header fields",
    "431 the request head is above N bytes", "400 a header field is folded over lines",
    "400 a header field has no name", "400 a header field's name is malformed",
    "400 a header field holds a control character", "405 CONNECT is not served",
    "400 the request target holds a fragment", "400 the request target is malformed",
    "400 the Host field is missing", "400 the Host field stands more than once", "400 the Host field is malformed",
    "400 the Host field and the request target name different hosts", "400 Content-Length beside Transfer-Encoding",
    "400 Transfer-Encoding in HTTP/1.0", "400 Content-Length stands more than once",
    "400 Content-Length is not a number", "413 the body is too large", "413 the body is above N bytes",
    "400 the transfer coding is not chunked alone", "501 only the chunked transfer coding is known",
    "400 the chunked body is malformed", "431 chunk extensions or trailers are too long",
  ]

  struct Head: Hashable {
    var method: String
    var path: String
    var query: String?
    var host: String
    var keepAlive: Bool
    var framing: BodyFraming
    var expectsContinue: Bool
    var minorVersion: Int
  }

  enum Note: Hashable {
    case head(Head)
    case body([UInt8])
    case end
    case failed(Int, String)
  }

  /// - Options: a byte of limits (0 the default ones, any other small ones), a byte of cutting.
  static func run(_ options: inout FuzzOptions, _ report: inout FuzzReport) {
    let limits =
      options.byte() == 0
      ? HTTPLimits() : HTTPLimits(headBytes: 512, targetBytes: 32, fieldCount: 6, bodyBytes: 64)
    let cutting = Cutting(options.byte())
    let bytes = options.rest
    let reference = feed(bytes, .whole, limits, &report)
    for case .failed(let status, let reason) in reference { report.reject(status, reason) }
    for other in cutting.all(for: bytes.count) where other != .whole {
      let notes = feed(bytes, other, limits, &report)
      report.check(notes == reference, "cut \(other): \(notes) instead of \(reference)")
    }
    judgeBodies(reference, limits, &report)
    judgeHeads(bytes, limits, &report)
  }

  private static func feed(
    _ bytes: [UInt8], _ cutting: Cutting, _ limits: HTTPLimits, _ report: inout FuzzReport
  ) -> [Note] {
    var parser = RequestParser(limits: limits)
    var notes: [Note] = []
    for range in cutting.pieces(of: bytes.count) { take(Array(bytes[range]), &parser, limits, &notes, &report) }
    if case .failed = notes.last {
      let count = notes.count
      take([UInt8](repeating: 0x41, count: 1_024), &parser, limits, &notes, &report)
      report.check(notes.count == count, "events behind the failure: \(notes)")
      report.check(parser.heldBytes == 0, "\(parser.heldBytes) bytes are held behind the failure")
    }
    return notes
  }

  private static func take(
    _ piece: [UInt8], _ parser: inout RequestParser, _ limits: HTTPLimits, _ notes: inout [Note],
    _ report: inout FuzzReport
  ) {
    var piece = piece
    piece.withUnsafeMutableBytes { memory in
      var input = memory
      while let note = next(&parser, &input) {
        // Where a body is cut is nobody's promise.
        if case .body(let more) = note, case .body(let before) = notes.last {
          notes[notes.count - 1] = .body(before + more)
        } else {
          notes.append(note)
        }
      }
      report.check(input.isEmpty, "\(input.count) bytes were left")
    }
    // A block that is appended to doubles.
    report.check(parser.heldBytes <= 2 * limits.headBytes + 64, "\(parser.heldBytes) bytes are held")
  }

  private static func next(_ parser: inout RequestParser, _ input: inout UnsafeMutableRawBufferPointer) -> Note? {
    switch parser.next(&input) {
    case .needMore: nil
    case .head(let head):
      .head(
        Head(
          method: head.method, path: head.rawPath, query: head.rawQuery, host: head.host, keepAlive: head.keepAlive,
          framing: head.framing, expectsContinue: head.expectsContinue, minorVersion: head.minorVersion))
    case .body(let piece): .body(Array(piece))
    case .end: .end
    case .failed(let failure): .failed(failure.status, failure.reason)
    }
  }

  /// Every request is a head, its body and an end, in this order; a body is as long as was said.
  private static func judgeBodies(_ notes: [Note], _ limits: HTTPLimits, _ report: inout FuzzReport) {
    var open: Head?
    var count = 0
    for note in notes {
      switch note {
      case .head(let head):
        report.accept()
        report.check(open == nil, "a head inside a request")
        report.check(head.path.hasPrefix("/") || head.path == "*", "the path \(head.path)")
        (open, count) = (head, 0)
      case .body(let bytes):
        report.check(open != nil && open?.framing != BodyFraming.none, "a body that was not announced")
        count += bytes.count
        report.check(count <= limits.bodyBytes, "a body of \(count) bytes")
      case .end:
        report.check(open != nil, "an end without a head")
        if case .length(let wanted) = open?.framing { report.check(count == wanted, "\(count) bytes for \(wanted)") }
        open = nil
      case .failed: return
      }
    }
  }

  /// Feeds the bytes once more to see which of them each head took, and reads those by other means.
  private static func judgeHeads(_ bytes: [UInt8], _ limits: HTTPLimits, _ report: inout FuzzReport) {
    var parser = RequestParser(limits: limits)
    var memory = bytes
    memory.withUnsafeMutableBytes { whole in
      var input = whole
      while true {
        let start = whole.count - input.count
        switch parser.next(&input) {
        case .needMore, .failed: return
        case .body, .end: continue
        case .head(let head):
          let taken = Array(bytes[start..<whole.count - input.count])
          HeadReading(taken).judge(head, limits, &report)
        }
      }
    }
  }
}

/// A head as somebody else would read it: cut at every CRLF, names before the first colon.
private struct HeadReading {
  private let lines: [[UInt8]]
  private let count: Int

  init(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while rest.starts(with: [13, 10]) { rest = rest.dropFirst(2) }
    count = rest.count
    var lines: [[UInt8]] = [[]]
    var index = rest.startIndex
    while index < rest.endIndex {
      if rest[index] == 13, index + 1 < rest.endIndex, rest[index + 1] == 10 {
        lines.append([])
        index += 2
      } else {
        lines[lines.count - 1].append(rest[index])
        index += 1
      }
    }
    self.lines = lines
  }

  func judge(_ head: RequestHead, _ limits: HTTPLimits, _ report: inout FuzzReport) {
    report.check(count <= limits.headBytes, "a head of \(count) bytes")
    report.check(lines.count >= 3 && lines.suffix(2).allSatisfy(\.isEmpty), "a head that does not end")
    report.check(!lines.joined().contains { $0 == 0 || $0 == 10 || $0 == 13 }, "a CR, LF or NUL in a line")
    let fields = lines.dropFirst().dropLast(2)
    report.check(fields.count <= limits.fieldCount, "\(fields.count) fields")
    let words = lines[0].split(separator: 32, omittingEmptySubsequences: false)
    report.check(words.count == 3 && words[1].count <= limits.targetBytes, "a broken request line")
    var counts: [String: Int] = [:]
    for field in fields {
      let name = String(decoding: field.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self).lowercased()
      report.check(name.utf8.count < field.count && !name.contains { $0 == " " || $0 == "\t" }, "a field \(name)")
      counts[name, default: 0] += 1
    }
    let hosts = counts["host"] ?? 0
    report.check(hosts == 1 || hosts == 0 && head.minorVersion == 0, "\(hosts) hosts")
    // RFC 9112 §6.3: whoever believed one and not the other would see other requests behind this one.
    let codings = counts["transfer-encoding"] ?? 0
    let lengths = counts["content-length"] ?? 0
    switch head.framing {
    case .none: report.check(codings == 0 && lengths == 0, "a body is announced and not read")
    case .length: report.check(codings == 0 && lengths == 1, "\(lengths) lengths, \(codings) codings")
    case .chunked: report.check(codings == 1 && lengths == 0, "\(lengths) lengths, \(codings) codings")
    }
  }
}
