import CLinux
import COpenSSL
import Glibc

/// The client's side of TLS for every connection of a run. Certificates are not checked: the driver measures a server
/// and trusts it with nothing.
final class TLSClient {
  private let context: OpaquePointer

  init() throws(LoadFailure) {
    guard let context = SSL_CTX_new(TLS_client_method()) else { throw LoadFailure("OpenSSL could not make a context") }
    self.context = context
    copenssl_set_mode(context, copenssl_SESSION_MODE)
  }

  deinit { SSL_CTX_free(context) }

  fileprivate func session(_ descriptor: Int32) -> OpaquePointer {
    guard let session = SSL_new(context) else { preconditionFailure("OpenSSL could not make a session") }
    SSL_set_fd(session, descriptor)
    SSL_set_connect_state(session)
    return session
  }
}

/// A connected socket, plain or with TLS; the TLS handshake runs inside the first writes and reads. Owns the descriptor.
final class Stream {
  let descriptor: Int32
  private let session: OpaquePointer?
  /// The last `send` cannot go on before something was received (TLS's own handshake).
  private(set) var sendAwaitsInput = false

  init(_ descriptor: Int32, _ tls: TLSClient?) {
    self.descriptor = descriptor
    session = tls?.session(descriptor)
  }

  deinit {
    if let session { SSL_free(session) }
    close(descriptor)
  }

  var isSecure: Bool { session != nil }

  /// - Returns: bytes read, 0 when the peer's stream has ended, or a negative errno; −EAGAIN when nothing is there.
  func receive(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard let session else { return retrying { recv(descriptor, buffer.baseAddress, buffer.count, 0) } }
    ERR_clear_error()
    return outcome(session, SSL_read(session, buffer.baseAddress, Int32(clamping: buffer.count)))
  }

  /// - Returns: bytes written, or a negative errno; −EAGAIN when there is no room.
  func send(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard let session else {
      return retrying { Glibc.send(descriptor, bytes.baseAddress, bytes.count, clinux_MSG_NOSIGNAL) }
    }
    ERR_clear_error()
    let result = SSL_write(session, bytes.baseAddress, Int32(clamping: bytes.count))
    sendAwaitsInput = result <= 0 && SSL_get_error(session, result) == SSL_ERROR_WANT_READ
    return outcome(session, result)
  }

  private func outcome(_ session: OpaquePointer, _ result: Int32) -> Int {
    if result > 0 { return Int(result) }
    let code = errno
    switch SSL_get_error(session, result) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return -Int(EAGAIN)
    case SSL_ERROR_ZERO_RETURN: return 0
    case SSL_ERROR_SYSCALL: return code == 0 ? 0 : -Int(code)
    default: return -Int(EPROTO)
    }
  }

  private func retrying(_ body: () -> Int) -> Int {
    while true {
      let result = body()
      if result >= 0 { return result }
      if errno != EINTR { return -Int(errno) }
    }
  }

  /// The error that a connecting socket ended with, or 0.
  var pendingError: Int32 {
    var code: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 ? code : errno
  }

  /// Closing will reset the connection: nothing lingers, on either side, and no port waits.
  func resetOnClose() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }
}
