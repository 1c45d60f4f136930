import WebSocket

/// Compressed messages into an `Inflater`, and `Deflater`'s into the same.
///
/// Properties: output keeps the limit, exactly (C001), and so does memory (C006); a message is read alike by a fresh
/// state and by one that failed before; what the deflater made inflates to what it was given, with every window and with
/// and without a context (C007, C008).
enum InflateTarget {
  static let rejections: Set<String> = [
    "1009 the message inflates to more than N bytes", "1007 the compressed data is damaged",
  ]

  private enum Outcome: Equatable {
    case message([UInt8])
    case failed(UInt16, String)
  }

  /// - Options: a byte of setup (bit 0 through the deflater, 1 context takeover, 2–3 the limit, 4–6 the window's bits less
  ///   8), a byte of cutting into messages.
  static func run(_ options: inout FuzzOptions, _ report: inout FuzzReport) {
    let choice = Int(options.byte())
    let cutting = Cutting(options.byte())
    let keepsContext = choice & 2 != 0
    let bytes = options.rest
    let messages = cutting.pieces(of: bytes.count).prefix(64).map { Array(bytes[$0]) }
    if choice & 1 == 0 {
      let limit = [64, 1_000, 16_384, 65_536][choice >> 2 & 3]
      inflate(messages, limit, keepsContext: keepsContext, &report)
    } else {
      compress(
        messages, windowBits: 8 + (choice >> 4 & 7), level: Int32(1 + (choice >> 2 & 3) * 2), keepsContext, &report)
    }
  }

  private static func inflate(
    _ messages: [[UInt8]], _ limit: Int, keepsContext: Bool, _ report: inout FuzzReport
  ) {
    let inflater = Inflater()
    var isFresh = true
    for message in messages {
      let outcome = read(message, inflater, limit, keepsContext)
      switch outcome {
      case .message(let bytes):
        report.accept()
        report.check(bytes.count <= limit, "\(bytes.count) bytes above \(limit)")
      case .failed(let code, let reason):
        report.reject(code, reason)
      }
      if isFresh || !keepsContext { checkAlone(message, outcome, limit, &report) }
      if case .failed = outcome {
        // The connection ends here; the state may serve another one.
        report.check(read(hello, inflater, 64, false) == .message(Array("Hello".utf8)), "a failure stays in the state")
        report.check(inflater.heldBytes <= 65_536, "\(inflater.heldBytes) bytes are held behind a failure")
        isFresh = true
      } else {
        isFresh = false
      }
    }
    report.check(
      inflater.largestHeldBytes <= max(4_096, limit + 1), "\(inflater.largestHeldBytes) bytes for \(limit)")
  }

  /// "Hello" of RFC 7692 §7.2.3.1.
  private static let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]

  /// A state of its own reads the same; a limit of just the message's size lets it pass, one less does not.
  private static func checkAlone(_ message: [UInt8], _ outcome: Outcome, _ limit: Int, _ report: inout FuzzReport) {
    let alone = read(message, Inflater(), limit, false)
    report.check(alone == outcome, "alone \(alone), in its place \(outcome)")
    guard case .message(let bytes) = alone else { return }
    let exact = read(message, Inflater(), bytes.count, false)
    report.check(exact == outcome, "with its own size as the limit: \(exact)")
    guard !bytes.isEmpty, case .failed(let code, _) = read(message, Inflater(), bytes.count - 1, false) else {
      return report.check(bytes.isEmpty, "\(bytes.count) bytes pass a limit of one less")
    }
    report.check(code == 1009, "one byte above the limit is \(code)")
  }

  private static func compress(
    _ messages: [[UInt8]], windowBits: Int, level: Int32, _ keepsContext: Bool, _ report: inout FuzzReport
  ) {
    guard let deflater = try? Deflater(windowBits: windowBits, keepsContext: keepsContext, level: level) else {
      return report.check(false, "zlib gives no state")
    }
    let inflater = Inflater()
    for message in messages {
      var compressed: [UInt8] = []
      message.withUnsafeBytes { deflater.compress($0, into: &compressed) }
      // The bound on a compressed message that `ConnectionMachine` lets in.
      report.check(
        compressed.count <= message.count + message.count / 8 + 64, "\(message.count) became \(compressed.count)")
      let read = read(compressed, inflater, message.count, keepsContext)
      report.check(read == .message(message), "\(message) became \(read)")
      if read == .message(message) { report.accept() }
      if !keepsContext { checkAlone(compressed, .message(message), message.count, &report) }
    }
  }

  private static func read(
    _ bytes: [UInt8], _ inflater: Inflater, _ limit: Int, _ keepsContext: Bool
  ) -> Outcome {
    bytes.withUnsafeBytes { bytes in
      switch inflater.inflate(bytes, limitBytes: limit, keepsContext: keepsContext) {
      case .success(let output): .message(Array(output))
      case .failure(let failure): .failed(failure.code.value, failure.reason)
      }
    }
  }
}
