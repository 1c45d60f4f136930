/// A frame's header (RFC 6455 §5.2), 2 to 14 octets.
struct FrameHeader: Hashable, Sendable {
  var isFinal: Bool
  var isCompressed: Bool
  var opcode: Opcode
  var maskKey: UInt32?
  var payloadBytes: Int

  enum Reading {
    case needMore
    case header(FrameHeader, size: Int)
    case failed(ProtocolFailure)
  }

  /// Reads a header, judging every rule as soon as the octets for it are there.
  /// - Parameter deflates: permessage-deflate was agreed, so RSV1 has a meaning (RFC 7692 §6).
  static func read(_ bytes: UnsafeRawBufferPointer, role: Role, deflates: Bool) -> Reading {
    guard bytes.count >= 1 else { return .needMore }
    let first = bytes[0]
    guard first & 0x30 == 0, deflates || first & 0x40 == 0 else {
      return .failed(.init(.reservedBits, .protocolError, "a reserved bit is set"))
    }
    guard let opcode = Opcode(rawValue: first & 0x0F) else {
      return .failed(.init(.reservedOpcode, .protocolError, "the opcode is reserved"))
    }
    let isFinal = first & 0x80 != 0
    let isCompressed = first & 0x40 != 0
    if opcode.isControl {
      guard isFinal else { return .failed(.init(.fragmentedControl, .protocolError, "a control frame is fragmented")) }
      guard !isCompressed else { return .failed(.init(.reservedBits, .protocolError, "a control frame is compressed")) }
    }
    guard !isCompressed || opcode != .continuation else {
      return .failed(.init(.reservedBits, .protocolError, "a continuation has the compression bit"))
    }
    guard bytes.count >= 2 else { return .needMore }
    let isMasked = bytes[1] & 0x80 != 0
    guard isMasked == (role == .server) else {
      return .failed(
        .init(
          .masking, .protocolError, role == .server ? "a client's frame is not masked" : "a server's frame is masked"))
    }
    let short = Int(bytes[1] & 0x7F)
    guard !opcode.isControl || short <= 125 else {
      return .failed(.init(.oversizeControl, .protocolError, "a control frame is above 125 bytes"))
    }
    var at = 2
    var length = short
    if short == 126 {
      guard bytes.count >= 4 else { return .needMore }
      length = Int(bytes[2]) << 8 | Int(bytes[3])
      guard length >= 126 else { return .failed(.init(.length, .protocolError, "the length is not minimal")) }
      at = 4
    } else if short == 127 {
      guard bytes.count >= 10 else { return .needMore }
      let value = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt64.self))
      guard value >> 63 == 0, value > 0xFFFF else {
        return .failed(.init(.length, .protocolError, "the length is not minimal or too large"))
      }
      length = Int(value)
      at = 10
    }
    var key: UInt32?
    if isMasked {
      guard bytes.count >= at + 4 else { return .needMore }
      key = bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self)
      at += 4
    }
    return .header(
      FrameHeader(isFinal: isFinal, isCompressed: isCompressed, opcode: opcode, maskKey: key, payloadBytes: length),
      size: at)
  }
}

/// What a peer did against the protocol, and with which code the connection ends.
package struct ProtocolFailure: Error, Hashable, Sendable {
  package enum Kind: Sendable, CaseIterable {
    case reservedBits, reservedOpcode, fragmentedControl, oversizeControl, masking, length
    case unexpectedContinuation, interruptedMessage, invalidText, invalidClose, messageTooBig, tooManyFragments
    case deflate
  }
  package var kind: Kind
  package var code: CloseCode
  /// For the close frame: short, and without anything of the peer's.
  package var reason: String

  init(_ kind: Kind, _ code: CloseCode, _ reason: String) {
    self.kind = kind
    self.code = code
    self.reason = reason
  }
}
