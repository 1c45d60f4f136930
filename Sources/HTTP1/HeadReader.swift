/// Takes a complete head apart (RFC 9112 §3, §5), refusing everything that two readers could understand differently.
enum HeadReader {
  /// - Parameter bytes: a head that a `HeadScanner` found whole.
  static func read(_ bytes: [UInt8], _ limits: HTTPLimits) throws(HTTPFailure) -> RequestHead {
    var lines = HeadLines(bytes)
    let line = try readRequestLine(bytes[lines.next()], limits)
    var fields: [RequestHead.Field] = []
    while true {
      let range = lines.next()
      if range.isEmpty { break }
      guard fields.count < limits.fieldCount else {
        throw HTTPFailure(431, "more than \(limits.fieldCount) header fields")
      }
      fields.append(try readField(bytes, range))
    }
    let bare = RequestHead(bytes: bytes, fields: fields, line: line, conduct: .init())
    try checkHost(bare)
    let isCurrent = line.minorVersion == 1
    let conduct = RequestHead.Conduct(
      keepAlive: isCurrent && !bare.hasToken("close", in: "connection"), framing: try framing(bare),
      expectsContinue: isCurrent && bare.hasToken("100-continue", in: "expect"))
    return RequestHead(bytes: bytes, fields: fields, line: line, conduct: conduct)
  }

