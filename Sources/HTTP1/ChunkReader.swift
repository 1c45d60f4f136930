/// Chunked transfer coding (RFC 9112 §7.1), byte by byte over its framing and piece by piece over its data.
/// Extensions and trailer fields are read within limits and ignored.
struct ChunkReader: Sendable {
  enum Event {
    case needMore
    case data(UnsafeRawBufferPointer)
    case end
    case failed(HTTPFailure)
  }

  private enum State: Sendable {
    case size(digits: Int)
    case sizeExtension
    case sizeLineFeed
    case data
    case dataReturn
    case dataLineFeed
    case trailerStart
    case trailerName
    case trailerValue
    case trailerLineFeed
    case lastLineFeed
  }

  /// Bytes of extensions and trailers together that are tolerated.
  static let overheadLimit = 4096
  /// Digits of one size, leading zeros included: as many as 64 bits need.
  static let sizeDigitsLimit = 16

  private let limitBytes: Int
  private var state = State.size(digits: 0)
  /// What is left of the chunk, or its size while that is read.
  private var size = 0
  /// What the body may still grow by.
  private var left: Int
  private var overhead = 0

  /// - Parameter limitBytes: of the whole body; a chunk that would pass it is 413 as soon as its size is read.
  init(limitBytes: Int) {
    self.limitBytes = limitBytes
    left = min(limitBytes, 1 << 53)
  }

  mutating func next(_ input: inout UnsafeMutableRawBufferPointer) -> Event {
    while !input.isEmpty {
      if case .data = state {
        let taken = min(size, input.count)
        let piece = UnsafeRawBufferPointer(rebasing: input[..<taken])
        input = input.dropping(taken)
        size -= taken
        if size == 0 { state = .dataReturn }
        return .data(piece)
      }
      let byte = input[0]
      input = input.dropping(1)
      if let event = step(byte) { return event }
    }
    return .needMore
  }

  private mutating func step(_ byte: UInt8) -> Event? {
    switch state {
    case .size(let digits): return readSize(byte, digits)
    case .sizeExtension:
      guard byte == 13 else { return tolerate(byte, isFieldCharacter(byte)) }
      state = .sizeLineFeed
    case .sizeLineFeed:
      guard byte == 10 else { return broken }
      left -= size
      state = size == 0 ? .trailerStart : .data
    case .data: preconditionFailure("data is read in pieces")
    case .dataReturn:
      guard byte == 13 else { return broken }
      state = .dataLineFeed
    case .dataLineFeed:
      guard byte == 10 else { return broken }
      state = .size(digits: 0)
    case .trailerStart:
      if byte == 13 {
        state = .lastLineFeed
        return nil
      }
      state = .trailerName
      return tolerate(byte, isTokenCharacter(byte))
    case .trailerName:
      if byte == UInt8(ascii: ":") {
        state = .trailerValue
        return tolerate(byte, true)
      }
      return tolerate(byte, isTokenCharacter(byte))
    case .trailerValue:
      guard byte == 13 else { return tolerate(byte, isFieldCharacter(byte)) }
      state = .trailerLineFeed
    case .trailerLineFeed:
      guard byte == 10 else { return broken }
      state = .trailerStart
    case .lastLineFeed: return byte == 10 ? .end : broken
    }
    return nil
  }

  private mutating func readSize(_ byte: UInt8, _ digits: Int) -> Event? {
    if let digit = hexDigit(byte) {
      guard digits < Self.sizeDigitsLimit else { return broken }
      // `size` is at most `left` here, and `left` at most 2^53, so that four more bits always fit.
      size = size << 4 | Int(digit)
      guard size <= left else { return .failed(HTTPFailure(413, "the body is above \(limitBytes) bytes")) }
      state = .size(digits: digits + 1)
      return nil
    }
    guard digits > 0 else { return broken }
    switch byte {
    case 13: state = .sizeLineFeed
    case UInt8(ascii: ";"):
      state = .sizeExtension
      return tolerate(byte, true)
    default: return broken
    }
    return nil
  }

  private var broken: Event { .failed(HTTPFailure(400, "the chunked body is malformed")) }

  private mutating func tolerate(_ byte: UInt8, _ isAllowed: Bool) -> Event? {
    guard isAllowed else { return broken }
    overhead += 1
    if overhead > Self.overheadLimit { return .failed(HTTPFailure(431, "chunk extensions or trailers are too long")) }
    return nil
  }
}
