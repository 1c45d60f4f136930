import Testing

@testable import Store

@Suite("SQLite statements")
struct StatementTests {
  private func withConnection(_ body: (Connection) throws -> Void) throws {
    try body(Connection(path: ":memory:", role: .writer))
  }

  @Test func aForgottenParameterIsOurOwnMistake() async {
    await #expect(processExitsWith: .failure) {
      let statement = try Connection(path: ":memory:", role: .writer).prepare("SELECT ?, ?")
      _ = try statement.bind(Int64(1)).exists()
    }
  }

  @Test(arguments: ["", "a", "\u{0}", "a\u{0}b", "κόσμε 👩‍👩‍👧", String(repeating: "x", count: 100_000)])
  func textComesBackByItsLength(_ text: String) throws {
    try withConnection { connection in
      let statement = try connection.prepare("SELECT ?, typeof(?1), length(CAST(?1 AS BLOB))")
      let row = try statement.bind(text).first { ($0.text(0), $0.text(1), $0.integer(2)) }
      #expect(row?.0 == text)
      #expect(row?.1 == "text")
      #expect(row?.2 == Int64(text.utf8.count))
    }
  }

  @Test(arguments: [[], [0], [0, 255, 0], [UInt8](repeating: 9, count: 5000)] as [[UInt8]])
  func blobsComeBackByTheirLength(_ bytes: [UInt8]) throws {
    try withConnection { connection in
      let row = try connection.prepare("SELECT ?, typeof(?1)").bind(bytes).first { ($0.blob(0), $0.text(1)) }
      #expect(row?.0 == bytes)
      #expect(row?.1 == "blob")
    }
  }

  @Test func missingValuesAreNull() throws {
    try withConnection { connection in
      let statement = try connection.prepare("SELECT ?, ?, ?, ?")
      let row = try statement.bind(Int64?.none).bind(String?.none).bind([UInt8]?.none).bind(Bool?.none).first {
        [$0.optionalInteger(0) == nil, $0.optionalText(1) == nil, $0.isNull(2), $0.optionalFlag(3) == nil]
      }
      #expect(row == [true, true, true, true])
    }
  }

  @Test func aStatementIsReadyAgainAfterAFailure() throws {
    try withConnection { connection in
      try connection.execute("CREATE TABLE t (a INTEGER PRIMARY KEY)")
      let insert = try connection.prepare("INSERT INTO t (a) VALUES (?)")
      try insert.bind(1).run()
      #expect(throws: StoreFailure.self) { try insert.bind(1).run() }
      try insert.bind(2).run()
      #expect(try connection.prepare("SELECT a FROM t").all { $0.integer(0) } == [1, 2])
    }
  }

  @Test(
    arguments: [
      (13, StoreFailure.Kind.unavailable), (10, .unavailable), (10 | 4 << 8, .unavailable), (8, .unavailable),
      (14, .unavailable), (5, .unavailable), (7, .unavailable), (11, .unusable), (11 | 1 << 8, .unusable),
      (26, .unusable), (1, .unusable), (19, .unusable),
    ] as [(Int32, StoreFailure.Kind)])
  func S11_resultCodes(_ code: Int32, _ kind: StoreFailure.Kind) {
    #expect(StoreFailure(code: code, detail: "d").kind == kind)
  }
}

@Suite("Packed fields")
struct PackedFieldsTests {
  @Test func whatWasPackedIsReadAgain() {
    var fields = PackedFields()
    let integers: [Int64] = [0, 1, 127, 128, 300, .max, -1, .min]
    for integer in integers { fields.add(integer) }
    fields.add("κόσμε")
    fields.add("")
    var unpacked = UnpackedFields(fields.bytes)
    for integer in integers { #expect(unpacked.integer() == integer) }
    #expect(unpacked.text() == "κόσμε")
    #expect(unpacked.text() == "")
    #expect(unpacked.text() == nil)
  }

  @Test func theBytesAreWrittenDown() {
    #expect(PackedFields.packing(["a", "", "bc"]) == [3, 1, 0x61, 0, 2, 0x62, 0x63])
    #expect(UnpackedFields.texts([3, 1, 0x61, 0, 2, 0x62, 0x63]) == ["a", "", "bc"])
    #expect(UnpackedFields.texts([]) == [])
    var fields = PackedFields()
    fields.add(300)
    #expect(fields.bytes == [0xac, 0x02])
  }

  @Test func everyCutIsNoticed() {
    let bytes = PackedFields.packing(["a", "", "bc"])
    for length in 1..<bytes.count { #expect(UnpackedFields.texts(Array(bytes.prefix(length))) == nil) }
    #expect(UnpackedFields.texts([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]) == nil)
    #expect(UnpackedFields.texts([1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]) == nil)
  }
}
