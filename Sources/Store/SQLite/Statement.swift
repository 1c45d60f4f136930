internal import CSQLite

/// A prepared statement. Values are bound left to right, then it is run or read to its end, and is ready again:
///
///     let name = try userName.bind(uid.text).first { $0.text(0) }
///
/// Text and blobs are copied with their lengths: a NUL inside is a character like any other.
final class Statement {
  private let handle: OpaquePointer
  private let connection: Connection
  /// How many values the statement takes.
  let parameterCount: Int32
  /// How many it has got since it was last ready.
  private var boundCount: Int32 = 0
  /// The first bind that failed; told when the statement is stepped.
  private var bindCode: Int32 = SQLITE_OK

  init(handle: OpaquePointer, connection: Connection) {
    self.handle = handle
    self.connection = connection
    parameterCount = sqlite3_bind_parameter_count(handle)
  }

  deinit { sqlite3_finalize(handle) }

  @discardableResult func bind(_ value: Int64) -> Statement {
    note(sqlite3_bind_int64(handle, next(), value))
  }

  @discardableResult func bind(_ value: Int64?) -> Statement {
    if let value { bind(value) } else { bindNull() }
  }

  @discardableResult func bind(_ value: Bool?) -> Statement {
    bind(value.map { Int64($0 ? 1 : 0) })
  }

  @discardableResult func bind(_ value: String) -> Statement {
    let index = next()
    var text = value
    return note(
      text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) {
          csqlite_bind_text(handle, index, $0.baseAddress, UInt64($0.count))
        }
      })
  }

  @discardableResult func bind(_ value: String?) -> Statement {
    if let value { bind(value) } else { bindNull() }
  }

  @discardableResult func bind(_ value: [UInt8]) -> Statement {
    let index = next()
    return note(
      value.withUnsafeBytes { csqlite_bind_blob(handle, index, $0.baseAddress, UInt64($0.count)) })
  }

  @discardableResult func bind(_ value: [UInt8]?) -> Statement {
    if let value { bind(value) } else { bindNull() }
  }

  @discardableResult func bindNull() -> Statement {
    note(sqlite3_bind_null(handle, next()))
  }

  /// Runs to the end, minding no rows.
  func run() throws(StoreFailure) {
    defer { reset() }
    while try step() {}
  }

  /// The first row, as `read` makes it; nil when there is none.
  func first<Value>(_ read: (Row) throws(StoreFailure) -> Value) throws(StoreFailure) -> Value? {
    defer { reset() }
    return try step() ? try read(Row(handle: handle)) : nil
  }

  /// Whether there is a row at all.
  func exists() throws(StoreFailure) -> Bool {
    defer { reset() }
    return try step()
  }

  /// Every row, as `read` makes it. `read` must not use this statement.
  func all<Value>(_ read: (Row) throws(StoreFailure) -> Value) throws(StoreFailure) -> [Value] {
    defer { reset() }
    var values: [Value] = []
    while try step() { values.append(try read(Row(handle: handle))) }
    return values
  }

  private func step() throws(StoreFailure) -> Bool {
    precondition(boundCount == parameterCount, "Every parameter of a statement gets a value, each time anew.")
    guard bindCode == SQLITE_OK else { throw connection.failure(bindCode) }
    let code = sqlite3_step(handle)
    switch code {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw connection.failure(code)
    }
  }

  private func reset() {
    // The code repeats what `step` has told already.
    _ = sqlite3_reset(handle)
    boundCount = 0
    bindCode = SQLITE_OK
  }

  private func next() -> Int32 {
    boundCount += 1
    return boundCount
  }

  private func note(_ code: Int32) -> Statement {
    if code != SQLITE_OK, bindCode == SQLITE_OK { bindCode = code }
    return self
  }
}

/// The row that a statement stands on; valid inside the closure that gets it.
struct Row {
  private let handle: OpaquePointer

  fileprivate init(handle: OpaquePointer) { self.handle = handle }

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

  func flag(_ column: Int32) -> Bool { integer(column) != 0 }

  func optionalFlag(_ column: Int32) -> Bool? { isNull(column) ? nil : flag(column) }

  func text(_ column: Int32) -> String {
    guard let start = sqlite3_column_text(handle, column) else { return "" }
    let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    return String(decoding: bytes, as: UTF8.self)
  }

  func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

  func blob(_ column: Int32) -> [UInt8] {
    guard let start = sqlite3_column_blob(handle, column) else { return [] }
    return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
  }
}
