import CLinux
import Glibc

/// The sockets that listen on one address: for TCP one a loop, spread by the kernel (SO_REUSEPORT); for a unix socket
/// one that the loops share. Owns the descriptors and the socket file; both go when the last holder lets go.
package final class ListenerGroup: Sendable {
  /// The address as bound: port 0 has been replaced by the port the system picked.
  package let address: ListenerAddress
  /// TLS for every connection of this address, or nil.
  package let tls: TLSContextSlot?
  private let descriptors: [Int32]
  private let socketFile: SocketFile?

  private struct SocketFile: Sendable {
    let path: String
    let device: UInt64
    let inode: UInt64
  }

  /// Binds and listens.
  /// - Parameters:
  ///   - loops: how many loops will accept from it; at least 1.
  ///   - backlog: connections the kernel keeps waiting for each socket.
  package init(
    opening address: ListenerAddress, loops: Int, backlog: Int32 = 4096, tls: TLSContextSlot? = nil
  ) throws(ListenFailure) {
    precondition(loops > 0, "an address is listened on by at least one loop")
    self.tls = tls
    switch address {
    case .tcp(let host, let port):
      var open: [Int32] = []
      var bound = port
      do throws(ListenFailure) {
        if port != 0 { System.close(try Self.bind(host, port, address, shared: false)) }
        for _ in 0..<loops {
          let descriptor = try Self.bind(host, bound, address, shared: true)
          open.append(descriptor)
          if bound == 0 { bound = Self.port(of: descriptor) }
          guard listen(descriptor, backlog) == 0 else { throw Self.failure(errno, address) }
        }
      } catch {
        for descriptor in open { System.close(descriptor) }
        throw error
      }
      self.address = .tcp(host: host, port: bound)
      descriptors = open
      socketFile = nil
    case .unix(let path):
      let descriptor = try Self.bindUnix(path, backlog, address)
      var status = stat()
      let found = lstat(path, &status) == 0
      socketFile = found ? SocketFile(path: path, device: UInt64(status.st_dev), inode: UInt64(status.st_ino)) : nil
      self.address = address
      descriptors = [descriptor]
    }
  }

  deinit {
    for descriptor in descriptors { System.close(descriptor) }
    // Only the file this group made: another process may have put its own there since.
    guard let file = socketFile else { return }
    var status = stat()
    if lstat(file.path, &status) == 0, UInt64(status.st_dev) == file.device, UInt64(status.st_ino) == file.inode {
      unlink(file.path)
    }
  }

  /// The socket that loop number `loop` (from 0) accepts from.
  func descriptor(forLoop loop: Int) -> Int32 { isShared ? descriptors[0] : descriptors[loop] }

  /// Several loops wait on the same socket.
  var isShared: Bool {
    if case .unix = address { return true }
    return false
  }

  /// `shared: false` proves that nobody listens: SO_REUSEPORT alone would silently join another process of this user.
  private static func bind(
    _ host: String, _ port: UInt16, _ address: ListenerAddress, shared: Bool
  ) throws(ListenFailure) -> Int32 {
    guard var socketAddress = SocketAddress(host: host, port: port) else {
      throw .notAnAddress(address.description)
    }
    let descriptor = socket(socketAddress.family, clinux_SOCK_STREAM, 0)
    guard descriptor >= 0 else { throw failure(errno, address) }
    _ = System.setOption(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
    if shared { _ = System.setOption(descriptor, SOL_SOCKET, SO_REUSEPORT, 1) }
    // Accepted sockets inherit it, which saves a call for each.
    _ = System.setOption(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    if socketAddress.family == AF_INET6 {
      _ = System.setOption(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, host == "::" ? 0 : 1)
    }
    guard socketAddress.withPointer({ Glibc.bind(descriptor, $0, $1) }) == 0 else {
      let code = errno
      System.close(descriptor)
      throw failure(code, address)
    }
    return descriptor
  }

  private static func bindUnix(
    _ path: String, _ backlog: Int32, _ address: ListenerAddress
  ) throws(ListenFailure) -> Int32 {
    guard var socketAddress = SocketAddress(path: path) else { throw .pathTooLong(path) }
    var status = stat()
    if lstat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path) }
      let probe = socket(AF_UNIX, clinux_SOCK_STREAM, 0)
      guard probe >= 0 else { throw failure(errno, address) }
      let answer = socketAddress.withPointer { connect(probe, $0, $1) }
      let code = errno
      System.close(probe)
      // A stale file refuses; a full backlog (EAGAIN) or success means that somebody is there.
      guard answer != 0, code == ECONNREFUSED else { throw .inUse(address) }
      unlink(path)
    }
    let descriptor = socket(AF_UNIX, clinux_SOCK_STREAM, 0)
    guard descriptor >= 0 else { throw failure(errno, address) }
    // Owner-only from the first moment (S12): the mode of the socket's inode becomes that of the file.
    fchmod(descriptor, 0o600)
    guard socketAddress.withPointer({ Glibc.bind(descriptor, $0, $1) }) == 0 else {
      let code = errno
      System.close(descriptor)
      throw failure(code, address)
    }
    guard chmod(path, 0o600) == 0, listen(descriptor, backlog) == 0 else {
      let code = errno
      System.close(descriptor)
      unlink(path)
      throw failure(code, address)
    }
    return descriptor
  }

  private static func port(of descriptor: Int32) -> UInt16 {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let status = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    precondition(status == 0, "a bound socket has no name: errno \(errno)")
    return PeerAddress(&storage).port
  }

  private static func failure(_ code: Int32, _ address: ListenerAddress) -> ListenFailure {
    switch code {
    case EADDRINUSE: return .inUse(address)
    case EACCES, EPERM: return .notPermitted(address)
    case EADDRNOTAVAIL: return .notOurs(address)
    default: return .refused(address, reason: System.describe(code))
    }
  }
}
