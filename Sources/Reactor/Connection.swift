import Primitives

/// One accepted socket, in the loop's slab.
struct Connection {
  enum State: UInt8 {
    /// TLS is being agreed; the handler does not know the connection yet.
    case handshaking
    /// Bytes flow.
    case open
    /// Gracefully closing with a TLS record or close_notify that the kernel has not taken yet.
    case draining
    /// Our stream has ended; what comes is discarded until the peer's ends too.
    case lingering
    /// The socket is closed; the slot lives until `closed` has been told.
    case dead
  }

  let descriptor: Int32
  var state: State
  let listener: Int
  let peer: PeerAddress
  var tls: TLSSession?
  /// The events epoll watches now; nil while the socket is not in the set.
  var armed: UInt32?
  /// The handler wants no bytes at the moment.
  var isPaused = false
  /// Waits for room in the socket's send buffer.
  var wantsWrite = false
  /// A write fell short, so the handler is owed `writable`.
  var owesWritable = false
  /// TLS must send before it reads on, and the socket has no room.
  var readAwaitsRoom = false
  /// Waits in the loop's list of connections with more to read.
  var isQueuedForReading = false
  var timer = TimerID.none
  /// Set when the state becomes `dead`.
  var cause = CloseCause.aborted
  /// The handler was told `opened`, so it is owed `closed`.
  var wasOpened = false
}
