/// A request's head: one block of bytes, and where things stand in it. No field costs a String until it is asked for.
package struct RequestHead: Sendable {
  struct Field: Sendable {
    var name: Range<Int>
    var value: Range<Int>
  }

  var bytes: [UInt8]
  var fields: [Field]
  /// `GET`, `POST`, …: case-sensitive (RFC 9110 §9.1).
  package let method: String
  /// The target's path as sent, without the query; begins with `/`, or is `*`.
  package let rawPath: String
  /// What follows `?`, as sent; nil without one.
  package let rawQuery: String?
  /// Whether the connection may carry another request (RFC 9112 §9.3).
  package let keepAlive: Bool
  package let framing: BodyFraming
  /// `Expect: 100-continue` (RFC 9110 §10.1.1).
  package let expectsContinue: Bool
  /// 1 for HTTP/1.1, 0 for HTTP/1.0.
  package let minorVersion: Int
  /// The authority of a target in absolute form; nil in the other forms.
  let authority: String?

  /// What the request line says.
  struct RequestLine {
    var method: String
    var rawPath: String
    var rawQuery: String?
    var authority: String?
    var minorVersion: Int
  }

  /// What the fields say about the connection and the body.
  struct Conduct {
    var keepAlive = false
    var framing = BodyFraming.none
    var expectsContinue = false
  }

  init(bytes: [UInt8], fields: [Field], line: RequestLine, conduct: Conduct) {
    self.bytes = bytes
    self.fields = fields
    method = line.method
    rawPath = line.rawPath
    rawQuery = line.rawQuery
    authority = line.authority
    minorVersion = line.minorVersion
    keepAlive = conduct.keepAlive
    framing = conduct.framing
    expectsContinue = conduct.expectsContinue
  }

  /// The first field of that name, or nil. `name` in lower case.
  package func text(of name: StaticString) -> String? {
    for field in fields where matches(field, name) { return String(decoding: bytes[field.value], as: UTF8.self) }
    return nil
  }

  /// How often a field occurs. `name` in lower case.
  package func count(of name: StaticString) -> Int {
    var count = 0
    for field in fields where matches(field, name) { count += 1 }
    return count
  }

  /// Every field of that name, in order. `name` in lower case.
  package func texts(of name: StaticString) -> [String] {
    fields.filter { matches($0, name) }.map { String(decoding: bytes[$0.value], as: UTF8.self) }
  }

  /// Whether a comma-separated list field holds a token, in any case (RFC 9110 §5.6.1). Both in lower case.
  package func hasToken(_ token: String, in name: StaticString) -> Bool {
    texts(of: name).contains { text in text.listElements().contains { $0.equalsIgnoringASCIICase(token) } }
  }

  /// Whom the request is for: the authority of a target in absolute form (RFC 9112 §3.2.2), else the `Host` field; empty
  /// when there is neither, which only HTTP/1.0 may do.
  package var host: String { authority ?? text(of: "host") ?? "" }

  private func matches(_ field: Field, _ name: StaticString) -> Bool {
    guard field.name.count == name.utf8CodeUnitCount else { return false }
    var at = field.name.lowerBound
    for index in 0..<name.utf8CodeUnitCount {
      if asciiLowercased(bytes[at]) != name.utf8Start[index] { return false }
      at += 1
    }
    return true
  }
}

func hexDigit(_ byte: UInt8) -> UInt8? {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
  case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
  default: nil
  }
}
