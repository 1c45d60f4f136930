import COpenSSL
import Glibc

/// The socket as OpenSSL sees it: the state behind one session's BIO. Writes never raise SIGPIPE (C030), a read after a
/// short one answers "nothing more" without a system call, and a peer that keeps interrupting is cut off (C033).
struct TLSWire {
  /// Interruptions (key updates, refused renegotiations) that cost nothing; beyond them one for each 64 KiB read.
  static let freeInterruptions: UInt64 = 32

  let descriptor: Int32
  /// The last read emptied the socket; the next socket event clears this.
  var isDrained = false
  /// The peer's stream ended.
  var sawEnd = false
  /// The errno that broke the socket, or 0.
  var brokenBy: Int32 = 0
  var interruptions: UInt64 = 0
  /// Application bytes read.
  var bytesRead: UInt64 = 0

  var isAbused: Bool { interruptions > Self.freeInterruptions + bytesRead / 65_536 }

  mutating func countInterruption() { interruptions += 1 }

  static func of(_ session: OpaquePointer) -> UnsafeMutablePointer<TLSWire>? {
    SSL_get_ex_data(session, 0)?.assumingMemoryBound(to: TLSWire.self)
  }

  private static func of(bio: OpaquePointer) -> UnsafeMutablePointer<TLSWire>? {
    BIO_get_data(bio)?.assumingMemoryBound(to: TLSWire.self)
  }

  private static let methodAddress: UInt = {
    guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "loop socket") else {
      preconditionFailure("OpenSSL could not make a BIO method")
    }
    BIO_meth_set_write(method) { bio, bytes, count in
      guard let bio, let bytes, let wire = TLSWire.of(bio: bio) else { return -1 }
      BIO_clear_flags(bio, copenssl_BIO_RETRY_FLAGS)
      if wire.pointee.isAbused { return -1 }
      let result = System.send(wire.pointee.descriptor, bytes, Int(count))
      if result >= 0 { return Int32(result) }
      if -result == Int(EAGAIN) {
        BIO_set_flags(bio, BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY)
      } else {
        wire.pointee.brokenBy = Int32(-result)
      }
      return -1
    }
    BIO_meth_set_read(method) { bio, bytes, count in
      guard let bio, let bytes, let wire = TLSWire.of(bio: bio) else { return -1 }
      BIO_clear_flags(bio, copenssl_BIO_RETRY_FLAGS)
      if wire.pointee.isAbused { return -1 }
      if wire.pointee.isDrained {
        BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
        return -1
      }
      let result = System.receive(wire.pointee.descriptor, bytes, Int(count))
      if result > 0 {
        wire.pointee.isDrained = result < Int(count)
        return Int32(result)
      }
      if result == 0 {
        wire.pointee.sawEnd = true
        return 0
      }
      if -result == Int(EAGAIN) {
        wire.pointee.isDrained = true
        BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
      } else {
        wire.pointee.brokenBy = Int32(-result)
      }
      return -1
    }
    BIO_meth_set_ctrl(method) { bio, command, _, _ in
      switch command {
      case BIO_CTRL_FLUSH: return 1
      case BIO_CTRL_EOF: return bio.flatMap { TLSWire.of(bio: $0) }?.pointee.sawEnd == true ? 1 : 0
      default: return 0
      }
    }
    return UInt(bitPattern: method)
  }()

  /// A BIO over the wire; the session it is given to owns it, and the wire must outlive both.
  static func makeBIO(_ wire: UnsafeMutablePointer<TLSWire>) -> OpaquePointer {
    guard let bio = BIO_new(OpaquePointer(bitPattern: methodAddress)) else {
      preconditionFailure("OpenSSL could not make a BIO")
    }
    BIO_set_data(bio, wire)
    BIO_set_init(bio, 1)
    return bio
  }
}
