/// Finds where a head ends, over any number of reads, and looks at each octet once (RFC 9112 §2.1).
///
/// A CR or LF alone, or a NUL, fails at once: a peer that means it as the end of its head would wait for ever, and two
/// readers could see different lines (RFC 9112 §2.2).
struct HeadScanner: Sendable {
  enum Finding {
    case needMore
    /// The empty line is the first line: no head began yet. The count of octets up to its end.
    case emptyLine(Int)
    /// The count of octets up to and with the empty line.
    case end(Int)
    case failed(HTTPFailure)
  }

  private var isAfterReturn = false
  private var lineBytes = 0
  private var isFirstLine = true

  /// Goes on where the call before stopped; `bytes` are the ones that follow.
  mutating func scan(_ bytes: Slice<UnsafeMutableRawBufferPointer>) -> Finding {
    var count = 0
    for byte in bytes {
      count += 1
      if isAfterReturn {
        guard byte == 10 else { return .failed(HTTPFailure(400, "a CR without LF")) }
        if lineBytes == 0 { return isFirstLine ? .emptyLine(count) : .end(count) }
        isAfterReturn = false
        isFirstLine = false
        lineBytes = 0
        continue
      }
      switch byte {
      case 13: isAfterReturn = true
      case 10: return .failed(HTTPFailure(400, "a line ends without CR"))
      case 0: return .failed(HTTPFailure(400, "the head holds a NUL"))
      default: lineBytes += 1
      }
    }
    return .needMore
  }
}

/// Cuts a scanned head into lines.
struct HeadLines {
  private let bytes: [UInt8]
  private var at = 0

  /// - Parameter bytes: a head that a `HeadScanner` found whole: every CR is followed by an LF, and the last line is empty.
  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// A line without its CRLF.
  mutating func next() -> Range<Int> {
    let start = at
    while bytes[at] != 13 { at += 1 }
    defer { at += 2 }
    return start..<at
  }
}
