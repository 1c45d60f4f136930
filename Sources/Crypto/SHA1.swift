import COpenSSL

/// SHA-1 (FIPS 180-4). For the handshake's accept key only, which is no secret (RFC 6455 §10.8).
package enum SHA1 {
  /// The 20 bytes of the digest.
  package static func digest(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 20) { buffer, count in
      let status = EVP_Digest(bytes, bytes.count, buffer.baseAddress, nil, EVP_sha1(), nil)
      precondition(status == 1, "libcrypto could not compute SHA-1")
      count = 20
    }
  }
}
