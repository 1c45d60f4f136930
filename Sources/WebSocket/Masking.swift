/// Masking and unmasking, which are the same (RFC 6455 §5.3).
enum Masking {
  /// XORs in place, eight octets at a time.
  /// - Parameters:
  ///   - key: the four octets as they stand on the wire, loaded natively.
  ///   - offset: the position of the first octet in its frame's payload.
  @_noLocks @_noAllocation
  static func apply(_ key: UInt32, to bytes: UnsafeMutableRawBufferPointer, offset: Int) {
    guard let base = bytes.baseAddress else { return }
    let turned = rotate(key, by: offset & 3)
    let wide = UInt64(turned) | UInt64(turned) << 32
    let count = bytes.count
    var at = 0
    while count &- at >= 8 {
      let word = base.loadUnaligned(fromByteOffset: at, as: UInt64.self)
      base.storeBytes(of: word ^ wide, toByteOffset: at, as: UInt64.self)
      at &+= 8
    }
    var rest = wide
    while at < count {
      let byte = base.load(fromByteOffset: at, as: UInt8.self)
      base.storeBytes(of: byte ^ UInt8(truncatingIfNeeded: rest), toByteOffset: at, as: UInt8.self)
      rest >>= 8
      at &+= 1
    }
  }

  /// The key as it lies when the payload begins in its middle. The first octet is the lowest: hosts are little-endian.
  @_noLocks @_noAllocation
  private static func rotate(_ key: UInt32, by octets: Int) -> UInt32 {
    let little = UInt32(littleEndian: key)
    let bits = UInt32(truncatingIfNeeded: octets &* 8)
    return bits == 0 ? little : little >> bits | little << (32 &- bits)
  }
}
