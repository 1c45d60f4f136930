import CLinux
import Glibc

/// Where to listen: a numeric address and port, or the path of a unix socket (S2).
package enum ListenerAddress: Hashable, Sendable, CustomStringConvertible {
  /// `host` is a numeric IPv4 or IPv6 address without brackets; port 0 lets the system pick.
  case tcp(host: String, port: UInt16)
  case unix(path: String)

  /// Reads `127.0.0.1:8080`, `[::1]:0`, `localhost:80`, `*:80` (every address) or `unix:PATH`.
  package init(parsing text: String) throws(ListenFailure) {
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst(5))
      guard !path.isEmpty else { throw .notAnAddress(text) }
      guard path.utf8.count <= 107 else { throw .pathTooLong(path) }
      self = .unix(path: path)
      return
    }
    guard let colon = text.lastIndex(of: ":") else { throw .notAnAddress(text) }
    var host = String(text[..<colon])
    let digits = text[text.index(after: colon)...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }), let port = UInt16(digits) else {
      throw .notAnAddress(text)
    }
    let bracketed = host.hasPrefix("[") && host.hasSuffix("]") && host.utf8.count > 2
    if bracketed { host = String(host.dropFirst().dropLast()) }
    if host == "localhost" { host = "127.0.0.1" }
    if host == "*" { host = "::" }
    guard SocketAddress(host: host, port: port) != nil, bracketed == host.contains(":") || host == "::" else {
      throw .notAnAddress(text)
    }
    self = .tcp(host: host, port: port)
  }

  /// Only programs on this machine can reach it (S3).
  package var isLoopback: Bool {
    switch self {
    case .unix: return true
    case .tcp(let host, _): return host.hasPrefix("127.") || host == "::1"
    }
  }

  package var description: String {
    switch self {
    case .unix(let path): return "unix:\(path)"
    case .tcp(let host, let port): return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
  }
}

/// A numeric address as the system calls want it.
struct SocketAddress {
  var storage = sockaddr_storage()
  let length: socklen_t
  var family: Int32 { Int32(storage.ss_family) }

  init?(host: String, port: UInt16) {
    var four = sockaddr_in()
    if inet_pton(AF_INET, host, &four.sin_addr) == 1 {
      four.sin_family = sa_family_t(AF_INET)
      four.sin_port = port.bigEndian
      length = socklen_t(MemoryLayout<sockaddr_in>.size)
      withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: four, as: sockaddr_in.self) }
      return
    }
    var six = sockaddr_in6()
    guard inet_pton(AF_INET6, host, &six.sin6_addr) == 1 else { return nil }
    six.sin6_family = sa_family_t(AF_INET6)
    six.sin6_port = port.bigEndian
    length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: six, as: sockaddr_in6.self) }
  }

  init?(path: String) {
    var local = sockaddr_un()
    local.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: local.sun_path), !bytes.contains(0) else { return nil }
    withUnsafeMutableBytes(of: &local.sun_path) { $0.copyBytes(from: bytes) }
    length = socklen_t(MemoryLayout<sockaddr_un>.size)
    withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: local, as: sockaddr_un.self) }
  }

  /// Calls `body` with the address as the generic type the system calls take.
  mutating func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    let length = self.length
    return withUnsafePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
    }
  }
}
