/// Why a certificate cannot be served; `description` is the one sentence for the operator (S6).
package enum TLSFailure: Error, Equatable, Sendable, CustomStringConvertible {
  case certificateUnreadable(path: String, reason: String)
  /// The file holds no PEM certificate chain.
  case certificateInvalid(path: String)
  case keyUnreadable(path: String, reason: String)
  /// The file holds no PEM private key, or one locked by a pass phrase.
  case keyInvalid(path: String)
  /// The key is not the one the certificate was made for.
  case mismatch(certificate: String, key: String)
  /// Neither a host name nor `*.` before one.
  case serverNameInvalid(String)

  package var description: String {
    switch self {
    case .certificateUnreadable(let path, let reason): return "the certificate \(path) cannot be read: \(reason)"
    case .certificateInvalid(let path): return "\(path) holds no PEM certificate"
    case .keyUnreadable(let path, let reason): return "the private key \(path) cannot be read: \(reason)"
    case .keyInvalid(let path): return "\(path) holds no PEM private key, or one locked by a pass phrase"
    case .mismatch(let certificate, let key): return "the private key \(key) does not belong to \(certificate)"
    case .serverNameInvalid(let name): return "\"\(name)\" is not a server name: write a host name or *.DOMAIN"
    }
  }
}
