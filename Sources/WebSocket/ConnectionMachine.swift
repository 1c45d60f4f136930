/// What one side of a connection reads, and how far its closing has come (RFC 6455 §5–§7, RFC 7692 §6).
///
/// A pull parser: call `next` until it says `.needMore`, by when it has taken all input. A message that lies whole in
/// one unfragmented, uncompressed frame is handed over where it lies, unmasked in place; everything else is assembled in
/// memory that is given back with the message. Nothing is buffered beyond the limits, and a limit is judged when a
/// length is announced, not when the bytes have come.
package struct ConnectionMachine: ~Copyable {
  package enum Event {
    /// All input was taken.
    case needMore
    /// Valid until the next call. Text is checked UTF-8.
    case message(kind: MessageKind, payload: UnsafeRawBufferPointer)
    case ping(UnsafeRawBufferPointer)
    case pong(UnsafeRawBufferPointer)
    /// The peer's close frame, once; what follows it is ignored. No code means an empty payload.
    case close(code: CloseCode?, reason: UnsafeRawBufferPointer)
    /// The connection is to be failed with this code (§7.1.7); the machine takes no more.
    case failed(ProtocolFailure)
  }

  /// A frame whose payload is being read.
  private struct Frame {
    var header: FrameHeader
    var received: Int
  }

  /// A message whose final frame has not ended.
  private struct Message {
    var kind: MessageKind
    var isCompressed: Bool
    var fragments: Int
    var validator: UTF8Validator
  }

  private let role: Role
  private let maximumMessageBytes: Int
  private let maximumFragments: Int
  private let deflate: DeflateParameters?
  private var partialHeader = InlineArray<14, UInt8>(repeating: 0)
  private var partialHeaderCount = 0
  private var frame: Frame?
  private var message: Message?
  /// The message read so far: plain octets, or still deflated.
  private var assembly: [UInt8] = []
  /// A control frame's payload while it is split over reads.
  private var control: [UInt8] = []
  private var handedOver = false
  private var isDead = false
  /// The peer's close frame was read.
  package private(set) var closeReceived = false
  /// Ours was sent.
  package private(set) var closeSent = false

  /// - Parameters:
  ///   - maximumMessageBytes: of a message after inflating; one more is 1009.
  ///   - maximumFragments: frames of one message; one more is 1008 (C025).
  package init(
    role: Role, maximumMessageBytes: Int, maximumFragments: Int = 16_384, deflate: DeflateParameters? = nil
  ) {
    precondition((0...1 << 31).contains(maximumMessageBytes), "a message's limit is at most 2 GiB")
    self.role = role
    self.maximumMessageBytes = maximumMessageBytes
    self.maximumFragments = maximumFragments
    self.deflate = deflate
  }

  /// What is held of messages and control frames that are split over reads or frames, in bytes.
  package var heldBytes: Int { assembly.capacity + control.capacity }

  /// Octets held of a message that has not ended.
  package var assembledBytes: Int { assembly.count }

  /// Records that our close frame is on its way.
  /// - Returns: false when one was sent before; there is only one.
  @discardableResult
  package mutating func beginClose() -> Bool {
    defer { closeSent = true }
    return !closeSent
  }

  /// - Parameter inflater: required when deflate was agreed. Shared among connections when the peer keeps no context.
  package mutating func next(_ input: inout UnsafeMutableRawBufferPointer, inflater: Inflater?) -> Event {
    if handedOver { release(inflater) }
    if isDead || closeReceived {
      input = UnsafeMutableRawBufferPointer(start: nil, count: 0)
      return .needMore
    }
    while true {
      if frame == nil {
        switch readHeader(&input) {
        case .needMore: return .needMore
        case .failed(let failure): return fail(failure)
        case .header(let header, _):
          if let failure = begin(header) { return fail(failure) }
        }
      }
      guard let current = frame else { preconditionFailure("a header was read") }
      if current.header.opcode.isControl {
        if let event = readControl(current, &input) { return event }
      } else if let event = readData(current, &input, inflater) {
        return event
      }
      if frame != nil { return .needMore }
    }
  }

  // MARK: Headers

  private mutating func readHeader(_ input: inout UnsafeMutableRawBufferPointer) -> FrameHeader.Reading {
    if partialHeaderCount == 0 {
      let reading = FrameHeader.read(UnsafeRawBufferPointer(input), role: role, deflates: deflate != nil)
      if case .header(_, let size) = reading { input = input.without(first: size) }
      guard case .needMore = reading else { return reading }
    }
    while !input.isEmpty {
      partialHeader[partialHeaderCount] = input[0]
      partialHeaderCount += 1
      input = input.without(first: 1)
      let count = partialHeaderCount
      let reading = withUnsafeBytes(of: &partialHeader) { bytes in
        FrameHeader.read(UnsafeRawBufferPointer(rebasing: bytes[..<count]), role: role, deflates: deflate != nil)
      }
      guard case .needMore = reading else {
        partialHeaderCount = 0
        return reading
      }
    }
    return .needMore
  }

  /// Judges a header in its place among the others (§5.4) and opens its frame.
  private mutating func begin(_ header: FrameHeader) -> ProtocolFailure? {
    frame = Frame(header: header, received: 0)
    switch header.opcode {
    case .ping, .pong, .close: return nil
    case .continuation:
      guard message != nil else {
        return ProtocolFailure(.unexpectedContinuation, .protocolError, "a continuation without a message")
      }
    case .text, .binary:
      guard message == nil else {
        return ProtocolFailure(.interruptedMessage, .protocolError, "a new message inside a fragmented one")
      }
      message = Message(
        kind: header.opcode == .text ? .text : .binary, isCompressed: header.isCompressed, fragments: 0,
        validator: UTF8Validator())
    }
    message?.fragments += 1
    if let fragments = message?.fragments, fragments > maximumFragments {
      return ProtocolFailure(.tooManyFragments, .policyViolation, "too many fragments")
    }
    if header.payloadBytes > limitBytes - assembly.count {
      return ProtocolFailure(.messageTooBig, .messageTooBig, "the message is above \(maximumMessageBytes) bytes")
    }
    return nil
  }

  /// What a message may take on the wire. Deflate enlarges what it cannot compress: by an eighth with its fixed codes,
  /// the worst that a deflater makes of a whole block (RFC 1951 §3.2.6).
  private var limitBytes: Int {
    message?.isCompressed == true ? maximumMessageBytes + maximumMessageBytes / 8 + 64 : maximumMessageBytes
  }

  // MARK: Control frames

  private mutating func readControl(_ current: Frame, _ input: inout UnsafeMutableRawBufferPointer) -> Event? {
    let piece = takePayload(current, &input)
    let header = current.header
    let isWhole = current.received + piece.count == header.payloadBytes
    if isWhole, control.isEmpty {
      frame = nil
      return controlEvent(header.opcode, UnsafeRawBufferPointer(piece))
    }
    control.append(contentsOf: piece)
    guard isWhole else {
      frame?.received += piece.count
      return nil
    }
    frame = nil
    handedOver = true
    // `control` holds the memory until the next call.
    return controlEvent(header.opcode, control.withUnsafeBytes { $0 })
  }

  private mutating func controlEvent(_ opcode: Opcode, _ payload: UnsafeRawBufferPointer) -> Event {
    switch opcode {
    case .ping: return .ping(payload)
    case .pong: return .pong(payload)
    case .close: return closeEvent(payload)
    case .continuation, .text, .binary: preconditionFailure("a data frame is no control frame")
    }
  }

  /// §5.5.1, §7.4: empty, or a valid code and a reason in UTF-8.
  private mutating func closeEvent(_ payload: UnsafeRawBufferPointer) -> Event {
    guard !payload.isEmpty else {
      endReading()
      return .close(code: nil, reason: payload)
    }
    guard payload.count >= 2 else {
      return fail(ProtocolFailure(.invalidClose, .protocolError, "a close frame of one byte"))
    }
    let code = CloseCode(UInt16(payload[0]) << 8 | UInt16(payload[1]))
    guard code.isValidOnWire else {
      return fail(ProtocolFailure(.invalidClose, .protocolError, "the close code may not be sent"))
    }
    let reason = UnsafeRawBufferPointer(rebasing: payload[2...])
    var validator = UTF8Validator()
    guard validator.accept(reason), validator.isComplete else {
      return fail(ProtocolFailure(.invalidClose, .invalidPayload, "the close reason is not UTF-8"))
    }
    endReading()
    return .close(code: code, reason: reason)
  }

  /// A message that the close frame cut off is not kept until the connection has ended (C025).
  private mutating func endReading() {
    closeReceived = true
    message = nil
    assembly = []
  }

  // MARK: Data frames

  private mutating func readData(
    _ current: Frame, _ input: inout UnsafeMutableRawBufferPointer, _ inflater: Inflater?
  ) -> Event? {
    guard let open = message else { preconditionFailure("a data frame belongs to a message") }
    let header = current.header
    let piece = takePayload(current, &input)
    if !open.isCompressed, open.kind == .text {
      // §8.1: fail as soon as the octets cannot be text, before the message has ended.
      guard message?.validator.accept(UnsafeRawBufferPointer(piece)) == true else { return fail(Self.invalidText) }
    }
    let isFrameWhole = current.received + piece.count == header.payloadBytes
    if isFrameWhole, header.isFinal, assembly.isEmpty {
      return finish(UnsafeRawBufferPointer(piece), inflater)
    }
    assemble(UnsafeRawBufferPointer(piece), announcedBytes: header.payloadBytes)
    guard isFrameWhole else {
      frame?.received += piece.count
      return nil
    }
    guard header.isFinal else {
      frame = nil
      return nil
    }
    handedOver = true
    // `assembly` holds the memory until the next call.
    return finish(assembly.withUnsafeBytes { $0 }, inflater)
  }

  /// Memory grows with what has come, not with what is announced: in one step up to 64 KiB, then doubling up to the limit.
  private mutating func assemble(_ piece: UnsafeRawBufferPointer, announcedBytes: Int) {
    let needed = assembly.count + piece.count
    if needed > assembly.capacity {
      let wished = max(assembly.capacity * 2, min(announcedBytes, 65_536))
      assembly.reserveCapacity(max(needed, min(wished, limitBytes)))
    }
    assembly.append(contentsOf: piece)
  }

  private static let invalidText = ProtocolFailure(.invalidText, .invalidPayload, "the text is not UTF-8")

  /// The message's last octet is there.
  private mutating func finish(_ payload: UnsafeRawBufferPointer, _ inflater: Inflater?) -> Event {
    guard let open = message else { preconditionFailure("a message is finished once") }
    frame = nil
    message = nil
    guard open.isCompressed else {
      if open.kind == .text, !open.validator.isComplete { return fail(Self.invalidText) }
      return .message(kind: open.kind, payload: payload)
    }
    guard let inflater, let deflate else {
      preconditionFailure("a machine that agreed on deflate is given an inflater")
    }
    let keepsContext = role == .server ? !deflate.clientNoContextTakeover : !deflate.serverNoContextTakeover
    switch inflater.inflate(payload, limitBytes: maximumMessageBytes, keepsContext: keepsContext) {
    case .failure(let failure): return fail(failure)
    case .success(let inflated):
      handedOver = true
      var validator = UTF8Validator()
      if open.kind == .text, !(validator.accept(inflated) && validator.isComplete) { return fail(Self.invalidText) }
      return .message(kind: open.kind, payload: inflated)
    }
  }

  /// Takes and unmasks what the input holds of the frame's payload.
  private func takePayload(
    _ current: Frame, _ input: inout UnsafeMutableRawBufferPointer
  ) -> UnsafeMutableRawBufferPointer {
    let count = min(current.header.payloadBytes - current.received, input.count)
    let piece = UnsafeMutableRawBufferPointer(rebasing: input[..<count])
    input = input.without(first: count)
    if let key = current.header.maskKey { Masking.apply(key, to: piece, offset: current.received) }
    return piece
  }

  // MARK: Ends

  /// Gives back the memory of what the event before lay in.
  private mutating func release(_ inflater: Inflater?) {
    handedOver = false
    inflater?.releaseOutput()
    if message == nil { assembly = [] }
    if frame == nil { control = [] }
  }

  private mutating func fail(_ failure: ProtocolFailure) -> Event {
    isDead = true
    frame = nil
    message = nil
    // The connection may live on until its close frame has left: what was read is not kept for that long (C025).
    assembly = []
    control = []
    return .failed(failure)
  }
}

extension UnsafeMutableRawBufferPointer {
  func without(first count: Int) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(rebasing: self[count...])
  }
}
