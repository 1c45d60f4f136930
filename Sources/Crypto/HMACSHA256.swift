import COpenSSL

/// HMAC with SHA-256 (RFC 2104).
package enum HMACSHA256 {
  /// The 32-byte authentication code of `message` under `key`; both may have any length.
  package static func code(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
    // A null key would mean "the previous key" to libcrypto.
    let keyBytes = key.isEmpty ? [0] : key
    return [UInt8](unsafeUninitializedCapacity: SHA256.byteCount) { buffer, count in
      let code = HMAC(
        EVP_sha256(), keyBytes, Int32(key.count), message, message.count, buffer.baseAddress, nil)
      precondition(code != nil, "libcrypto could not compute HMAC-SHA-256")
      count = SHA256.byteCount
    }
  }

  /// Whether `code` authenticates `message`, in constant time.
  package static func isValid(_ code: [UInt8], for message: [UInt8], key: [UInt8]) -> Bool {
    constantTimeEqual(code, self.code(message, key: key))
  }
}
