import COpenSSL
import Glibc

/// The OpenSSL contexts of one address, by server name. Owns them; immutable, so any loop may look names up. Addresses
/// are kept as integers because raw pointers are not `Sendable`.
final class TLSServerNames: Sendable {
  private let fallbackAddress: UInt
  private let exact: [String: UInt]
  /// By what follows `*`, the dot included.
  private let wildcard: [String: UInt]

  init(_ identity: TLSIdentity, _ named: [TLSNamedIdentity]) throws(TLSFailure) {
    var made: [UInt] = []
    do throws(TLSFailure) {
      let fallback = try Self.makeContext(identity)
      made.append(fallback)
      var exact: [String: UInt] = [:]
      var wildcard: [String: UInt] = [:]
      for entry in named {
        let name = entry.serverName.lowercased()
        let host = name.hasPrefix("*.") ? name.dropFirst(2) : name[...]
        guard !host.isEmpty, !host.contains("*"), !host.hasPrefix("."), !host.hasSuffix(".") else {
          throw .serverNameInvalid(entry.serverName)
        }
        let context = try Self.makeContext(entry.identity)
        made.append(context)
        if name.hasPrefix("*.") {
          wildcard[String(name.dropFirst())] = context
        } else {
          exact[name] = context
        }
      }
      fallbackAddress = fallback
      self.exact = exact
      self.wildcard = wildcard
      contexts = made
    } catch {
      for address in made { SSL_CTX_free(OpaquePointer(bitPattern: address)) }
      throw error
    }
  }

  private let contexts: [UInt]

  deinit {
    for address in contexts { SSL_CTX_free(OpaquePointer(bitPattern: address)) }
  }

  var fallback: OpaquePointer {
    guard let pointer = OpaquePointer(bitPattern: fallbackAddress) else { preconditionFailure("a TLS context is null") }
    return pointer
  }

  /// The context for a name as the client sent it, or nil for the fallback.
  func context(for serverName: String) -> OpaquePointer? {
    let name = serverName.lowercased()
    if let address = exact[name] { return OpaquePointer(bitPattern: address) }
    guard let dot = name.firstIndex(of: "."), dot != name.startIndex else { return nil }
    return wildcard[String(name[dot...])].flatMap { OpaquePointer(bitPattern: $0) }
  }

  private static func makeContext(_ identity: TLSIdentity) throws(TLSFailure) -> UInt {
    if let reason = unreadable(identity.keyPath) { throw .keyUnreadable(path: identity.keyPath, reason: reason) }
    if let reason = unreadable(identity.certificatePath) {
      throw .certificateUnreadable(path: identity.certificatePath, reason: reason)
    }
    guard let context = SSL_CTX_new(TLS_server_method()) else {
      preconditionFailure("OpenSSL could not make a context")
    }
    do throws(TLSFailure) {
      defer { ERR_clear_error() }
      configure(context)
      // The key first: OpenSSL then accepts any certificate, and the mismatch is found by the check that names it.
      guard SSL_CTX_use_PrivateKey_file(context, identity.keyPath, SSL_FILETYPE_PEM) == 1 else {
        throw .keyInvalid(path: identity.keyPath)
      }
      guard SSL_CTX_use_certificate_chain_file(context, identity.certificatePath) == 1 else {
        throw .certificateInvalid(path: identity.certificatePath)
      }
      guard SSL_CTX_check_private_key(context) == 1 else {
        throw .mismatch(certificate: identity.certificatePath, key: identity.keyPath)
      }
    } catch {
      SSL_CTX_free(context)
      throw error
    }
    return UInt(bitPattern: context)
  }

  private static func unreadable(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return System.describe(errno) }
    System.close(descriptor)
    return nil
  }

  private static func configure(_ context: OpaquePointer) {
    let ranged = copenssl_set_protocol_range(context, TLS1_2_VERSION, TLS1_3_VERSION)
    precondition(ranged == 1, "this OpenSSL has no TLS 1.2 or 1.3")
    let listed = SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20")
    precondition(listed == 1, "this OpenSSL has no authenticated ciphers")
    SSL_CTX_set_options(
      context,
      COPENSSL_OP_NO_RENEGOTIATION | COPENSSL_OP_NO_COMPRESSION | COPENSSL_OP_CIPHER_SERVER_PREFERENCE
        | COPENSSL_OP_PRIORITIZE_CHACHA)
    copenssl_set_mode(context, copenssl_SESSION_MODE)
    copenssl_set_read_ahead(context)
    // Tickets carry the session, so the cache that all loops would share and lock stays off.
    copenssl_disable_session_cache(context)
    SSL_CTX_set_num_tickets(context, 1)
    let id = Array("threadcast".utf8)
    SSL_CTX_set_session_id_context(context, id, UInt32(id.count))
    // Never ask the terminal for a pass phrase.
    SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in 0 }
    SSL_CTX_set_alpn_select_cb(
      context,
      { _, chosen, chosenLength, offered, offeredLength, _ in
        guard let chosen, let chosenLength, let offered else { return SSL_TLSEXT_ERR_ALERT_FATAL }
        guard let at = TLSServerNames.findHTTP(UnsafeBufferPointer(start: offered, count: Int(offeredLength))) else {
          return SSL_TLSEXT_ERR_ALERT_FATAL
        }
        chosen.pointee = offered + at
        chosenLength.pointee = 8
        return SSL_TLSEXT_ERR_OK
      }, nil)
    SSL_CTX_set_msg_callback(context) { isOutgoing, _, contentType, bytes, count, session, _ in
      guard isOutgoing == 0, contentType == SSL3_RT_HANDSHAKE, count > 0, let bytes, let session else { return }
      if bytes.load(as: UInt8.self) == UInt8(SSL3_MT_KEY_UPDATE) { TLSWire.of(session)?.pointee.countInterruption() }
    }
    SSL_CTX_set_info_callback(context) { session, place, value in
      // A refused renegotiation shows as the warning that OpenSSL answers with.
      guard place & SSL_CB_ALERT != 0, place & SSL_CB_WRITE != 0, value & 255 == SSL_AD_NO_RENEGOTIATION else { return }
      if let session { TLSWire.of(session)?.pointee.countInterruption() }
    }
  }

  /// Where `http/1.1` stands in a client's ALPN list (RFC 7301 §3.1: one length byte before each name).
  static func findHTTP(_ offered: UnsafeBufferPointer<UInt8>) -> Int? {
    let wanted: StaticString = "http/1.1"
    guard let base = offered.baseAddress else { return nil }
    var at = 0
    while at < offered.count {
      let length = Int(offered[at])
      guard at + 1 + length <= offered.count else { return nil }
      if length == 8, memcmp(base + at + 1, wanted.utf8Start, 8) == 0 { return at + 1 }
      at += 1 + length
    }
    return nil
  }
}
