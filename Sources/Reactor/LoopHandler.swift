package import Primitives

/// Why a connection ended.
package enum CloseCause: Equatable, Sendable {
  /// The peer ended its stream (FIN, or close_notify under TLS).
  case peerClosed
  /// The connection broke: reset, unreachable, timed out by the kernel.
  case reset(errno: Int32)
  /// TLS was violated or abused.
  case tlsFailure
  /// Our own graceful close is complete.
  case finished
  /// Our own graceful close waited its two seconds for the peer and gave up.
  case lingerExpired
  /// Our own abort.
  case aborted
  /// The loop stopped.
  case loopStopped
}

/// What a write did.
package enum WriteOutcome: Equatable, Sendable {
  /// Every byte was taken.
  case complete
  /// So many bytes were taken (perhaps 0). The rest is the handler's; `writable` will be called once there is room.
  case partial(Int)
  /// The connection is gone or closing; nothing more can be sent and `closed` follows, or has been called.
  case failed
}

/// How to end a connection.
package enum CloseMode: Sendable {
  /// Send what was taken, end our stream, discard what still comes until the peer ends its own, at most 2 seconds.
  case graceful
  /// Reset at once; unsent bytes are dropped.
  case abort
}

/// What a loop tells its owner. Every call comes on the loop's thread, and may call back into the loop.
package protocol LoopHandler: AnyObject {
  /// Whether a new connection may enter; asked before TLS. False closes it at once.
  func admits(_ peer: PeerAddress) -> Bool

  /// An admitted connection ended before it was opened (its TLS handshake failed or took too long): balances `admits`.
  func abandoned(_ peer: PeerAddress)

  /// A connection is ready to carry bytes; under TLS the handshake is done.
  /// - Parameter listener: the position of its address in the loop's listeners.
  func opened(_ connection: Handle, listener: Int, peer: PeerAddress)

  /// Bytes came. The buffer belongs to the loop, may be changed, and is valid during this call only.
  func received(_ connection: Handle, _ bytes: UnsafeMutableRawBufferPointer)

  /// There is room again after a `partial` write.
  func writable(_ connection: Handle)

  /// The connection is gone: exactly once for each `opened`, also after our own close.
  func closed(_ connection: Handle, _ cause: CloseCause)

  /// The loop's wake-up fired: mailboxes may have messages.
  func mail()

  /// The instant named by `nextDeadline` has come.
  func deadline(now: Instant)

  /// Asked before the loop sleeps: when to call `deadline` at the latest.
  func nextDeadline() -> Instant

  /// Everything that happened in this turn has been told: flush what it caused.
  func endTurn(now: Instant)
}

extension LoopHandler {
  package func admits(_ peer: PeerAddress) -> Bool { true }
  package func abandoned(_ peer: PeerAddress) {}
}
