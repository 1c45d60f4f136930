import COpenSSL

/// Unpredictable bytes from libcrypto's generator. Without randomness no secret is one, so failure ends the process.
package func randomBytes(_ count: Int) -> [UInt8] {
  precondition(count >= 0 && count <= Int(Int32.max), "a number of random bytes lies between 0 and 2^31 - 1")
  return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
    let status = count == 0 ? 1 : RAND_bytes(buffer.baseAddress, Int32(count))
    guard status == 1 else { fatalError("the system gives no random bytes; nothing can be kept secret without them") }
    filled = count
  }
}

/// Whether two secrets are equal; the time taken tells only their lengths.
package func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
  guard left.count == right.count else { return false }
  return CRYPTO_memcmp(left, right, left.count) == 0
}
