import Chat
import JSON

/// A request's fields, from whichever door: a JSON object (a frame's `data`, an HTTP body), the path's parameters and
/// the query. The path wins over the body; body and query never come together. Unknown fields are never looked at;
/// `null` is the same as absent.
///
/// Every accessor refuses with `ERR_BAD_REQUEST` and `details.field` what it cannot take. In JSON an integer or boolean
/// must be one; only ids may also be the text of a decimal number. In a path or query everything is text, and a list is
/// separated by commas. Valid as long as the JSON value is (see `JSONValue`).
package struct Fields {
  private let parameters: [(name: String, value: String)]
  private let query: [(name: String, value: String)]
  private let object: JSONValue?
  /// What stands before a field's name in a refusal, such as `attachments[2].`.
  private let prefix: String

  init(
    object: JSONValue?, parameters: [(name: String, value: String)] = [],
    query: [(name: String, value: String)] = [], prefix: String = ""
  ) {
    self.object = object
    self.parameters = parameters
    self.query = query
    self.prefix = prefix
  }

  private enum Value {
    case json(JSONValue)
    case text(String)
  }

  private func value(_ name: StaticString) -> Value? {
    if !parameters.isEmpty, let text = Self.last(parameters, name) { return .text(text) }
    if let object, let found = object[name], !found.isNull { return .json(found) }
    if !query.isEmpty, let text = Self.last(query, name) { return .text(text) }
    return nil
  }

  private static func last(_ pairs: [(name: String, value: String)], _ name: StaticString) -> String? {
    let wanted = name.description
    return pairs.last { $0.name == wanted }?.value
  }

  /// Whether the field is given and not null.
  func has(_ name: StaticString) -> Bool { value(name) != nil }

  func refusal(_ name: StaticString, _ what: String, _ code: RefusalCode = .badRequest) -> Refusal {
    let field = prefix + name.description
    return Refusal(code, "`\(field)` \(what).", details: [.field(field)])
  }

  func required<T>(_ name: StaticString, _ value: T?) throws(Refusal) -> T {
    guard let value else { throw refusal(name, "is required") }
    return value
  }

  // MARK: Scalars

  func text(_ name: StaticString) throws(Refusal) -> String? {
    switch value(name) {
    case nil: return nil
    case .text(let text): return text
    case .json(let json):
      guard let text = json.string else { throw refusal(name, "must be a string") }
      return text
    }
  }

  /// A text of at most so many bytes of UTF-8; `limit` is its name in the hello.
  func text(_ name: StaticString, bytes: Int, limit: String) throws(Refusal) -> String? {
    guard let text = try text(name) else { return nil }
    try check(text.utf8.count, against: bytes, limit, name)
    return text
  }

  /// A text of at most so many Unicode scalar values.
  func text(_ name: StaticString, characters: Int, limit: String) throws(Refusal) -> String? {
    guard let text = try text(name) else { return nil }
    if text.utf8.count > characters { try check(text.unicodeScalars.count, against: characters, limit, name) }
    return text
  }

  func boolean(_ name: StaticString) throws(Refusal) -> Bool? {
    switch value(name) {
    case nil: return nil
    case .text("true"): return true
    case .text("false"): return false
    case .json(let json):
      if let boolean = json.boolean { return boolean }
      fallthrough
    case .text: throw refusal(name, "must be true or false")
    }
  }

  func integer(_ name: StaticString, in range: ClosedRange<Int64>) throws(Refusal) -> Int64? {
    let number: Int64?
    switch value(name) {
    case nil: return nil
    case .text(let text): number = Self.decimal(text)
    case .json(let json): number = json.integer
    }
    guard let number, range.contains(number) else {
      throw refusal(name, "must be an integer from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  func choice<Choice: RawRepresentable & CaseIterable>(_ name: StaticString, _: Choice.Type) throws(Refusal) -> Choice?
  where Choice.RawValue == String {
    guard let text = try text(name) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw refusal(name, "must be one of \(choices)")
    }
    return choice
  }

  /// The rows of a page: `limit`, 1 to `limits.pageRows`, 50 when absent.
  func pageLimit(_ limits: Limits) throws(Refusal) -> Int {
    Int(try integer("limit", in: 1...Int64(limits.pageRows)) ?? Int64(min(50, limits.pageRows)))
  }

  /// M12.
  func reaction(_ name: StaticString, _ limits: Limits) throws(Refusal) -> String? {
    guard let text = try text(name, characters: limits.reactionCharacters, limit: "reactionCharacters") else {
      return nil
    }
    guard ReactionRules.isReaction(text) else {
      throw refusal(name, "must be an emoji or a short code, something to be seen, without white space")
    }
    return text
  }

  // MARK: Identities

  /// D1.
  func userID(_ name: StaticString) throws(Refusal) -> UserID? {
    guard let text = try text(name) else { return nil }
    guard let uid = UserID(text) else { throw refusal(name, Self.identifierRule) }
    return uid
  }

  /// D1.
  func groupID(_ name: StaticString) throws(Refusal) -> GroupID? {
    guard let text = try text(name) else { return nil }
    guard let guid = GroupID(text) else { throw refusal(name, Self.identifierRule) }
    return guid
  }

  private static let identifierRule = "must be 1 to 100 characters of a-z, 0-9, - and _"

  /// What stands for an id of a message.
  enum MessageReference: Equatable { case absent, zero, id(MessageID), invalid }

  /// An integer from 1 to 2^53 − 1 or its decimal text without sign or leading zeros (T2, C084).
  func messageReference(_ name: StaticString) -> MessageReference {
    switch value(name) {
    case nil: return .absent
    case .text(let text): return Self.reference(Self.decimal(text))
    case .json(let json):
      if let number = json.integer { return Self.reference(number) }
      if let text = json.string { return Self.reference(Self.decimal(text)) }
      return .invalid
    }
  }

  private static func reference(_ number: Int64?) -> MessageReference {
    guard let number else { return .invalid }
    if number == 0 { return .zero }
    return MessageID(exactly: number).map { .id($0) } ?? .invalid
  }

  func requiredMessageID(_ name: StaticString, orElse code: RefusalCode = .badRequest) throws(Refusal) -> MessageID {
    switch messageReference(name) {
    case .id(let id): return id
    case .absent: throw refusal(name, "is required", code)
    case .zero, .invalid: throw refusal(name, Self.messageIDRule, code)
    }
  }

  /// Nil for an absent field; with `zeroIsAbsent` also for 0.
  func messageID(
    _ name: StaticString, orElse code: RefusalCode = .badRequest, zeroIsAbsent: Bool = false
  ) throws(Refusal) -> MessageID? {
    switch messageReference(name) {
    case .absent: return nil
    case .id(let id): return id
    case .zero where zeroIsAbsent: return nil
    case .zero, .invalid: throw refusal(name, Self.messageIDRule, code)
    }
  }

  private static let messageIDRule = "must be an integer from 1 to 9007199254740991"

  /// A decimal integer: no plus sign, no leading zeros, no white space, nothing that overflows.
  static func decimal(_ text: String) -> Int64? {
    let isNegative = text.utf8.first == UInt8(ascii: "-")
    let digits = isNegative ? text.utf8.dropFirst() : text.utf8[...]
    guard let first = digits.first, digits.count <= 19 else { return nil }
    if first == UInt8(ascii: "0") { return digits.count == 1 && !isNegative ? 0 : nil }
    var number: Int64 = 0
    for byte in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      let (product, overflowed) = number.multipliedReportingOverflow(by: 10)
      let (sum, overflowedAgain) = product.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
      if overflowed || overflowedAgain { return nil }
      number = sum
    }
    return isNegative ? -number : number
  }

  // MARK: Structures

  /// An object, re-encoded; `bytes` limits the re-encoded size (M5).
  func object(_ name: StaticString, bytes: Int, limit: String) throws(Refusal) -> JSONText? {
    switch value(name) {
    case nil: return nil
    case .json(let json) where json.isObject:
      var writer = JSONWriter()
      writer.value(json)
      try check(writer.count, against: bytes, limit, name)
      return JSONText(unchecked: String(decoding: writer.take(), as: UTF8.self))
    default: throw refusal(name, "must be an object")
    }
  }

  /// The fields of an object that is part of a request.
  func nested(_ name: StaticString) throws(Refusal) -> Fields? {
    switch value(name) {
    case nil: return nil
    case .json(let json) where json.isObject: return Fields(object: json, prefix: prefix + name.description + ".")
    default: throw refusal(name, "must be an object")
    }
  }

  /// An array of objects.
  func objects(_ name: StaticString, count: Int, limit: String) throws(Refusal) -> [Fields] {
    var rows: [Fields] = []
    for element in try elements(name, count: count, limit: limit) {
      guard element.isObject else { throw refusal(name, "must be an array of objects") }
      rows.append(Fields(object: element, prefix: "\(prefix)\(name)[\(rows.count)]."))
    }
    return rows
  }

  /// An array of strings, each of at most so many Unicode scalar values.
  func texts(
    _ name: StaticString, count: Int, limit: String, characters: Int, characterLimit: String
  ) throws(Refusal) -> [String] {
    var texts: [String] = []
    if case .text(let text) = value(name) {
      texts = text.split(separator: ",").map(String.init)
      try check(texts.count, against: count, limit, name)
    } else {
      for element in try elements(name, count: count, limit: limit) {
        guard let text = element.string else { throw refusal(name, "must be an array of strings") }
        texts.append(text)
      }
    }
    for text in texts where text.utf8.count > characters {
      try check(text.unicodeScalars.count, against: characters, characterLimit, name)
    }
    return texts
  }

  /// An array of message ids.
  func messageIDs(_ name: StaticString, count: Int, limit: String) throws(Refusal) -> [MessageID] {
    var ids: [MessageID] = []
    for element in try elements(name, count: count, limit: limit) {
      let number = element.integer ?? element.string.flatMap(Self.decimal)
      guard let number, let id = MessageID(exactly: number) else {
        throw refusal(name, "must be an array of message ids")
      }
      ids.append(id)
    }
    return ids
  }

  /// Empty when the field is absent.
  private func elements(_ name: StaticString, count: Int, limit: String) throws(Refusal) -> [JSONValue] {
    switch value(name) {
    case nil: return []
    case .json(let json):
      guard let elements = json.elements else { fallthrough }
      var rows: [JSONValue] = []
      for element in elements { rows.append(element) }
      try check(rows.count, against: count, limit, name)
      return rows
    case .text: throw refusal(name, "must be an array")
    }
  }

  private func check(_ size: Int, against maximum: Int, _ limit: String, _ name: StaticString) throws(Refusal) {
    guard size > maximum else { return }
    let field = prefix + name.description
    throw Refusal(
      .tooLarge, "`\(field)` is above the limit \(limit) of \(maximum).",
      details: [.field(field), .limit(name: limit, value: maximum)])
  }
}
