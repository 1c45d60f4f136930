import HTTP1
import Testing

@Suite("H limits: 414, 431")
struct LimitTests {
  private let feedings: [Feeding] = [.whole, .oneByOne, .split(1), .split(100), .split(8_000)]

  /// A head of exactly so many octets.
  private func head(octets: Int) -> [UInt8] {
    let frame = "GET / HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n"
    return Array(get("/", "Host: a", "X: " + String(repeating: "x", count: octets - frame.utf8.count)).utf8)
  }

  /// A request whose target has exactly so many octets.
  private func target(octets: Int) -> [UInt8] {
    Array(get("/" + String(repeating: "a", count: octets - 1), "Host: a").utf8)
  }

  private func fields(_ count: Int) -> [UInt8] {
    let lines = (1..<count).map { "h\($0): v\r\n" }.joined()
    return Array("GET / HTTP/1.1\r\nHost: a\r\n\(lines)\r\n".utf8)
  }

  @Test func H_headOf16KiBPassesAndOneMoreOctetIs431() {
    #expect(head(octets: 16_384).count == 16_384)
    for feeding in feedings + [.split(16_383)] {
      #expect(requests(feeding.pieces(head(octets: 16_384))) == [.head("GET /"), .end], "\(feeding)")
      #expect(requests(feeding.pieces(head(octets: 16_385))) == [.failed(431)], "\(feeding)")
      #expect(requests(feeding.pieces(head(octets: 16_387))) == [.failed(431)], "\(feeding)")
    }
  }

  @Test func H_targetOf8KiBPassesAndOneMoreOctetIs414() {
    for feeding in feedings {
      let passed = requests(feeding.pieces(target(octets: 8_192)))
      #expect(passed == [.head("GET /" + String(repeating: "a", count: 8_191)), .end], "\(feeding)")
      #expect(requests(feeding.pieces(target(octets: 8_193))) == [.failed(414)], "\(feeding)")
    }
  }

  @Test func C019_aUrlOf64KiBIs414() {
    for feeding in feedings {
      #expect(requests(feeding.pieces(target(octets: 65_536))) == [.failed(414)], "\(feeding)")
    }
  }

  @Test func C019_2000HeadersAre431() {
    for feeding in feedings { #expect(requests(feeding.pieces(fields(2_000))) == [.failed(431)], "\(feeding)") }
  }

  @Test func C019_aHeaderOf1MBIs431() {
    let bytes = Array(get("/", "Host: a", "X: " + String(repeating: "x", count: 1_000_000)).utf8)
    for feeding in feedings { #expect(requests(feeding.pieces(bytes)) == [.failed(431)], "\(feeding)") }
  }

  @Test func H_100FieldsPassAndOneMoreIs431() {
    for feeding in feedings.prefix(4) {
      #expect(requests(feeding.pieces(fields(100))) == [.head("GET /"), .end], "\(feeding)")
      #expect(requests(feeding.pieces(fields(101))) == [.failed(431)], "\(feeding)")
    }
  }

  /// A target just within its limit is not to blame for fields that are too long.
  @Test func H_longFieldsBehindALongTargetAre431() {
    let bytes = Array(
      get("/" + String(repeating: "a", count: 8_190), "Host: a", "X: " + String(repeating: "x", count: 20_000)).utf8)
    for feeding in feedings { #expect(requests(feeding.pieces(bytes)) == [.failed(431)], "\(feeding)") }
  }

  @Test func H_aMethodWithoutEndIs431() {
    let bytes = [UInt8](repeating: UInt8(ascii: "A"), count: 20_000)
    for feeding in feedings { #expect(requests(feeding.pieces(bytes)) == [.failed(431)], "\(feeding)") }
  }

  @Test func H_limitsOfTheirOwnHold() {
    let limits = HTTPLimits(headBytes: 64, targetBytes: 10, fieldCount: 2)
    let rows = [
      Row("target of 10", get("/234567890", "Host: a"), [.head("GET /234567890"), .end]),
      Row("target of 11", get("/2345678901", "Host: a"), [.failed(414)]),
      Row("two fields", get("/", "Host: a", "A: b"), [.head("GET /"), .end]),
      Row("three fields", get("/", "Host: a", "A: b", "C: d"), [.failed(431)]),
      Row("a head of 64", get("/", "Host: a", "X: " + String(repeating: "x", count: 32)), [.head("GET /"), .end]),
      Row("a head of 65", get("/", "Host: a", "X: " + String(repeating: "x", count: 33)), [.failed(431)]),
    ]
    for row in rows {
      for feeding in Feeding.all(row.bytes.count) {
        #expect(requests(feeding.pieces(row.bytes), limits: limits) == row.notes, "\(row.name), \(feeding)")
      }
    }
  }
}
