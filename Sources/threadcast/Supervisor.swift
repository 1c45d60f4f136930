import Glibc

/// Whoever started the process and wants to know when it is ready: systemd with `Type=notify` (sd_notify(3)).
enum Supervisor {
  /// Sends one state, `READY=1`, as a datagram to the socket that `NOTIFY_SOCKET` names. Without that variable nobody
  /// asked; a socket that does not take it is no reason not to serve.
  static func notify(_ state: String) {
    guard let value = getenv("NOTIFY_SOCKET") else { return }
    let path = Array(String(cString: value).utf8)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // An abstract name begins with @ here and with a NUL for the kernel.
    let isAbstract = path.first == UInt8(ascii: "@")
    guard isAbstract || path.first == UInt8(ascii: "/"), path.count < MemoryLayout.size(ofValue: address.sun_path)
    else {
      return
    }
    withUnsafeMutableBytes(of: &address.sun_path) { room in
      room.copyBytes(from: path)
      if isAbstract { room[0] = 0 }
    }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
    let bytes = Array(state.utf8)
    withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        _ = sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), generic, length)
      }
    }
  }
}
