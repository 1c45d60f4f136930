import WebSocket

/// Frames of a peer, cut into reads, into a `ConnectionMachine`.
///
/// Properties: without deflate the events are those of `FrameModel`; how the bytes are cut changes no event; a message keeps its limit and text is UTF-8; close codes may stand
/// on the wire; memory keeps its bound all the time and is gone after the end; nothing comes behind the end; what
/// `FrameEncoder` wrote is read as it was meant.
enum FrameTarget {
  static let rejections: Set<String> = [
    "1002 a reserved bit is set", "1002 the opcode is reserved", "1002 a control frame is fragmented",
    "1002 a control frame is compressed", "1002 a continuation has the compression bit",
    "1002 a client's frame is not masked", "1002 a server's frame is masked",
    "1002 a control frame is above N bytes", "1002 the length is not minimal",
    "1002 the length is not minimal or too large", "1002 a continuation without a message",
    "1002 a new message inside a fragmented one", "1008 too many fragments", "1009 the message is above N bytes",
    "1009 the message inflates to more than N bytes", "1007 the compressed data is damaged",
    "1007 the text is not UTF-8",
    "1002 a close frame of one byte", "1002 the close code may not be sent", "1007 the close reason is not UTF-8",
  ]

  struct Setup {
    var role: Role
    var limitBytes: Int
    var fragments: Int
    var deflate: DeflateParameters?

    /// What a fragmented message may take while it is gathered: RFC 1951's worst case of its limit.
    var mostHeldBytes: Int {
      let onWire = deflate == nil ? limitBytes : limitBytes + limitBytes / 8 + 64
      // A control frame may be gathered beside it, and an allocator rounds up.
      return onWire + 125 + 512
    }
  }

  enum Note: Hashable {
    case message(MessageKind, [UInt8])
    case ping([UInt8])
    case pong([UInt8])
    case close(UInt16?, [UInt8])
    case failed(UInt16, String)

    var withoutReason: Note {
      if case .failed(let code, _) = self { return .failed(code, "") }
      return self
    }
  }

  /// - Options: a byte of setup (bit 0 the client's role, 1 deflate, 2 context takeover, 3–4 the limit, 5–6 the fragments,
  ///   7 a round trip instead), a byte of cutting.
  static func run(_ options: inout FuzzOptions, _ report: inout FuzzReport) {
    let choice = Int(options.byte())
    let cutting = Cutting(options.byte())
    let takeover = choice & 4 != 0
    let setup = Setup(
      role: choice & 1 == 0 ? .server : .client, limitBytes: [64, 1_000, 16_384, 65_536][choice >> 3 & 3],
      fragments: [2, 16, 256, 16_384][choice >> 5 & 3],
      deflate: choice & 2 == 0
        ? nil : DeflateParameters(serverNoContextTakeover: !takeover, clientNoContextTakeover: !takeover))
    let bytes = options.rest
    if choice & 0x80 != 0 { return roundTrip(bytes, setup, cutting, &report) }
    let reference = feed(bytes, .whole, setup, &report)
    judge(reference, setup, &report)
    if setup.deflate == nil {
      let model = FrameModel.notes(bytes, setup)
      report.check(reference.map(\.withoutReason) == model, "\(reference) where the model has \(model)")
    }
    for other in cutting.all(for: bytes.count) where other != .whole {
      let notes = feed(bytes, other, setup, &report)
      report.check(notes == reference, "cut \(other): \(notes) instead of \(reference)")
    }
  }

  /// Feeds everything and checks memory at every step.
  private static func feed(
    _ bytes: [UInt8], _ cutting: Cutting, _ setup: Setup, _ report: inout FuzzReport
  ) -> [Note] {
    var machine = ConnectionMachine(
      role: setup.role, maximumMessageBytes: setup.limitBytes, maximumFragments: setup.fragments,
      deflate: setup.deflate)
    let inflater = setup.deflate == nil ? nil : Inflater()
    var notes: [Note] = []
    for range in cutting.pieces(of: bytes.count) {
      take(Array(bytes[range]), &machine, inflater, setup, &notes, &report)
    }
    switch notes.last {
    case .close, .failed:
      let count = notes.count
      take([UInt8](repeating: 0x81, count: 256), &machine, inflater, setup, &notes, &report)
      report.check(notes.count == count, "events behind the end: \(notes)")
      report.check(machine.heldBytes == 0, "\(machine.heldBytes) bytes are held behind the end")
    default: break
    }
    return notes
  }

