import COpenSSL
import Glibc
import Workers

/// A certificate chain and its private key, as PEM files.
package struct TLSIdentity: Equatable, Sendable {
  package var certificatePath: String
  package var keyPath: String

  package init(certificatePath: String, keyPath: String) {
    self.certificatePath = certificatePath
    self.keyPath = keyPath
  }
}

/// An identity for one server name: an exact host name, or `*.` for one label before a domain (RFC 6125 §6.4.3).
package struct TLSNamedIdentity: Equatable, Sendable {
  package var serverName: String
  package var identity: TLSIdentity

  package init(serverName: String, identity: TLSIdentity) {
    self.serverName = serverName
    self.identity = identity
  }
}

/// Everything new TLS sessions of one address share: TLS 1.2 and 1.3, ALPN `http/1.1`, certificates by server name,
/// stateless resumption tickets. Immutable, so loops share it; a reload makes another one (`TLSContextSlot`).
package final class TLSContext: Sendable {
  private let names: TLSServerNames

  /// Reads the files and prepares the contexts.
  package init(_ identity: TLSIdentity, named: [TLSNamedIdentity] = []) throws(TLSFailure) {
    names = try TLSServerNames(identity, named)
    copenssl_set_server_name_callback(
      names.fallback,
      { session, _, argument in
        guard let session, let argument else { return SSL_TLSEXT_ERR_NOACK }
        guard let name = SSL_get_servername(session, TLSEXT_NAMETYPE_host_name) else { return SSL_TLSEXT_ERR_NOACK }
        let names = Unmanaged<TLSServerNames>.fromOpaque(argument).takeUnretainedValue()
        guard let context = names.context(for: String(cString: name)) else { return SSL_TLSEXT_ERR_NOACK }
        return SSL_set_SSL_CTX(session, context) == nil ? SSL_TLSEXT_ERR_ALERT_FATAL : SSL_TLSEXT_ERR_OK
      }, Unmanaged.passUnretained(names).toOpaque())
  }

  /// The context a session starts with; server names switch away from it.
  var pointer: OpaquePointer { names.fallback }

  /// Whole days until the main certificate expires, negative when it has (S9).
  package func certificateDaysLeft() -> Int? {
    guard let certificate = SSL_CTX_get0_certificate(names.fallback) else { return nil }
    var days: Int32 = 0
    var seconds: Int32 = 0
    guard ASN1_TIME_diff(&days, &seconds, nil, X509_get0_notAfter(certificate)) == 1 else { return nil }
    return Int(days)
  }
}

/// The context that new connections use; `replace` is the whole of a reload (S7). Living sessions keep theirs.
package final class TLSContextSlot: Sendable {
  private let guarded: Guarded<TLSContext>

  package init(_ context: TLSContext) { guarded = Guarded(context) }

  package var current: TLSContext { guarded.withLock { $0 } }

  package func replace(with context: TLSContext) { guarded.withLock { $0 = context } }
}
