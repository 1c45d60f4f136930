import WebSocket

/// RFC 6455 §5 read a second time, slowly and over all bytes at once: what a machine without extensions must answer.
/// It shares nothing with `ConnectionMachine`, so that both would have to be wrong in the same way.
struct FrameModel {
  private let bytes: [UInt8]
  private let setup: FrameTarget.Setup
  private var notes: [FrameTarget.Note] = []
  /// The open message: its kind, its octets, its frames.
  private var message: (kind: MessageKind, octets: [UInt8], frames: Int)?

  /// The events of these bytes; of a failure only the code is meant.
  static func notes(_ bytes: [UInt8], _ setup: FrameTarget.Setup) -> [FrameTarget.Note] {
    var model = FrameModel(bytes: bytes, setup: setup)
    var at = 0
    while let next = model.readFrame(at) { at = next }
    return model.notes
  }

  private init(bytes: [UInt8], setup: FrameTarget.Setup) {
    self.bytes = bytes
    self.setup = setup
  }

  private mutating func fail(_ code: UInt16) -> Int? {
    notes.append(.failed(code, ""))
    return nil
  }

  /// - Returns: where the next frame begins; nil when bytes are missing or the connection has ended.
  private mutating func readFrame(_ start: Int) -> Int? {
    let rest = bytes[start...]
    guard let first = rest.first else { return nil }
    let opcode = first % 16
    let isFinal = first >= 128
    let isControl = opcode >= 8
    guard first / 16 % 8 == 0, [0, 1, 2, 8, 9, 10].contains(opcode), isFinal || !isControl else { return fail(1002) }
    guard rest.count >= 2 else { return nil }
    let second = rest[start + 1]
    guard (second >= 128) == (setup.role == .server), !isControl || second % 128 <= 125 else { return fail(1002) }
    var size = Int(second % 128)
    var at = start + 2
    if size >= 126 {
      let octets = size == 126 ? 2 : 8
      guard rest.count >= 2 + octets else { return nil }
      let value = bytes[at..<at + octets].reduce(UInt64(0)) { $0 * 256 + UInt64($1) }
      guard value < 1 << 63, value > (octets == 2 ? 125 : 65_535) else { return fail(1002) }
      size = Int(value)
      at += octets
    }
    var key: [UInt8] = [0, 0, 0, 0]
    if second >= 128 {
      guard bytes.count >= at + 4 else { return nil }
      key = Array(bytes[at..<at + 4])
      at += 4
    }
    if !isControl, let code = open(opcode, size) { return fail(code) }
    let present = min(size, bytes.count - at)
    let payload = bytes[at..<at + present].enumerated().map { $1 ^ key[$0 % 4] }
    if isControl { return present == size ? control(opcode, payload, end: at + size) : nil }
    return data(payload, isWhole: present == size, isFinal: isFinal, end: at + size)
  }

  /// A data frame's place among the others (§5.4) and its limits; the code of what is wrong.
  private mutating func open(_ opcode: UInt8, _ size: Int) -> UInt16? {
    guard (opcode == 0) == (message != nil) else { return 1002 }
    if opcode != 0 { message = (opcode == 1 ? .text : .binary, [], 0) }
    message?.frames += 1
    guard let message else { return 1002 }
    if message.frames > setup.fragments { return 1008 }
    return size > setup.limitBytes - message.octets.count ? 1009 : nil
  }

  private mutating func control(_ opcode: UInt8, _ payload: [UInt8], end: Int) -> Int? {
    switch opcode {
    case 9: notes.append(.ping(payload))
    case 10: notes.append(.pong(payload))
    default:
      if payload.isEmpty {
        notes.append(.close(nil, []))
        return nil
      }
      guard payload.count >= 2 else { return fail(1002) }
      let code = UInt16(payload[0]) * 256 + UInt16(payload[1])
      guard FrameTarget.isOnWire(code) else { return fail(1002) }
      guard isUTF8(payload.dropFirst(2)) else { return fail(1007) }
      notes.append(.close(code, Array(payload.dropFirst(2))))
      return nil
    }
    return end
  }

  private mutating func data(_ payload: [UInt8], isWhole: Bool, isFinal: Bool, end: Int) -> Int? {
    message?.octets += payload
    guard let (kind, octets, _) = message else { return nil }
    if kind == .text, !beginsText(octets) { return fail(1007) }
    guard isWhole else { return nil }
    if isFinal {
      if kind == .text, !isUTF8(octets) { return fail(1007) }
      notes.append(.message(kind, octets))
      message = nil
    }
    return end
  }

  /// Whether some text begins with these octets: all but the last few are one, and those can be completed.
  private func beginsText(_ octets: [UInt8]) -> Bool {
    if isUTF8(octets) { return true }
    return (1...min(3, octets.count)).contains { count in
      isUTF8(octets.dropLast(count))
        && [0x80, 0x90, 0xA0].contains { next in
          (0...2).contains { more in
            isUTF8(octets.suffix(count) + [next] + [UInt8](repeating: 0x80, count: more))
          }
        }
    }
  }
}
