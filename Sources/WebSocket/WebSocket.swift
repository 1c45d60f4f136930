/// RFC 6455 and RFC 7692 as machines for both roles: handshake, frames, messages, closing, permessage-deflate.
///
/// Threads: none; a machine and the zlib states it is given belong to the thread of their connection. Lifecycle: a
/// handshake accepts, then a `ConnectionMachine` reads until `.close` or `.failed`. Never imports: sockets, clocks, logs,
/// Foundation. What a peer does wrong is a value with a close code; nothing here traps on input.

/// The side that a machine plays (RFC 6455 §5.1): clients mask, servers do not.
package enum Role: Sendable { case server, client }

/// What a message carries (RFC 6455 §5.6).
package enum MessageKind: Sendable {
  case text, binary

  package var opcode: Opcode { self == .text ? .text : .binary }
}

/// RFC 6455 §5.2.
package enum Opcode: UInt8, Sendable {
  case continuation = 0x0
  case text = 0x1
  case binary = 0x2
  case close = 0x8
  case ping = 0x9
  case pong = 0xA

  var isControl: Bool { rawValue & 0x8 != 0 }
}
