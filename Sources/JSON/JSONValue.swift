import CSimdjson

/// One value of a parsed document, read in place.
///
/// It borrows its parser's buffers without owning them: it must not outlive the next `parse` (the type cannot say so
/// yet, hence it is neither stored nor sent anywhere).
package struct JSONValue {
  package enum Kind: Hashable, Sendable {
    case object, array, string
    /// Written without fraction or exponent, within `Int64`.
    case integer
    /// Written without fraction or exponent, above `Int64.max`, within `UInt64`.
    case unsigned
    /// Written with fraction or exponent, or as `-0`.
    case double
    case boolean, null
  }

  fileprivate let value: csimdjson_value

  init(_ value: csimdjson_value) { self.value = value }

  package var kind: Kind {
    switch csimdjson_type(value) {
    case UInt8(ascii: "{"): .object
    case UInt8(ascii: "["): .array
    case UInt8(ascii: "\""): .string
    case UInt8(ascii: "l"): .integer
    case UInt8(ascii: "u"): .unsigned
    case UInt8(ascii: "d"): .double
    case UInt8(ascii: "n"): .null
    default: .boolean
    }
  }

  package var isNull: Bool { csimdjson_type(value) == UInt8(ascii: "n") }
  package var isObject: Bool { csimdjson_type(value) == UInt8(ascii: "{") }

  /// Nil unless the value is `true` or `false`.
  package var boolean: Bool? {
    switch csimdjson_type(value) {
    case UInt8(ascii: "t"): true
    case UInt8(ascii: "f"): false
    default: nil
    }
  }

  /// Nil unless the number is written as an integer and fits: `1.0`, `1e3` and `-0` are not integers (C084).
  package var integer: Int64? {
    csimdjson_type(value) == UInt8(ascii: "l") ? csimdjson_int64(value) : nil
  }

  /// An integer above `Int64.max`; nil otherwise.
  package var unsigned: UInt64? {
    csimdjson_type(value) == UInt8(ascii: "u") ? csimdjson_uint64(value) : nil
  }

  /// Any number as a double, rounded where it must be; nil for what is no number.
  package var double: Double? {
    switch csimdjson_type(value) {
    case UInt8(ascii: "d"): csimdjson_double(value)
    case UInt8(ascii: "l"): Double(csimdjson_int64(value))
    case UInt8(ascii: "u"): Double(csimdjson_uint64(value))
    default: nil
    }
  }

  /// A string's decoded UTF-8 in the parser's buffer; nil for what is no string.
  package var utf8: UnsafeBufferPointer<UInt8>? {
    guard csimdjson_type(value) == UInt8(ascii: "\"") else { return nil }
    let text = csimdjson_string(value)
    return UnsafeBufferPointer(start: text.bytes, count: text.count)
  }

  /// A copy of the string; nil for what is no string.
  package var string: String? {
    guard let utf8 else { return nil }
    return String(decoding: utf8, as: UTF8.self)
  }

  /// Whether the value is a string of exactly these ASCII bytes.
  package func isString(_ text: StaticString) -> Bool {
    guard let utf8, utf8.count == text.utf8CodeUnitCount else { return false }
    return text.withUTF8Buffer { utf8.elementsEqual($0) }
  }

  /// The object's member of this name, the last of several; nil when there is none or the value is no object.
  package subscript(_ name: StaticString) -> JSONValue? {
    guard isObject else { return nil }
    var found = csimdjson_value()
    let isFound = csimdjson_find(value, name.utf8Start, name.utf8CodeUnitCount, &found)
    return isFound ? JSONValue(found) : nil
  }

  /// As the subscript, for a name that is known at run time only.
  package func member(_ name: String) -> JSONValue? {
    guard isObject else { return nil }
    var name = name
    var found = csimdjson_value()
    let isFound = name.withUTF8 { csimdjson_find(value, $0.baseAddress, $0.count, &found) }
    return isFound ? JSONValue(found) : nil
  }

  /// An array's elements in order; nil for what is no array.
  package var elements: Elements? {
    csimdjson_type(value) == UInt8(ascii: "[") ? Elements(value) : nil
  }

  /// An object's members as written, doubles included; nil for what is no object.
  package var members: Members? { isObject ? Members(value) : nil }

  /// Walks an array.
  package struct Elements: Sequence, IteratorProtocol {
    private var cursor: csimdjson_value
    private let end: Int

    fileprivate init(_ array: csimdjson_value) {
      cursor = csimdjson_at(array, array.index + 1)
      end = csimdjson_end(array)
    }

    package mutating func next() -> JSONValue? {
      guard cursor.index < end else { return nil }
      let element = cursor
      cursor.index = csimdjson_after(element)
      return JSONValue(element)
    }
  }

  /// Walks an object.
  package struct Members: Sequence, IteratorProtocol {
    private var cursor: csimdjson_value
    private let end: Int

    fileprivate init(_ object: csimdjson_value) {
      cursor = csimdjson_at(object, object.index + 1)
      end = csimdjson_end(object)
    }

    package mutating func next() -> (name: UnsafeBufferPointer<UInt8>, value: JSONValue)? {
      guard cursor.index < end else { return nil }
      let key = csimdjson_string(cursor)
      let member = csimdjson_at(cursor, cursor.index + 1)
      cursor.index = csimdjson_after(member)
      return (UnsafeBufferPointer(start: key.bytes, count: key.count), JSONValue(member))
    }
  }
}
