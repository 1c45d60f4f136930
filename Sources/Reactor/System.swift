import CLinux
import Glibc

/// System calls, each bound once: EINTR is retried here, EBADF and EFAULT (our own mistakes) trap here, everything else
/// comes back as a negative errno.
enum System {
  @inline(__always)
  private static func retrying(_ name: StaticString, _ body: () -> Int) -> Int {
    while true {
      let result = body()
      if result >= 0 { return result }
      let code = errno
      if code == EINTR { continue }
      precondition(code != EBADF, "\(name) was called with a descriptor that is not open")
      precondition(code != EFAULT, "\(name) was called with an address that is not ours")
      return -Int(code)
    }
  }

  static func receive(_ socket: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    retrying("recv") { recv(socket, buffer, count, 0) }
  }

  /// A peer that went away must not raise SIGPIPE (C030).
  static func send(_ socket: Int32, _ buffer: UnsafeRawPointer, _ count: Int) -> Int {
    retrying("send") { Glibc.send(socket, buffer, count, clinux_MSG_NOSIGNAL) }
  }

  /// Gathers up to IOV_MAX slices into one segment stream (C030: no SIGPIPE). A single slice, which is what a fan-out
  /// writes, goes through `send`: the kernel copies no header and no vector for it.
  static func send(_ socket: Int32, _ slices: UnsafeBufferPointer<iovec>) -> Int {
    guard let base = slices.baseAddress else { return 0 }
    if slices.count == 1, let bytes = base.pointee.iov_base { return send(socket, bytes, base.pointee.iov_len) }
    var message = msghdr()
    message.msg_iov = UnsafeMutablePointer(mutating: base)
    message.msg_iovlen = slices.count
    return retrying("sendmsg") { sendmsg(socket, &message, clinux_MSG_NOSIGNAL) }
  }

  static func accept(_ listener: Int32, _ address: inout sockaddr_storage) -> Int {
    retrying("accept4") {
      var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
      return Int(clinux_accept(listener, &address, &length))
    }
  }

  static func shutdownWriting(_ socket: Int32) -> Int {
    retrying("shutdown") { Int(shutdown(socket, Int32(SHUT_WR))) }
  }

  /// Linux frees the descriptor even when close is interrupted, so it is never retried.
  static func close(_ descriptor: Int32) {
    if Glibc.close(descriptor) < 0 {
      precondition(errno != EBADF, "a descriptor was closed twice")
    }
  }

  static func setOption(_ socket: Int32, _ level: Int32, _ name: Int32, _ value: Int32) -> Int {
    retrying("setsockopt") {
      var value = value
      return Int(setsockopt(socket, level, name, &value, socklen_t(MemoryLayout<Int32>.size)))
    }
  }

  /// The error a socket has stored, and forgets by telling.
  static func pendingError(_ socket: Int32) -> Int32 {
    var code: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    let status = retrying("getsockopt") { Int(getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &length)) }
    return status < 0 ? Int32(-status) : code
  }

  /// Closing this socket will reset it: unsent bytes of a stalled peer are dropped at once.
  static func resetOnClose(_ socket: Int32) {
    var option = linger(l_onoff: 1, l_linger: 0)
    _ = retrying("setsockopt") {
      Int(setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size)))
    }
  }

  static func makeEpoll() -> Int32 {
    let descriptor = epoll_create1(Int32(O_CLOEXEC))
    precondition(descriptor >= 0, "an epoll set could not be made: errno \(errno)")
    return descriptor
  }

  static func epollControl(_ set: Int32, _ operation: Int32, _ descriptor: Int32, events: UInt32, data: UInt64) {
    var event = epoll_event()
    event.events = events
    event.data.u64 = data
    let status = retrying("epoll_ctl") { Int(epoll_ctl(set, operation, descriptor, &event)) }
    precondition(status >= 0, "an epoll set could not be changed: errno \(-status)")
  }

  /// - Parameter nanoseconds: how long to sleep at most; nil is for ever. A kernel without epoll_pwait2 (before 5.11)
  ///   sleeps whole milliseconds, rounded up.
  static func epollWait(
    _ set: Int32, _ events: UnsafeMutableBufferPointer<epoll_event>, nanoseconds: UInt64?
  ) -> Int {
    let timeout = nanoseconds.map { Int64(clamping: $0) } ?? -1
    let count = clinux_epoll_wait(set, events.baseAddress, Int32(events.count), timeout)
    if count >= 0 { return Int(count) }
    precondition(errno == EINTR, "an epoll set could not be waited for: errno \(errno)")
    return 0
  }

  static func describe(_ code: Int32) -> String { String(cString: strerror(code)) }
}
