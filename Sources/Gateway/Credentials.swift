import Chat
import Crypto

/// The secrets the gateway makes: recognisable by prefix, 256 random bits, known to the store by digest only (A1, A2).
package enum Secret {
  /// `tc_` and 43 characters of base64url.
  package static func mintToken() -> String { "tc_" + Base64URL.encode(randomBytes(32)) }

  /// `tk_` and 43 characters of base64url.
  package static func mintKey() -> String { "tk_" + Base64URL.encode(randomBytes(32)) }

  /// What the store keeps of a token or key.
  package static func digest(_ secret: String) -> [UInt8] {
    var secret = secret
    return secret.withUTF8 { SHA256.digest(UnsafeRawBufferPointer($0)) }
  }
}

/// A random id of 128 bits for sessions and nodes.
enum RandomID {
  static func make() -> String { Base64URL.encode(randomBytes(16)) }
}
