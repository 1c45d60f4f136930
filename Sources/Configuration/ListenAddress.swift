internal import Glibc

/// One place to listen: an address and port, or a socket file.
package enum ListenAddress: Sendable, Hashable, CustomStringConvertible {
  /// `host` is an IPv4 or IPv6 literal without brackets; port 0 lets the system pick one.
  case tcp(host: String, port: UInt16)
  case unix(path: String)

  /// Why a text is no address; made to stand in a `Problem`.
  package struct SyntaxProblem: Error, Equatable {
    let what: String
    let suggestion: String
  }

  /// Reads `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080` (127.0.0.1), `*:8080` (0.0.0.0) or `unix:/run/t.sock`.
  /// Names are not resolved: where a server listens should not depend on DNS.
  package static func parse(_ text: String) -> Result<ListenAddress, SyntaxProblem> {
    func wrong(_ what: String, _ suggestion: String) -> Result<ListenAddress, SyntaxProblem> {
      .failure(SyntaxProblem(what: what, suggestion: suggestion))
    }
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst(5))
      guard !path.isEmpty else { return wrong("has no path", "write unix:/run/threadcast.sock") }
      // sun_path holds 108 bytes with its terminating NUL.
      guard path.utf8.count <= 107, !path.utf8.contains(0) else {
        return wrong("is no usable socket path", "use at most 107 bytes")
      }
      return .success(.unix(path: path))
    }
    guard let colon = text.lastIndex(of: ":") else {
      if UInt16(text) != nil { return wrong("has no address", "write 127.0.0.1:\(text)") }
      return wrong("has no port", "write \(text.isEmpty ? "127.0.0.1" : text):8080")
    }
    let host = String(text[..<colon])
    let digits = text[text.index(after: colon)...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }), let port = UInt16(digits) else {
      return wrong("has no port from 0 to 65535", "write \(host.isEmpty ? "127.0.0.1" : host):8080")
    }
    switch host {
    case "": return wrong("has no address", "write 127.0.0.1:\(port), or 0.0.0.0:\(port) for every interface")
    case "localhost": return .success(.tcp(host: "127.0.0.1", port: port))
    case "*": return .success(.tcp(host: "0.0.0.0", port: port))
    default: break
    }
    if host.hasPrefix("["), host.hasSuffix("]") {
      let literal = String(host.dropFirst().dropLast())
      guard isLiteral(literal, family: AF_INET6) else {
        return wrong("is no IPv6 address", "write [::1]:\(port)")
      }
      return .success(.tcp(host: literal, port: port))
    }
    if host.contains(":") { return wrong("has an IPv6 address without brackets", "write [\(host)]:\(port)") }
    guard isLiteral(host, family: AF_INET) else {
      return wrong("names a host; only address literals can be listened on", "write 127.0.0.1:\(port)")
    }
    return .success(.tcp(host: host, port: port))
  }

  /// Whether only this machine can reach it (S3).
  package var isLoopback: Bool {
    switch self {
    case .unix: true
    case .tcp(let host, _): host.hasPrefix("127.") || Self.isIPv6Loopback(host)
    }
  }

  package var description: String {
    switch self {
    case .unix(let path): "unix:\(path)"
    case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
  }

  private static func isLiteral(_ text: String, family: Int32) -> Bool {
    var address = in6_addr()
    return inet_pton(family, text, &address) == 1
  }

  private static func isIPv6Loopback(_ text: String) -> Bool {
    var address = in6_addr()
    guard inet_pton(AF_INET6, text, &address) == 1 else { return false }
    return withUnsafeBytes(of: &address) { bytes in bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1 }
  }
}