  private static func take(
    _ piece: [UInt8], _ machine: inout ConnectionMachine, _ inflater: Inflater?, _ setup: Setup,
    _ notes: inout [Note], _ report: inout FuzzReport
  ) {
    var piece = piece
    piece.withUnsafeMutableBytes { memory in
      var input = memory
      while let note = next(&machine, &input, inflater) {
        notes.append(note)
        checkMemory(machine, inflater, setup, &report)
      }
      report.check(input.isEmpty, "\(input.count) bytes were left")
    }
    checkMemory(machine, inflater, setup, &report)
  }

  private static func next(
    _ machine: inout ConnectionMachine, _ input: inout UnsafeMutableRawBufferPointer, _ inflater: Inflater?
  ) -> Note? {
    switch machine.next(&input, inflater: inflater) {
    case .needMore: nil
    case .message(let kind, let payload): .message(kind, Array(payload))
    case .ping(let payload): .ping(Array(payload))
    case .pong(let payload): .pong(Array(payload))
    case .close(let code, let reason): .close(code?.value, Array(reason))
    case .failed(let failure): .failed(failure.code.value, failure.reason)
    }
  }

  private static func checkMemory(
    _ machine: borrowing ConnectionMachine, _ inflater: Inflater?, _ setup: Setup, _ report: inout FuzzReport
  ) {
    let held = machine.heldBytes
    report.check(held <= setup.mostHeldBytes, "\(held) bytes are held for a limit of \(setup.limitBytes)")
    if let inflater {
      let most = inflater.largestHeldBytes
      report.check(most <= max(4_096, setup.limitBytes + 1), "inflating took \(most) for \(setup.limitBytes)")
    }
  }

  private static func judge(_ notes: [Note], _ setup: Setup, _ report: inout FuzzReport) {
    for note in notes {
      switch note {
      case .message(let kind, let payload):
        report.accept()
        report.check(payload.count <= setup.limitBytes, "a message of \(payload.count) above \(setup.limitBytes)")
        report.check(kind == .binary || isUTF8(payload), "text that is not UTF-8 was accepted")
      case .ping(let payload), .pong(let payload):
        report.check(payload.count <= 125, "a control frame of \(payload.count) bytes")
      case .close(let code, let reason):
        report.check(code.map(isOnWire) ?? reason.isEmpty, "the close code \(code ?? 0) was accepted")
        report.check(isUTF8(reason) && reason.count <= 123, "a broken close reason was accepted")
      case .failed(let code, let reason):
        report.reject(code, reason)
      }
    }
  }

  /// RFC 6455 §7.4.1 and §7.4.2, written down a second time.
  static func isOnWire(_ code: UInt16) -> Bool {
    code >= 1000 && code <= 1014 && ![1004, 1005, 1006].contains(code) || code >= 3000 && code <= 4999
  }

  /// Our encoder as the peer: a message in fragments with a ping between, compressed where that was agreed.
  private static func roundTrip(
    _ message: [UInt8], _ setup: Setup, _ cutting: Cutting, _ report: inout FuzzReport
  ) {
    let text = isUTF8(message)
    let maskKey: UInt32? = setup.role == .server ? 0xA1B2_C3D4 : nil
    var payload = message
    if setup.deflate != nil {
      guard let deflater = try? Deflater(windowBits: 12) else {
        report.check(false, "zlib gives no state")
        return
      }
      payload = []
      message.withUnsafeBytes { deflater.compress($0, into: &payload) }
    }
    var pieces = cutting.pieces(of: payload.count)
    if pieces.isEmpty { pieces = [0..<0] }
    if pieces.count > setup.fragments { pieces = [0..<payload.count] }
    var frames: [UInt8] = []
    for (index, range) in pieces.enumerated() {
      if index > 0 {
        FrameEncoder.append(opcode: .ping, payload: .init(start: nil, count: 0), maskKey: maskKey, to: &frames)
      }
      Array(payload[range]).withUnsafeBytes {
        FrameEncoder.append(
          opcode: index > 0 ? .continuation : text ? .text : .binary, payload: $0, isFinal: index == pieces.count - 1,
          isCompressed: index == 0 && setup.deflate != nil, maskKey: maskKey, to: &frames)
      }
    }
    let notes = feed(frames, .whole, setup, &report).filter { $0 != .ping([]) }
    judge(notes, setup, &report)
    if message.count <= setup.limitBytes {
      report.check(notes == [.message(text ? .text : .binary, message)], "sent \(message), read \(notes)")
    } else {
      report.check(notes.count == 1 && report.rejections.count == 1, "a message above the limit gave \(notes)")
    }
  }
}
