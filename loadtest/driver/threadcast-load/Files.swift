import Glibc

/// Whole files and streams, at most 1 MiB of each.
enum Files {
  private static let limitBytes = 1 << 20

  static func read(_ path: String) throws(LoadFailure) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw LoadFailure("cannot read \(path)", errno: errno) }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: limitBytes + 1)
    var count = 0
    while count < bytes.count {
      let got = bytes.withUnsafeMutableBytes {
        Glibc.read(descriptor, $0.baseAddress?.advanced(by: count), $0.count - count)
      }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { throw LoadFailure("cannot read \(path)", errno: errno) }
      if got == 0 { break }
      count += got
    }
    guard count <= limitBytes else { throw LoadFailure("\(path) is above 1 MiB") }
    return Array(bytes.prefix(count))
  }

  static func write(_ bytes: [UInt8], path: String) throws(LoadFailure) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw LoadFailure("cannot write \(path)", errno: errno) }
    defer { close(descriptor) }
    guard write(bytes + [UInt8(ascii: "\n")], descriptor) else {
      throw LoadFailure("cannot write \(path)", errno: errno)
    }
  }

  /// Nobody reads: there is nowhere to complain.
  static func write(_ text: String, to descriptor: Int32) { _ = write(Array(text.utf8), descriptor) }

  private static func write(_ bytes: [UInt8], _ descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}