  private static func readRequestLine(
    _ line: ArraySlice<UInt8>, _ limits: HTTPLimits
  ) throws(HTTPFailure) -> RequestHead.RequestLine {
    let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty, parts[0].allSatisfy(isTokenCharacter), !parts[1].isEmpty else {
      throw HTTPFailure(400, "the request line is malformed")
    }
    guard parts[0].count <= 32 else { throw HTTPFailure(501, "the method is not known") }
    guard parts[1].count <= limits.targetBytes else {
      throw HTTPFailure(414, "the request target is above \(limits.targetBytes) bytes")
    }
    guard parts[1].allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw HTTPFailure(400, "the request target holds characters that must be escaped")
    }
    let minorVersion = try readVersion(parts[2])
    let method = String(decoding: parts[0], as: UTF8.self)
    let target = try splitTarget(String(decoding: parts[1], as: UTF8.self), method)
    return RequestHead.RequestLine(
      method: method, rawPath: target.path, rawQuery: target.query, authority: target.authority,
      minorVersion: minorVersion)
  }

  /// RFC 9112 §2.3: exactly `HTTP/`, a digit, a dot, a digit.
  private static func readVersion(_ bytes: ArraySlice<UInt8>) throws(HTTPFailure) -> Int {
    let digits = Array(bytes.dropFirst(5))
    guard bytes.starts(with: "HTTP/".utf8), digits.count == 3, isDigit(digits[0]), digits[1] == UInt8(ascii: "."),
      isDigit(digits[2])
    else { throw HTTPFailure(400, "the request line is malformed") }
    guard digits[0] == UInt8(ascii: "1"), digits[2] <= UInt8(ascii: "1") else {
      throw HTTPFailure(505, "only HTTP/1.1 and HTTP/1.0 are spoken here")
    }
    return Int(digits[2] - UInt8(ascii: "0"))
  }

  static func readField(_ bytes: [UInt8], _ line: Range<Int>) throws(HTTPFailure) -> RequestHead.Field {
    let first = bytes[line.lowerBound]
    // RFC 9112 §5.2: a folded line.
    guard first != 0x20, first != 0x09 else { throw HTTPFailure(400, "a header field is folded over lines") }
    guard let colon = bytes[line].firstIndex(of: UInt8(ascii: ":")), colon > line.lowerBound else {
      throw HTTPFailure(400, "a header field has no name")
    }
    // RFC 9112 §5.1: no white space before the colon; a token holds none.
    guard bytes[line.lowerBound..<colon].allSatisfy(isTokenCharacter) else {
      throw HTTPFailure(400, "a header field's name is malformed")
    }
    var start = colon + 1
    var end = line.upperBound
    while start < end, bytes[start] == 0x20 || bytes[start] == 0x09 { start += 1 }
    while end > start, bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 { end -= 1 }
    guard bytes[start..<end].allSatisfy(isFieldCharacter) else {
      throw HTTPFailure(400, "a header field holds a control character")
    }
    return RequestHead.Field(name: line.lowerBound..<colon, value: start..<end)
  }

  /// Origin form, `*` for OPTIONS, and absolute form with http or https (RFC 9112 §3.2).
  private static func splitTarget(
    _ target: String, _ method: String
  ) throws(HTTPFailure) -> (path: String, query: String?, authority: String?) {
    if method == "CONNECT" { throw HTTPFailure(405, "CONNECT is not served") }
    if target == "*", method == "OPTIONS" { return (target, nil, nil) }
    guard !target.utf8.contains(UInt8(ascii: "#")) else {
      throw HTTPFailure(400, "the request target holds a fragment")
    }
    var rest = target[...]
    var authority: String?
    if !target.hasPrefix("/") {
      guard let scheme = ["http://", "https://"].first(where: { target.prefix($0.count).equalsIgnoringASCIICase($0) })
      else { throw HTTPFailure(400, "the request target is malformed") }
      rest = rest.dropFirst(scheme.count)
      let named = rest.prefix { $0 != "/" && $0 != "?" }
      guard !named.isEmpty, isAuthority(named) else { throw HTTPFailure(400, "the request target is malformed") }
      authority = String(named)
      rest = rest.dropFirst(named.count)
    }
    let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = parts.first.map(String.init) ?? ""
    return (path.isEmpty ? "/" : path, parts.count > 1 ? String(parts[1]) : nil, authority)
  }

  /// RFC 9112 §3.2: exactly one in 1.1. A target in absolute form that names another host is what a proxy and we would
  /// read differently.
  private static func checkHost(_ head: RequestHead) throws(HTTPFailure) {
    let hosts = head.texts(of: "host")
    if head.minorVersion == 1, hosts.isEmpty { throw HTTPFailure(400, "the Host field is missing") }
    if hosts.count > 1 { throw HTTPFailure(400, "the Host field stands more than once") }
    guard let host = hosts.first else { return }
    guard host.isEmpty || isAuthority(host[...]) else { throw HTTPFailure(400, "the Host field is malformed") }
    if let authority = head.authority, !authority.equalsIgnoringASCIICase(host) {
      throw HTTPFailure(400, "the Host field and the request target name different hosts")
    }
  }

  /// `host` or `host:port` without user information (RFC 3986 §3.2): a registered name, an IPv4 address, or an IP literal
  /// in brackets. A comma would be a list of hosts to somebody.
  private static func isAuthority(_ text: Substring) -> Bool {
    var rest = text.utf8
    if rest.first == UInt8(ascii: "[") {
      guard let close = rest.firstIndex(of: UInt8(ascii: "]")) else { return false }
      let literal = rest[..<close].dropFirst()
      guard !literal.isEmpty, literal.allSatisfy({ isHostCharacter($0) || $0 == UInt8(ascii: ":") }) else {
        return false
      }
      rest = rest[close...].dropFirst()
    } else {
      let name = rest.prefix { $0 != UInt8(ascii: ":") }
      guard !name.isEmpty, name.allSatisfy(isHostCharacter) else { return false }
      rest = rest.dropFirst(name.count)
    }
    guard let colon = rest.first else { return true }
    return colon == UInt8(ascii: ":") && rest.count <= 6 && rest.dropFirst().allSatisfy(isDigit)
  }

  private static func isHostCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "#"): false
    case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: ";"), UInt8(ascii: "="): true
    default: isTokenCharacter(byte)
    }
  }

  /// RFC 9112 §6: both framings at once, or a length said twice, is how requests are smuggled.
  private static func framing(_ head: RequestHead) throws(HTTPFailure) -> BodyFraming {
    let lengths = head.texts(of: "content-length")
    if head.count(of: "transfer-encoding") > 0 {
      if !lengths.isEmpty { throw HTTPFailure(400, "Content-Length beside Transfer-Encoding") }
      guard head.minorVersion == 1 else { throw HTTPFailure(400, "Transfer-Encoding in HTTP/1.0") }
      try checkCodings(head.texts(of: "transfer-encoding"))
      return .chunked
    }
    guard let length = lengths.first else { return .none }
    guard lengths.count == 1 else { throw HTTPFailure(400, "Content-Length stands more than once") }
    guard !length.isEmpty, length.utf8.allSatisfy(isDigit) else {
      throw HTTPFailure(400, "Content-Length is not a number")
    }
    guard length.utf8.count <= 18, let value = Int(length) else { throw HTTPFailure(413, "the body is too large") }
    return .length(value)
  }

  /// RFC 9112 §6.1, §6.3: `chunked` once and last. Other codings before it are well-formed, but not known here.
  private static func checkCodings(_ texts: [String]) throws(HTTPFailure) {
    if texts.count == 1, texts[0].equalsIgnoringASCIICase("chunked") { return }
    let codings = texts.flatMap { $0.listElements() }
    guard codings.last?.equalsIgnoringASCIICase("chunked") == true,
      codings.count(where: { $0.equalsIgnoringASCIICase("chunked") }) == 1, codings.count > 1,
      codings.allSatisfy({ $0.utf8.allSatisfy(isTokenCharacter) })
    else { throw HTTPFailure(400, "the transfer coding is not chunked alone") }
    throw HTTPFailure(501, "only the chunked transfer coding is known")
  }
}
