import COpenSSL
import Glibc

/// One connection's TLS. Every call into OpenSSL goes through `calling`, which keeps the thread's error queue empty
/// before and after: a stale entry would be taken for the failure of another connection (C032).
final class TLSSession {
  enum HandshakeStep { case done, wantsRead, wantsWrite, failed }

  enum ReadStep {
    case bytes(Int)
    /// Nothing more before the socket has a new event.
    case empty
    /// Nothing more before the socket has room: an answer of TLS's own must leave first.
    case awaitsRoom
    case ended
    case failed(CloseCause)
  }

  enum WriteStep {
    /// All bytes have been given to the kernel.
    case sent
    /// All bytes are this session's; some wait for room in the socket.
    case taken
    case failed(CloseCause)
  }

  /// Keeps the contexts and their server names alive as long as OpenSSL may call back.
  private let context: TLSContext
  private let wire: UnsafeMutablePointer<TLSWire>
  private let pointer: OpaquePointer
  /// Plain bytes of the record the kernel has not taken. OpenSSL wants the same bytes again, so the session keeps a
  /// copy and the caller is free to forget or reorder what follows (C031).
  private var unsent: UnsafeMutableRawBufferPointer?
  private var unsentOffset = 0
  /// After a fatal error OpenSSL must not be asked for a close_notify.
  private var isBroken = false
  private var isEstablished = false

  init(_ context: TLSContext, descriptor: Int32) {
    self.context = context
    wire = .allocate(capacity: 1)
    wire.initialize(to: TLSWire(descriptor: descriptor))
    guard let session = SSL_new(context.pointer) else { preconditionFailure("OpenSSL could not make a session") }
    pointer = session
    SSL_set_ex_data(session, 0, wire)
    let bio = TLSWire.makeBIO(wire)
    SSL_set_bio(session, bio, bio)
    SSL_set_accept_state(session)
    ERR_clear_error()
  }

  deinit {
    SSL_free(pointer)
    ERR_clear_error()
    wire.deallocate()
    unsent?.deallocate()
  }

  private func calling(_ body: () -> Int32) -> (result: Int32, error: Int32) {
    assert(ERR_peek_error() == 0, "an OpenSSL error was left in the queue")
    ERR_clear_error()
    let result = body()
    let error = result > 0 ? SSL_ERROR_NONE : SSL_get_error(pointer, result)
    if error == SSL_ERROR_SSL || error == SSL_ERROR_SYSCALL { isBroken = true }
    ERR_clear_error()
    assert(ERR_peek_error() == 0, "OpenSSL's error queue was not cleared")
    return (result, error)
  }

  /// A new socket event came, so the next read asks the socket again.
  func socketMayHaveMore() { wire.pointee.isDrained = false }

  func handshake() -> HandshakeStep {
    let (result, error) = calling { SSL_do_handshake(pointer) }
    if result == 1 {
      isEstablished = true
      return .done
    }
    switch error {
    case SSL_ERROR_WANT_READ: return .wantsRead
    case SSL_ERROR_WANT_WRITE: return .wantsWrite
    default: return .failed
    }
  }

  /// The handshake resumed an earlier session.
  var isResumed: Bool { SSL_session_reused(pointer) == 1 }

  func read(into buffer: UnsafeMutableRawPointer, count: Int) -> ReadStep {
    let (result, error) = calling { SSL_read(pointer, buffer, Int32(clamping: count)) }
    if wire.pointee.isAbused {
      isBroken = true
      return .failed(.tlsFailure)
    }
    if result > 0 {
      wire.pointee.bytesRead += UInt64(result)
      return .bytes(Int(result))
    }
    switch error {
    case SSL_ERROR_WANT_READ: return .empty
    case SSL_ERROR_WANT_WRITE: return .awaitsRoom
    case SSL_ERROR_ZERO_RETURN: return .ended
    default: return failure()
    }
  }

  private func failure() -> ReadStep {
    if wire.pointee.sawEnd { return .ended }
    return .failed(cause)
  }

  private var cause: CloseCause {
    wire.pointee.brokenBy != 0 ? .reset(errno: wire.pointee.brokenBy) : .tlsFailure
  }

  /// A record waits for room; `flush` before writing more.
  var hasUnsentRecord: Bool { unsent != nil }

  /// A key update read now would be answered at once, which OpenSSL refuses, fatally, while a record waits (RFC 8446
  /// §4.6.3). So such a session reads only after it has flushed.
  var mustFlushBeforeReading: Bool { unsent != nil && SSL_version(pointer) == TLS1_3_VERSION }

  /// Encrypts and sends bytes, at most one record's worth. Whatever the outcome but `failed`, they are taken.
  func write(_ bytes: UnsafeRawBufferPointer) -> WriteStep {
    precondition(unsent == nil, "a record was written while another waits")
    var offset = 0
    // A peer may have negotiated records smaller than the piece, so one call can take a part.
    while offset < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
      let (result, error) = calling { SSL_write(pointer, rest.baseAddress, Int32(rest.count)) }
      if result > 0 {
        offset += Int(result)
      } else if error == SSL_ERROR_WANT_WRITE {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: rest.count, alignment: 1)
        copy.copyMemory(from: rest)
        unsent = copy
        unsentOffset = 0
        return .taken
      } else {
        return .failed(cause)
      }
    }
    return .sent
  }

  /// Offers the waiting record to the socket again, byte for byte.
  func flush() -> WriteStep {
    guard let waiting = unsent else { return .sent }
    while unsentOffset < waiting.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: waiting[unsentOffset...])
      let (result, error) = calling { SSL_write(pointer, rest.baseAddress, Int32(rest.count)) }
      if result > 0 {
        unsentOffset += Int(result)
      } else if error == SSL_ERROR_WANT_WRITE {
        return .taken
      } else {
        return .failed(cause)
      }
    }
    waiting.deallocate()
    unsent = nil
    return .sent
  }

  /// Tells the peer that our stream ends (RFC 8446 §6.1).
  /// - Returns: `taken` when the socket has no room: call again once it has. A broken session sends nothing.
  func sendCloseNotify() -> WriteStep {
    guard isEstablished, !isBroken, unsent == nil else { return .sent }
    let (result, error) = calling { SSL_shutdown(pointer) }
    if result >= 0 { return .sent }
    return error == SSL_ERROR_WANT_WRITE ? .taken : .failed(cause)
  }
}
