/// Reads one response head (RFC 9112 §4), for the client's side of an upgrade.
package struct ResponseParser: Sendable {
  /// A response's status and fields; names in lower case.
  package struct Head: Hashable, Sendable {
    package struct Field: Hashable, Sendable {
      package var name: String
      package var value: String

      package init(name: String, value: String) {
        self.name = name
        self.value = value
      }
    }
    /// 100–599.
    package var status: Int
    package var fields: [Field]

    package init(status: Int, fields: [Field]) {
      self.status = status
      self.fields = fields
    }

    /// Every value of a field; `name` in lower case.
    package func values(of name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }
  }

  package enum Event: Hashable, Sendable {
    case needMore
    case head(Head)
    /// The parser is dead.
    case failed(HTTPFailure)
  }

  private static let headLimit = 16_384
  private var partial: [UInt8] = []
  private var scanner = HeadScanner()
  private var isDead = false

  package init() {}

  /// What is held of a head that is split over reads, in bytes; 0 after `.head` and `.failed`.
  package var heldBytes: Int { partial.capacity }

  /// Takes what it used off the front of `input`; what follows the head stays.
  package mutating func next(_ input: inout UnsafeMutableRawBufferPointer) -> Event {
    guard !isDead else {
      input = UnsafeMutableRawBufferPointer(start: nil, count: 0)
      return .needMore
    }
    let window = input.prefix(Self.headLimit - partial.count)
    switch scanner.scan(window) {
    case .failed(let failure): return fail(failure)
    case .emptyLine: return fail(HTTPFailure(400, "the status line is missing"))
    case .end(let count):
      partial.append(contentsOf: window.prefix(count))
      input = input.dropping(count)
      return finish()
    case .needMore:
      partial.append(contentsOf: window)
      if window.count < input.count { return fail(HTTPFailure(431, "the response head is too large")) }
      input = input.dropping(window.count)
      return .needMore
    }
  }

  private mutating func fail(_ failure: HTTPFailure) -> Event {
    isDead = true
    partial = []
    return .failed(failure)
  }

  private mutating func finish() -> Event {
    let bytes = partial
    partial = []
    scanner = HeadScanner()
    var lines = HeadLines(bytes)
    guard let status = Self.status(bytes[lines.next()]) else {
      return fail(HTTPFailure(400, "the status line is malformed"))
    }
    var fields: [Head.Field] = []
    while true {
      let range = lines.next()
      if range.isEmpty { return .head(Head(status: status, fields: fields)) }
      guard let field = try? HeadReader.readField(bytes, range),
        let value = String(validating: bytes[field.value], as: UTF8.self)
      else { return fail(HTTPFailure(400, "a header field is malformed")) }
      let name = bytes[field.name].map(asciiLowercased)
      fields.append(.init(name: String(decoding: name, as: UTF8.self), value: value))
    }
  }

  /// RFC 9112 §4: `HTTP/1.1`, a space, three digits, a space and a phrase; some leave out the last space with the phrase.
  private static func status(_ line: ArraySlice<UInt8>) -> Int? {
    let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count >= 2, parts[0].elementsEqual("HTTP/1.1".utf8), parts[1].count == 3, parts[1].allSatisfy(isDigit),
      parts.count == 2 || parts[2].allSatisfy(isFieldCharacter)
    else { return nil }
    let status = parts[1].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    return (100...599).contains(status) ? status : nil
  }
}
