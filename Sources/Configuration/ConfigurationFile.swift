internal import Glibc

/// The one file that this room reads.
package enum ConfigurationFile {
  package struct Failure: Error, Equatable {
    /// The system's words, `No such file or directory`.
    package let reason: String
    package init(reason: String) { self.reason = reason }
  }

  /// The whole file at `path`, at most one byte more than `YAMLDocument` accepts, so that it can say so.
  package static func read(_ path: String) -> Result<[UInt8], Failure> {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return .failure(Failure(reason: String(cString: strerror(errno)))) }
    defer { close(descriptor) }
    let most = YAMLDocument.largestFileBytes + 1
    var bytes: [UInt8] = []
    while bytes.count < most {
      var failed: Int32 = 0
      let chunk = [UInt8](unsafeUninitializedCapacity: min(16_384, most - bytes.count)) { buffer, count in
        let got = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        if got < 0 { failed = errno }
        count = max(got, 0)
      }
      if failed == EINTR { continue }
      guard failed == 0 else { return .failure(Failure(reason: String(cString: strerror(failed)))) }
      if chunk.isEmpty { break }
      bytes += chunk
    }
    return .success(bytes)
  }
}
