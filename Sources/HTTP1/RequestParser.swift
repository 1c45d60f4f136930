/// Reads requests of one connection from bytes as they come (RFC 9112).
///
/// Call `next` until it says `.needMore`; it takes what it used off the front of `input`. After `.head` come `.body`
/// pieces and `.end`, then the next request. After `.failed` the parser is dead. Bytes behind a head that asks for an
/// upgrade stay in `input` for whoever takes over (C020), as long as `next` is not called again.
package struct RequestParser: Sendable {
  package enum Event {
    case needMore
    case head(RequestHead)
    /// A piece of the body; valid until `input`'s memory changes.
    case body(UnsafeRawBufferPointer)
    /// The request is complete.
    case end
    case failed(HTTPFailure)
  }

  private enum State: Sendable {
    case head
    case body(left: Int)
    case chunked(ChunkReader)
    case end
    case dead
  }

  private let limits: HTTPLimits
  private var state = State.head
  /// The part of a head that came before; empty between requests.
  private var partial: [UInt8] = []
  private var scanner = HeadScanner()
  private var emptyLines = 0

  package init(limits: HTTPLimits = HTTPLimits()) { self.limits = limits }

  /// Nothing of a next request has come.
  package var isIdle: Bool {
    if case .head = state { return partial.isEmpty }
    return false
  }

  /// What is held of a head that is split over reads, in bytes; 0 after `.head` and `.failed`.
  package var heldBytes: Int { partial.capacity }

  package mutating func next(_ input: inout UnsafeMutableRawBufferPointer) -> Event {
    switch state {
    case .head: return readHead(&input)
    case .body(let left): return readBody(left, &input)
    case .chunked(let reader): return readChunked(reader, &input)
    case .end:
      state = .head
      return .end
    case .dead:
      input = UnsafeMutableRawBufferPointer(start: nil, count: 0)
      return .needMore
    }
  }

  // MARK: Head

  /// RFC 9112 §2.2 asks for one empty line before a request line to be skipped; more than these are no request.
  private static let emptyLineLimit = 4

  private mutating func readHead(_ input: inout UnsafeMutableRawBufferPointer) -> Event {
    while !input.isEmpty {
      let window = input.prefix(limits.headBytes - partial.count)
      switch scanner.scan(window) {
      case .failed(let failure): return fail(failure)
      case .emptyLine(let count):
        input = input.dropping(count)
        partial = []
        scanner = HeadScanner()
        emptyLines += 1
        if emptyLines > Self.emptyLineLimit { return fail(HTTPFailure(400, "empty lines instead of a request")) }
      case .end(let count):
        partial.append(contentsOf: window.prefix(count))
        input = input.dropping(count)
        return finishHead()
      case .needMore:
        partial.append(contentsOf: window)
        if window.count < input.count { return fail(tooLarge) }
        input = input.dropping(window.count)
      }
    }
    return .needMore
  }

  private mutating func finishHead() -> Event {
    let bytes = partial
    partial = []
    scanner = HeadScanner()
    emptyLines = 0
    do throws(HTTPFailure) {
      let head = try HeadReader.read(bytes, limits)
      switch head.framing {
      case .none, .length(0): state = .end
      case .length(let count):
        if count > limits.bodyBytes { throw HTTPFailure(413, "the body is above \(limits.bodyBytes) bytes") }
        state = .body(left: count)
      case .chunked: state = .chunked(ChunkReader(limitBytes: limits.bodyBytes))
      }
      return .head(head)
    } catch {
      return fail(error)
    }
  }

  /// A head that is too large because of its target is another answer than one with too many fields.
  private var tooLarge: HTTPFailure {
    let line = partial.prefix { $0 != 13 }
    let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
    let isTargetOpen = parts.count == 2 && line.count == partial.count
    if parts.count >= 2, isTargetOpen || parts[1].count > limits.targetBytes {
      return HTTPFailure(414, "the request target is above \(limits.targetBytes) bytes")
    }
    return HTTPFailure(431, "the request head is above \(limits.headBytes) bytes")
  }

  private mutating func fail(_ failure: HTTPFailure) -> Event {
    state = .dead
    partial = []
    return .failed(failure)
  }

  // MARK: Body

  private mutating func readBody(_ left: Int, _ input: inout UnsafeMutableRawBufferPointer) -> Event {
    if input.isEmpty { return .needMore }
    let taken = min(left, input.count)
    let piece = UnsafeRawBufferPointer(rebasing: input[..<taken])
    input = input.dropping(taken)
    state = taken == left ? .end : .body(left: left - taken)
    return .body(piece)
  }

  private mutating func readChunked(_ reader: ChunkReader, _ input: inout UnsafeMutableRawBufferPointer) -> Event {
    var reader = reader
    while !input.isEmpty {
      switch reader.next(&input) {
      case .needMore: break
      case .data(let piece):
        state = .chunked(reader)
        return .body(piece)
      case .end:
        state = .head
        return .end
      case .failed(let failure): return fail(failure)
      }
    }
    state = .chunked(reader)
    return .needMore
  }
}

extension UnsafeMutableRawBufferPointer {
  /// The buffer without its first bytes.
  func dropping(_ count: Int) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(rebasing: self[count...])
  }
}
