/// Writes frames (RFC 6455 §5.2), each in the shortest form.
package enum FrameEncoder {
  /// Octets of a header for a payload of that many bytes.
  package static func headerSize(payloadSize: Int, role: Role = .server) -> Int {
    let size = payloadSize <= 125 ? 2 : payloadSize <= 0xFFFF ? 4 : 10
    return role == .client ? size + 4 : size
  }

  /// Octets of a whole server frame.
  package static func frameSize(payloadSize: Int) -> Int { headerSize(payloadSize: payloadSize) + payloadSize }

  /// Writes a whole, final server frame.
  /// - Precondition: `target` has exactly `frameSize(payloadSize:)` bytes; a control payload is at most 125 bytes.
  package static func write(
    opcode: Opcode, payload: UnsafeRawBufferPointer, isCompressed: Bool, into target: UnsafeMutableRawBufferPointer
  ) {
    precondition(target.count == frameSize(payloadSize: payload.count), "a frame fills its buffer")
    let header = writeHeader(opcode, isFinal: true, isCompressed, payload.count, maskBit: 0, into: target)
    UnsafeMutableRawBufferPointer(rebasing: target[header...]).copyMemory(from: payload)
  }

  /// Appends a frame of either role; a client's payload is masked with `maskKey`, which must be unpredictable (§10.3).
  package static func append(
    opcode: Opcode, payload: UnsafeRawBufferPointer, isFinal: Bool = true, isCompressed: Bool = false,
    maskKey: UInt32? = nil, to target: inout [UInt8]
  ) {
    let role: Role = maskKey == nil ? .server : .client
    let header = headerSize(payloadSize: payload.count, role: role)
    let start = target.count
    target.append(contentsOf: repeatElement(0, count: header + payload.count))
    target.withUnsafeMutableBytes { bytes in
      let frame = UnsafeMutableRawBufferPointer(rebasing: bytes[start...])
      var at = writeHeader(
        opcode, isFinal: isFinal, isCompressed, payload.count, maskBit: role == .client ? 0x80 : 0, into: frame)
      if let maskKey {
        frame.storeBytes(of: maskKey, toByteOffset: at, as: UInt32.self)
        at += 4
      }
      let body = UnsafeMutableRawBufferPointer(rebasing: frame[at...])
      body.copyMemory(from: payload)
      if let maskKey { Masking.apply(maskKey, to: body, offset: 0) }
    }
  }

  /// A close frame's payload (§5.5.1): the code and as much of the reason as fits, cut between characters.
  /// - Precondition: the code may stand on the wire.
  package static func appendClosePayload(code: CloseCode?, reason: String, to target: inout [UInt8]) {
    guard let code else { return }
    precondition(code.isValidOnWire, "1004, 1005, 1006 and 1015 are never sent")
    target.append(UInt8(code.value >> 8))
    target.append(UInt8(code.value & 0xFF))
    var left = 123
    for character in reason {
      guard character.utf8.count <= left else { break }
      target += character.utf8
      left -= character.utf8.count
    }
  }

  private static func writeHeader(
    _ opcode: Opcode, isFinal: Bool, _ isCompressed: Bool, _ length: Int, maskBit: UInt8,
    into target: UnsafeMutableRawBufferPointer
  ) -> Int {
    precondition(!opcode.isControl || isFinal && !isCompressed && length <= 125, "a control frame is short and whole")
    precondition(!isCompressed || opcode != .continuation, "a message says in its first frame that it is compressed")
    target[0] = opcode.rawValue | (isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0)
    if length <= 125 {
      target[1] = UInt8(truncatingIfNeeded: length) | maskBit
      return 2
    }
    if length <= 0xFFFF {
      target[1] = 126 | maskBit
      target.storeBytes(of: UInt16(truncatingIfNeeded: length).bigEndian, toByteOffset: 2, as: UInt16.self)
      return 4
    }
    target[1] = 127 | maskBit
    target.storeBytes(of: UInt64(truncatingIfNeeded: length).bigEndian, toByteOffset: 2, as: UInt64.self)
    return 10
  }
}
