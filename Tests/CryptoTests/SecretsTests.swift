import Crypto
import Testing

private func hex(_ bytes: [UInt8]) -> String {
  bytes.map { byte in
    let digits = String(byte, radix: 16)
    return digits.count == 1 ? "0" + digits : digits
  }.joined()
}

@Suite("Hashes and secrets")
struct SecretsTests {
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func FIPS180_digests(_ text: String, _ digest: String) {
    #expect(hex(SHA256.digest(Array(text.utf8))) == digest)
  }

  @Test(arguments: [
    (
      [UInt8](repeating: 0x0B, count: 20), "Hi There",
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), "what do ya want for nothing?",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
    ([], "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
  ])
  func RFC4231_codes(_ key: [UInt8], _ message: String, _ code: String) {
    let made = HMACSHA256.code(Array(message.utf8), key: key)
    #expect(hex(made) == code)
    #expect(HMACSHA256.isValid(made, for: Array(message.utf8), key: key))
    #expect(!HMACSHA256.isValid(made, for: Array(message.utf8) + [0], key: key))
    #expect(!HMACSHA256.isValid(Array(made.dropLast()), for: Array(message.utf8), key: key))
  }

  @Test func randomBytesDiffer() {
    #expect(randomBytes(0) == [])
    #expect(randomBytes(33).count == 33)
    #expect(randomBytes(16) != randomBytes(16))
  }

  @Test(
    arguments: [
      ([], [], true), ([1], [1], true), ([1], [2], false), ([1, 2], [1], false), ([1, 2, 3], [1, 2, 3], true),
      ([0x80, 2, 3], [0, 2, 3], false), ([], [0], false),
    ] as [([UInt8], [UInt8], Bool)])
  func secretsAreCompared(_ left: [UInt8], _ right: [UInt8], _ isEqual: Bool) {
    #expect(constantTimeEqual(left, right) == isEqual)
  }

  @Test(arguments: [
    ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
    ("foobar", "Zm9vYmFy"),
  ])
  func RFC4648_textIsEncodedWithoutPadding(_ text: String, _ encoded: String) {
    #expect(Base64URL.encode(Array(text.utf8)) == encoded)
    #expect(Base64URL.decode(encoded) == Array(text.utf8))
  }

  @Test func RFC4648_theAlphabetIsThatOfURLs() {
    #expect(Base64URL.encode([0xFB, 0xFF, 0xFE]) == "-__-")
    #expect(Base64URL.decode("-__-") == [0xFB, 0xFF, 0xFE])
  }

  @Test(arguments: ["A", "Zg==", "Zh", "Zm9", "+A", "/A", "Zg\n", "AAAAA", "é", " "])
  func RFC4648_whatNobodyEncodesIsRefused(_ text: String) {
    #expect(Base64URL.decode(text) == nil)
  }
}
