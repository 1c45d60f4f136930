import HTTP1
import Testing

/// What a parser said, without the memory its events lie in. Neighbouring pieces of one body are joined, since where a
/// body is cut is nobody's promise.
enum Note: Hashable, CustomStringConvertible {
  case head(String)
  case body(String)
  case end
  case failed(Int)

  var description: String {
    switch self {
    case .head(let line): "head(\(line))"
    case .body(let text): "body(\(text.prefix(60)), \(text.utf8.count))"
    case .end: "end"
    case .failed(let status): "failed(\(status))"
    }
  }
}

/// Ways to cut the same octets into reads.
enum Feeding: CustomStringConvertible {
  case whole
  case oneByOne
  case split(Int)

  /// Whole, one octet at a time, and cut in two at every place.
  static func all(_ count: Int) -> [Feeding] { [.whole, .oneByOne] + (1..<max(count, 1)).map { .split($0) } }

  func pieces(_ bytes: [UInt8]) -> [[UInt8]] {
    switch self {
    case .whole: [bytes]
    case .oneByOne: bytes.map { [$0] }
    case .split(let at): [Array(bytes[..<at]), Array(bytes[at...])]
    }
  }

  var description: String {
    switch self {
    case .whole: "whole"
    case .oneByOne: "one octet at a time"
    case .split(let at): "cut at \(at)"
    }
  }
}

/// Reads everything that the pieces hold.
func requests(_ pieces: [[UInt8]], limits: HTTPLimits = HTTPLimits()) -> [Note] {
  var parser = RequestParser(limits: limits)
  var notes: [Note] = []
  var body: [UInt8] = []
  func closeBody() {
    if !body.isEmpty { notes.append(.body(String(decoding: body, as: UTF8.self))) }
    body = []
  }
  for var piece in pieces {
    piece.withUnsafeMutableBytes { memory in
      var input = memory
      while true {
        switch parser.next(&input) {
        case .needMore: return
        case .head(let head): notes.append(.head("\(head.method) \(head.rawPath)"))
        case .body(let piece): body += piece
        case .end:
          closeBody()
          notes.append(.end)
        case .failed(let failure):
          closeBody()
          notes.append(.failed(failure.status))
        }
      }
    }
  }
  closeBody()
  return notes
}

/// The first head, or the failure instead of it.
func head(_ text: String, limits: HTTPLimits = HTTPLimits()) -> Result<RequestHead, HTTPFailure>? {
  var parser = RequestParser(limits: limits)
  var bytes = Array(text.utf8)
  return bytes.withUnsafeMutableBytes { memory in
    var input = memory
    switch parser.next(&input) {
    case .head(let head): return .success(head)
    case .failed(let failure): return .failure(failure)
    case .needMore, .body, .end: return nil
    }
  }
}

/// A GET request with these lines below its request line; each is given without CRLF.
func get(_ target: String, _ lines: String...) -> String {
  "GET \(target) HTTP/1.1\r\n" + lines.map { $0 + "\r\n" }.joined() + "\r\n"
}

/// A POST to `/x` with these lines, and what follows its head.
func post(_ lines: String..., body: String = "") -> String {
  "POST /x HTTP/1.1\r\nHost: a\r\n" + lines.map { $0 + "\r\n" }.joined() + "\r\n" + body
}

/// One row of a table: a name to see in a report, what is sent, what must come of it.
struct Row: Sendable, CustomTestStringConvertible {
  var name: String
  var bytes: [UInt8]
  var notes: [Note]

  init(_ name: String, _ text: String, _ notes: [Note]) {
    self.name = name
    bytes = Array(text.utf8)
    self.notes = notes
  }

  init(_ name: String, bytes: [UInt8], _ notes: [Note]) {
    self.name = name
    self.bytes = bytes
    self.notes = notes
  }

  var testDescription: String { name }
}
