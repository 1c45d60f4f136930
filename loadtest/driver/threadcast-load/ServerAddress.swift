import CLinux
import Glibc
import LoadModel

/// Where to connect to, looked up once.
struct ServerAddress {
  private var storage = sockaddr_storage()
  private var length: socklen_t = 0
  let family: Int32
  /// 127.0.0.0/8: connections can come from many addresses.
  let isLoopback: Bool

  init(_ target: Target) throws(LoadFailure) {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(target.host, "\(target.port)", &hints, &found)
    guard status == 0, let first = found else {
      throw LoadFailure("cannot find \(target.host): \(String(cString: gai_strerror(status)))")
    }
    defer { freeaddrinfo(found) }
    // localhost may be both; the first IPv4 address lets sources vary.
    var chosen = first
    var entry: UnsafeMutablePointer<addrinfo>? = first
    while let candidate = entry {
      if candidate.pointee.ai_family == AF_INET {
        chosen = candidate
        break
      }
      entry = candidate.pointee.ai_next
    }
    family = chosen.pointee.ai_family
    length = chosen.pointee.ai_addrlen
    var copy = sockaddr_storage()
    let entryLength = Int(chosen.pointee.ai_addrlen)
    let isIPv4 = chosen.pointee.ai_family == AF_INET
    var isLoopback = false
    withUnsafeMutableBytes(of: &copy) { bytes in
      guard let address = chosen.pointee.ai_addr else { return }
      bytes.copyMemory(from: UnsafeRawBufferPointer(start: address, count: entryLength))
      // sockaddr_in: family, port, then the address in network order.
      isLoopback = isIPv4 && bytes[4] == 127
    }
    storage = copy
    self.isLoopback = isLoopback
  }

  /// A connecting socket.
  /// - Parameters:
  ///   - source: the last byte of a 127.0.0.x to connect from; nil lets the kernel choose.
  ///   - receiveBufferBytes: of the socket; nil leaves it to the kernel.
  ///   - isBlocking: waits for the connection, at most 10 s here and for each read and write later.
  func connect(source: UInt8? = nil, receiveBufferBytes: Int32? = nil, isBlocking: Bool = false) throws(LoadFailure)
    -> Int32
  {
    let kind = isBlocking ? Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) : clinux_SOCK_STREAM
    let descriptor = socket(family, kind, 0)
    guard descriptor >= 0 else { throw LoadFailure("cannot open a socket", errno: errno) }
    set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    if let receiveBufferBytes { set(descriptor, SOL_SOCKET, SO_RCVBUF, receiveBufferBytes) }
    if isBlocking {
      var patience = timeval(tv_sec: 10, tv_usec: 0)
      for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
        setsockopt(descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
      }
    }
    if let source, isLoopback { bind(descriptor, from: source) }
    var target = storage
    let status = withUnsafePointer(to: &target) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(descriptor, $0, length) }
    }
    guard status == 0 || errno == EINPROGRESS else {
      let code = errno
      close(descriptor)
      throw LoadFailure("cannot connect", errno: code)
    }
    return descriptor
  }

  /// Binds to 127.0.0.x; the port is chosen on connecting, so that one port serves several destinations.
  private func bind(_ descriptor: Int32, from source: UInt8) {
    set(descriptor, Int32(IPPROTO_IP), IP_BIND_ADDRESS_NO_PORT, 1)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = (0x7F00_0000 | UInt32(source)).bigEndian
    _ = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  private func set(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Int32) {
    var value = value
    setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
  }
}
