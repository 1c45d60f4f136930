import COpenSSL

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
  package static let byteCount = 32

  /// The 32 bytes of the digest.
  package static func digest(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
      let status = EVP_Digest(bytes.baseAddress, bytes.count, buffer.baseAddress, nil, EVP_sha256(), nil)
      precondition(status == 1, "libcrypto could not compute SHA-256")
      count = byteCount
    }
  }

  /// The 32 bytes of the digest.
  package static func digest(_ bytes: [UInt8]) -> [UInt8] { bytes.withUnsafeBytes { digest($0) } }
}
