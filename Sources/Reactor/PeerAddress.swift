import CLinux
import Glibc

/// Where a connection comes from, without heap storage. An IPv4 address mapped into IPv6 is kept as IPv4.
package struct PeerAddress: Hashable, Sendable, CustomStringConvertible {
  package enum Family: UInt8, Sendable { case ipv4, ipv6, unix }

  package let family: Family
  /// The first and last eight bytes of an IPv6 address in host order; an IPv4 address fills the low 32 bits of `low`.
  package let high: UInt64
  package let low: UInt64
  /// Zero for a unix socket.
  package let port: UInt16

  package init(family: Family, high: UInt64, low: UInt64, port: UInt16) {
    self.family = family
    self.high = high
    self.low = low
    self.port = port
  }

  /// A client of a unix socket: it has no address.
  package static let unix = PeerAddress(family: .unix, high: 0, low: 0, port: 0)

  init(_ storage: inout sockaddr_storage) {
    switch Int32(storage.ss_family) {
    case AF_INET:
      let address = withUnsafeBytes(of: &storage) { $0.loadUnaligned(as: sockaddr_in.self) }
      self.init(
        family: .ipv4, high: 0, low: UInt64(UInt32(bigEndian: address.sin_addr.s_addr)),
        port: UInt16(bigEndian: address.sin_port))
    case AF_INET6:
      let address = withUnsafeBytes(of: &storage) { $0.loadUnaligned(as: sockaddr_in6.self) }
      let (high, low) = withUnsafeBytes(of: address.sin6_addr) {
        (
          UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
          UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
      }
      let port = UInt16(bigEndian: address.sin6_port)
      if high == 0, low >> 32 == 0xFFFF {
        self.init(family: .ipv4, high: 0, low: low & 0xFFFF_FFFF, port: port)
      } else {
        self.init(family: .ipv6, high: high, low: low, port: port)
      }
    default:
      self = .unix
    }
  }

  /// What admission limits count by: an IPv4 address, or the /64 network of an IPv6 address.
  package var networkKey: UInt64 { family == .ipv6 ? high : low }

  /// The address without the port: `127.0.0.1`, `2001:db8::1`, `unix`.
  package var host: String {
    switch family {
    case .unix: return "unix"
    case .ipv4:
      return "\(low >> 24 & 255).\(low >> 16 & 255).\(low >> 8 & 255).\(low & 255)"
    case .ipv6:
      var bytes = (high.bigEndian, low.bigEndian)
      var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
      guard inet_ntop(AF_INET6, &bytes, &text, socklen_t(text.count)) != nil else { return "?" }
      return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }

  package var description: String {
    switch family {
    case .unix: return "unix"
    case .ipv4: return "\(host):\(port)"
    case .ipv6: return "[\(host)]:\(port)"
    }
  }
}
