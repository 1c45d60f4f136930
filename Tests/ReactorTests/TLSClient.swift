import COpenSSL
import Glibc

/// An OpenSSL client over a blocking socket. It trusts every certificate: what is tested is the server.
final class TLSClient {
  enum Version { case any, only12 }

  let socket: BlockingClient
  let pointer: OpaquePointer
  private let context: OpaquePointer

  init(
    port: UInt16, version: Version = .any, serverName: String? = nil, alpn: [String] = ["http/1.1"],
    resuming session: OpaquePointer? = nil, receiveBufferBytes: Int32? = nil
  ) throws {
    socket = try BlockingClient(port: port, receiveBufferBytes: receiveBufferBytes)
    guard let context = SSL_CTX_new(TLS_client_method()) else { throw ClientFailure("SSL_CTX_new") }
    if version == .only12 { copenssl_allow_tls12_only(context) }
    guard let pointer = SSL_new(context) else { throw ClientFailure("SSL_new") }
    self.context = context
    self.pointer = pointer
    SSL_set_fd(pointer, socket.descriptor)
    if let serverName { copenssl_set_server_name(pointer, serverName) }
    let offered = alpn.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
    if !offered.isEmpty { SSL_set_alpn_protos(pointer, offered, UInt32(offered.count)) }
    if let session { SSL_set_session(pointer, session) }
    ERR_clear_error()
    guard SSL_connect(pointer) == 1 else {
      ERR_clear_error()
      throw ClientFailure("SSL_connect")
    }
  }

  deinit {
    SSL_free(pointer)
    SSL_CTX_free(context)
    ERR_clear_error()
  }

  func send(_ bytes: [UInt8]) throws {
    ERR_clear_error()
    guard SSL_write(pointer, bytes, Int32(bytes.count)) == Int32(bytes.count) else { throw ClientFailure("SSL_write") }
  }

  /// At most `limit` bytes; empty after the server's close_notify.
  func receive(atMost limit: Int = 65_536) throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: limit)
    ERR_clear_error()
    let count = SSL_read(pointer, &buffer, Int32(limit))
    if count > 0 { return Array(buffer[..<Int(count)]) }
    let error = SSL_get_error(pointer, count)
    ERR_clear_error()
    guard error == SSL_ERROR_ZERO_RETURN else { throw ClientFailure("SSL_read \(error)") }
    return []
  }

  func receive(exactly count: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      let more = try receive(atMost: count - bytes.count)
      guard !more.isEmpty else { throw ClientFailure("the stream ended after \(bytes.count) of \(count) bytes") }
      bytes += more
    }
    return bytes
  }

  func receiveToEnd() throws -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      let more = try receive()
      if more.isEmpty { return bytes }
      bytes += more
    }
  }

  func closeNotify() {
    ERR_clear_error()
    SSL_shutdown(pointer)
    ERR_clear_error()
  }

  /// The common name of the server's certificate.
  var serverCommonName: String? {
    guard let certificate = SSL_get1_peer_certificate(pointer) else { return nil }
    defer { X509_free(certificate) }
    var text = [CChar](repeating: 0, count: 256)
    guard X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, &text, 256) > 0 else {
      return nil
    }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  var chosenALPN: String {
    var name: UnsafePointer<UInt8>?
    var length: UInt32 = 0
    SSL_get0_alpn_selected(pointer, &name, &length)
    return String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
  }
}
