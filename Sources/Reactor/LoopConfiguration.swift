/// The limits of one loop. Every default is a number an operator may live with; tests make them small.
package struct LoopConfiguration: Sendable {
  /// Connections a loop holds at once, those in their TLS handshake included; beyond it the listener rests.
  package var connectionLimit = 65_536
  /// Connections in their TLS handshake at once; beyond it new ones are closed (C016).
  package var handshakeLimit = 2_048
  /// TLS handshake steps worked on in one turn, so that a storm does not starve the living.
  package var handshakesPerTurn = 8
  /// How long a TLS handshake may take.
  package var handshakeTimeoutMilliseconds: UInt64 = 10_000
  /// How long a graceful close waits for the peer.
  package var lingerMilliseconds: UInt64 = 2_000
  /// Connections accepted from one listener in one turn.
  package var acceptsPerTurn = 64
  /// How long the listeners rest when the process is out of descriptors; doubles up to one second (C016).
  package var acceptPauseMilliseconds: UInt64 = 20
  /// Bytes read from one connection in one turn; at most 128 KiB.
  package var readBudgetBytes = 131_072
  /// SO_SNDBUF of accepted sockets; nil leaves the kernel's own tuning.
  package var sendBufferBytes: Int32?
  /// SO_RCVBUF of accepted sockets; nil leaves the kernel's own tuning.
  package var receiveBufferBytes: Int32?

  package init() {}
}
