import Testing
import Wire

@Suite("H: query strings")
struct HTTPQueryTests {
  @Test(
    arguments: [
      ("", []), ("a=1", ["a", "1"]), ("a=1&b=2", ["a", "1", "b", "2"]), ("a", ["a", ""]), ("a=", ["a", ""]),
      ("=1", ["", "1"]), ("a=1=2", ["a", "1=2"]), ("a=1&&b=2&", ["a", "1", "b", "2"]), ("a+b=c%2Bd", ["a b", "c+d"]),
      ("a=1&a=2", ["a", "1", "a", "2"]), ("%61=%C3%A9", ["a", "é"]), ("a%3D=%26", ["a=", "&"]),
    ] as [(String, [String])])
  func H_aQueryIsCutAndDecoded(_ query: String, _ expected: [String]) throws {
    let items = try #require(HTTPQuery.parse(query))
    #expect(items.flatMap { [$0.name, $0.value] } == expected)
  }

  @Test(arguments: ["a=%", "%=1", "a=%C3", "a=1&b=%00", "a=%E9", "a=%ED%A0%80", "a=%zz"])
  func H_aBrokenQueryIsNone(_ query: String) {
    #expect(HTTPQuery.parse(query)?.count == nil)
  }
}
