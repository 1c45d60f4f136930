/// Why an address cannot be listened on; `description` is the one sentence for the operator (S6).
package enum ListenFailure: Error, Equatable, Sendable, CustomStringConvertible {
  /// Neither `ADDRESS:PORT`, `[ADDRESS]:PORT` nor `unix:PATH`.
  case notAnAddress(String)
  /// Somebody else listens there.
  case inUse(ListenerAddress)
  /// The process may not listen there.
  case notPermitted(ListenerAddress)
  /// This machine has no such address.
  case notOurs(ListenerAddress)
  /// The path of a unix socket is longer than the 107 bytes the system can hold.
  case pathTooLong(String)
  /// A file that is not a socket is in the way.
  case notASocket(String)
  /// Anything else the system refused.
  case refused(ListenerAddress, reason: String)

  package var description: String {
    switch self {
    case .notAnAddress(let text):
      return "\"\(text)\" is not a listen address: write ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH"
    case .inUse(.tcp(let host, let port)): return "port \(port) on \(host) is in use"
    case .inUse(.unix(let path)): return "the socket \(path) is in use"
    case .notPermitted(let address): return "listening on \(address) is not permitted"
    case .notOurs(let address): return "this machine has no address to listen on \(address)"
    case .pathTooLong(let path): return "the socket path \(path) is longer than 107 bytes"
    case .notASocket(let path): return "\(path) is in the way and is not a socket"
    case .refused(let address, let reason): return "listening on \(address) failed: \(reason)"
    }
  }
}
