import CZlib
import Glibc

/// Decompresses messages (RFC 7692 §7.2.2) up to a limit that is kept before memory is taken beyond it.
///
/// One serves every connection of its thread whose peer keeps no context; a peer that keeps one needs its own. zlib's
/// state and the output are made with the first compressed message, and a large output is given back after its message.
package final class Inflater {
  private static let startBytes = 4096
  private static let retainedBytes = 65_536
  private static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]

  /// At one address for life: zlib keeps a pointer back to it.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private var isReady = false
  private var output: UnsafeMutableRawPointer?
  /// What the output takes of memory now, in bytes: never more than a message's limit and one, or 4,096.
  package private(set) var heldBytes = 0
  /// The most that `heldBytes` has been.
  package private(set) var largestHeldBytes = 0

  package init() { stream.initialize(to: z_stream()) }

  deinit {
    if isReady { inflateEnd(stream) }
    stream.deallocate()
    free(output)
  }

  private enum Progress {
    /// All input was taken; more of the stream may follow.
    case open
    /// A final block ended with the input.
    case ended
    case failed(ProtocolFailure)
  }

  /// Inflates one message.
  /// - Parameter limitBytes: what the message may be inflated to; one byte more is 1009.
  /// - Returns: bytes that are valid until the next call.
  package func inflate(
    _ bytes: UnsafeRawBufferPointer, limitBytes: Int, keepsContext: Bool
  ) -> Result<UnsafeRawBufferPointer, ProtocolFailure> {
    // Some deflaters make nothing of nothing. There is no block to end then, and the window stays as it is.
    guard !bytes.isEmpty else { return .success(UnsafeRawBufferPointer(start: nil, count: 0)) }
    guard prepare() else { return .failure(Self.noMemory) }
    releaseOutput()
    var produced = 0
    let failure = inflateMessage(bytes, &produced, limitBytes)
    if failure != nil || !keepsContext { inflateReset(stream) }
    if let failure {
      releaseOutput()
      return .failure(failure)
    }
    return .success(UnsafeRawBufferPointer(start: output, count: produced))
  }

  /// Gives back what a large message took. What `inflate` returned is gone then.
  package func releaseOutput() {
    guard heldBytes > Self.retainedBytes else { return }
    free(output)
    output = nil
    heldBytes = 0
  }

  private static let noMemory = ProtocolFailure(.deflate, .internalError, "no memory to inflate")
  private static let damaged = ProtocolFailure(.deflate, .invalidPayload, "the compressed data is damaged")

  private func prepare() -> Bool {
    if isReady { return true }
    // 15 bits read every smaller window as well.
    isReady = inflateInit2_(stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
    return isReady
  }

  private func inflateMessage(
    _ bytes: UnsafeRawBufferPointer, _ produced: inout Int, _ limitBytes: Int
  ) -> ProtocolFailure? {
    switch run(bytes, &produced, limitBytes) {
    case .failed(let failure): return failure
    case .ended: return nil
    case .open: break
    }
    // §7.2.2: the tail that the sender took off. It completes an empty block; where it is read otherwise, the message was
    // cut.
    let whole = produced
    switch Self.tail.withUnsafeBytes({ run($0, &produced, limitBytes) }) {
    case .failed(let failure): return failure
    case .ended: return Self.damaged
    case .open: return produced == whole && isBetweenBlocks ? nil : Self.damaged
    }
  }

  /// zlib's `data_type` after a call: 128 between two blocks, plus the bits of the last octet that are not used yet.
  private var isBetweenBlocks: Bool { stream.pointee.data_type & 0xBF == 128 }

  private func run(_ bytes: UnsafeRawBufferPointer, _ produced: inout Int, _ limitBytes: Int) -> Progress {
    stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
    stream.pointee.avail_in = UInt32(bytes.count)
    while true {
      if produced == heldBytes, !grow(limitBytes) { return .failed(Self.noMemory) }
      let room = min(heldBytes, limitBytes + 1) - produced
      stream.pointee.next_out = output?.advanced(by: produced).assumingMemoryBound(to: UInt8.self)
      stream.pointee.avail_out = UInt32(room)
      let status = CZlib.inflate(stream, Z_SYNC_FLUSH)
      produced += room - Int(stream.pointee.avail_out)
      if produced > limitBytes {
        return .failed(
          ProtocolFailure(.messageTooBig, .messageTooBig, "the message inflates to more than \(limitBytes) bytes"))
      }
      switch status {
      case Z_OK, Z_BUF_ERROR:
        // Room left means that all input is used.
        if stream.pointee.avail_out > 0 { return .open }
      case Z_STREAM_END:
        // §7.2.3.4: a sender may end with a final block. What follows starts a new stream, but the window goes on
        // (§7.1.1), and a whole reset would forget it.
        inflateResetKeep(stream)
        if stream.pointee.avail_in == 0 { return .ended }
      case Z_MEM_ERROR: return .failed(Self.noMemory)
      default: return .failed(Self.damaged)
      }
    }
  }

  /// Doubles the output, but not beyond the limit and the one byte that shows it was passed.
  private func grow(_ limitBytes: Int) -> Bool {
    let count = max(Self.startBytes, min(heldBytes * 2, limitBytes + 1))
    guard let wider = realloc(output, count) else { return false }
    output = wider
    heldBytes = count
    largestHeldBytes = max(largestHeldBytes, count)
    return true
  }
}
