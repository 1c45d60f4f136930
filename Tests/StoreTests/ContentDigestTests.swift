import Crypto
import Testing

@Suite("SHA-256 of content and secrets")
struct ContentDigestTests {
  private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { String($0 / 16, radix: 16) + String($0 % 16, radix: 16) }.joined()
  }

  /// The examples of FIPS 180-4.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func knownDigests(_ text: String, _ expected: String) {
    let bytes = Array(text.utf8)
    #expect(hexadecimal(ContentDigest.sha256(bytes)) == expected)
    for cut in 0...bytes.count {
      var digest = ContentDigest()
      digest.update(Array(bytes.prefix(cut)))
      digest.update(Array(bytes.dropFirst(cut)))
      #expect(hexadecimal(digest.finish()) == expected)
    }
  }
}
