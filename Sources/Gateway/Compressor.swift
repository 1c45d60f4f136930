import Primitives
import Telemetry
import WebSocket

/// Turns payloads into frames of a pool, with the shard's shared zlib states (RFC 7692 without context takeover: one
/// state serves every connection, and is made when the first connection needs it).
final class Compressor {
  let inflater: Inflater
  private let thresholdBytes: Int
  private let metrics: ShardMetrics
  private var deflaters: [Deflater?] = Array(repeating: nil, count: 16)
  private var scratch: [UInt8] = []

  init(settings: GatewaySettings, metrics: ShardMetrics) {
    inflater = Inflater()
    self.metrics = metrics
    metrics.deflateContexts.add(1)
    thresholdBytes = settings.compressionThresholdBytes
  }

  /// When an agreed compression is used.
  enum Use {
    /// The payload is long enough, and shrinks.
    case whenItPays
    /// Always, as a conformance client expects of an echo (S4).
    case always
  }

  /// A data frame, deflated when `windowBits` is not 0 and `use` says so.
  func messageFrame(
    _ kind: MessageKind, _ payload: UnsafeRawBufferPointer, windowBits: UInt8, use: Use = .whenItPays,
    in outlets: inout Outlets
  ) -> FrameID {
    if windowBits != 0, compress(payload, windowBits: windowBits, use) {
      return scratch.withUnsafeBytes { bytes in
        outlets.makeFrame(byteCount: FrameEncoder.frameSize(payloadSize: bytes.count)) { target in
          FrameEncoder.write(opcode: kind.opcode, payload: bytes, isCompressed: true, into: target)
        }
      }
    }
    return outlets.makeFrame(byteCount: FrameEncoder.frameSize(payloadSize: payload.count)) { target in
      FrameEncoder.write(opcode: kind.opcode, payload: payload, isCompressed: false, into: target)
    }
  }

  /// The deflated twin of a broadcast, or `.none` when compressing does not pay.
  func deflatedFrame(
    _ kind: MessageKind, _ payload: UnsafeRawBufferPointer, windowBits: UInt8, in pool: inout FramePool
  ) -> FrameID {
    guard compress(payload, windowBits: windowBits, .whenItPays) else { return .none }
    return scratch.withUnsafeBytes { bytes in
      pool.insert(byteCount: FrameEncoder.frameSize(payloadSize: bytes.count)) { target in
        FrameEncoder.write(opcode: kind.opcode, payload: bytes, isCompressed: true, into: target)
      }
    }
  }

  func controlFrame(_ opcode: Opcode, _ payload: UnsafeRawBufferPointer, in outlets: inout Outlets) -> FrameID {
    outlets.makeFrame(byteCount: FrameEncoder.frameSize(payloadSize: payload.count)) { target in
      FrameEncoder.write(opcode: opcode, payload: payload, isCompressed: false, into: target)
    }
  }

  func closeFrame(code: CloseCode?, reason: String, in outlets: inout Outlets) -> FrameID {
    scratch.removeAll(keepingCapacity: true)
    FrameEncoder.appendClosePayload(code: code, reason: reason, to: &scratch)
    return scratch.withUnsafeBytes { controlFrame(.close, $0, in: &outlets) }
  }

  /// Leaves the compressed payload in `scratch`; false when it is not smaller, or too short to be worth it.
  private func compress(_ payload: UnsafeRawBufferPointer, windowBits: UInt8, _ use: Use) -> Bool {
    guard use == .always || payload.count >= thresholdBytes, let deflater = deflater(windowBits) else { return false }
    if scratch.capacity > 1 << 20 { scratch = [] }
    scratch.removeAll(keepingCapacity: true)
    deflater.compress(payload, into: &scratch)
    metrics.deflateInput.add(UInt64(payload.count))
    metrics.deflateOutput.add(UInt64(scratch.count))
    return use == .always || scratch.count < payload.count
  }

  private func deflater(_ windowBits: UInt8) -> Deflater? {
    if let deflater = deflaters[Int(windowBits)] { return deflater }
    do throws(DeflateFailure) {
      let made = try Deflater(windowBits: Int(windowBits))
      deflaters[Int(windowBits)] = made
      metrics.deflateContexts.add(1)
      return made
    } catch {
      // No memory for a state: what we send is plain until there is, which every peer understands.
      return nil
    }
  }
}
