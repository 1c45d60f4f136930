import CZlib

/// zlib could not make a state: there is no memory.
package struct DeflateFailure: Error, Sendable {}

/// Compresses messages (RFC 7692 §7.2.1). Without context takeover one serves every connection of its thread.
package final class Deflater {
  /// At one address for life: zlib keeps a pointer back to it.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private let keepsContext: Bool

  /// - Parameters:
  ///   - windowBits: 8–15. zlib makes no raw deflate of 8 bits: then Huffman coding alone is used, whose output has no
  ///     back-references and so fits any window.
  ///   - level: zlib's, 1 (fast) to 9.
  package init(windowBits: Int, keepsContext: Bool = false, level: Int32 = 1) throws(DeflateFailure) {
    precondition((8...15).contains(windowBits), "a deflate window has 8 to 15 bits")
    self.keepsContext = keepsContext
    stream.initialize(to: z_stream())
    let strategy = windowBits == 8 ? Z_HUFFMAN_ONLY : Z_DEFAULT_STRATEGY
    let status = deflateInit2_(
      stream, level, Z_DEFLATED, -Int32(max(windowBits, 9)), 8, strategy, ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size))
    guard status == Z_OK else {
      stream.deallocate()
      throw DeflateFailure()
    }
  }

  deinit {
    deflateEnd(stream)
    stream.deallocate()
  }

  /// Appends the compressed message, without the tail that every message would end with (§7.2.1).
  /// - Precondition: less than 4 GiB.
  package func compress(_ bytes: UnsafeRawBufferPointer, into target: inout [UInt8]) {
    precondition(bytes.count <= Int(UInt32.max), "a message is below 4 GiB")
    guard !bytes.isEmpty else {
      // §7.2.3.6. zlib has nothing to flush when nothing came since its last flush, and the window stays as it is.
      target.append(0)
      return
    }
    stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
    stream.pointee.avail_in = UInt32(bytes.count)
    let start = target.count
    var produced = 0
    // With the flush's own block this is one round; zlib promises its bound for other ends than a flush.
    let room = Int(deflateBound(stream, UInt(bytes.count))) + 16
    repeat {
      target.append(contentsOf: repeatElement(0, count: room))
      target.withUnsafeMutableBufferPointer { buffer in
        stream.pointee.next_out = buffer.baseAddress?.advanced(by: start + produced)
        stream.pointee.avail_out = UInt32(room)
        let status = deflate(stream, Z_SYNC_FLUSH)
        precondition(status == Z_OK || status == Z_BUF_ERROR, "deflate is called in its order")
        produced += room - Int(stream.pointee.avail_out)
      }
    } while stream.pointee.avail_out == 0
    // 00 00 FF FF: the empty stored block of the flush.
    precondition(produced >= 4, "a flush ends with an empty block")
    target.removeLast(target.count - start - produced + 4)
    if !keepsContext { deflateReset(stream) }
  }
}
