internal import COpenSSL

/// A SHA-256 that is fed piece by piece: what identifies content (`domain.md` M7) and stored secrets (`protocol.md` A1).
package struct ContentDigest: ~Copyable {
  package static let byteCount = 32

  private let context: OpaquePointer

  package init() {
    guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
      preconditionFailure("libcrypto has no SHA-256 or no memory for it")
    }
    self.context = context
  }

  deinit { EVP_MD_CTX_free(context) }

  package mutating func update(_ bytes: [UInt8]) {
    let accepted = bytes.withUnsafeBytes { EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
    precondition(accepted == 1, "libcrypto refused bytes of a SHA-256")
  }

  /// The 32 bytes of the digest of everything that was fed.
  package consuming func finish() -> [UInt8] {
    var length: UInt32 = 0
    let digest = [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
      let finished = EVP_DigestFinal_ex(context, buffer.baseAddress, &length)
      precondition(finished == 1, "libcrypto could not finish a SHA-256")
      count = Int(length)
    }
    return digest
  }

  /// The digest of `bytes` alone.
  package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var digest = ContentDigest()
    digest.update(bytes)
    return digest.finish()
  }
}
