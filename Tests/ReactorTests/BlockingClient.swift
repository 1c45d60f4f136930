import CLinux
import Glibc

/// The world broke a test's client.
struct ClientFailure: Error, CustomStringConvertible {
  let description: String

  init(_ what: String) { description = "\(what): errno \(errno)" }
}

/// A plain blocking socket: an independent peer that knows nothing of the reactor. Every wait ends after ten seconds.
final class BlockingClient {
  let descriptor: Int32
  private var isOpen = true

  init(port: UInt16, receiveBufferBytes: Int32? = nil) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw ClientFailure("socket") }
    if var bytes = receiveBufferBytes {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
    }
    limitWaiting()
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { throw ClientFailure("connect") }
  }

  init(unixPath path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw ClientFailure("socket") }
    limitWaiting()
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard status == 0 else { throw ClientFailure("connect") }
  }

  deinit { close() }

  private func limitWaiting() {
    var limit = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { all in
        all.baseAddress.map { Glibc.send(descriptor, $0 + sent, all.count - sent, clinux_MSG_NOSIGNAL) } ?? 0
      }
      guard count > 0 else { throw ClientFailure("send") }
      sent += count
    }
  }

  /// At most `limit` bytes; empty at the end of the stream.
  func receive(atMost limit: Int = 65_536) throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: limit)
    let count = recv(descriptor, &buffer, limit, 0)
    guard count >= 0 else { throw ClientFailure("recv") }
    return Array(buffer[..<count])
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

  func endWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

  func reset() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    close()
  }

  func close() {
    if isOpen { Glibc.close(descriptor) }
    isOpen = false
  }
}

/// Bytes whose order shows: each four are their own position.
func numbered(_ count: Int) -> [UInt8] {
  var bytes: [UInt8] = []
  bytes.reserveCapacity(count + 4)
  var word: UInt32 = 0
  while bytes.count < count {
    withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
    word += 1
  }
  return Array(bytes[..<count])
}
