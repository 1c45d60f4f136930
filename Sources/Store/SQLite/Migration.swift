/// Brings a database file to a schema, one step a transaction (S11).
struct Migration {
  let connection: Connection
  /// Step n makes version n out of version n − 1.
  let steps: [String]

  enum State: Equatable { case current, behind }

  /// What the file is. Throws `.unusable` for a file that is not ours or is newer than `steps`.
  func state() throws(StoreFailure) -> State {
    let application = try connection.integer("PRAGMA application_id")
    let version = try connection.integer("PRAGMA user_version")
    if application != Schema.applicationID {
      let tables = try connection.integer("SELECT count(*) FROM sqlite_schema")
      guard application == 0, version == 0, tables == 0 else {
        throw StoreFailure(.unusable, "The file is a database, but not a Threadcast store.")
      }
      return .behind
    }
    guard version <= steps.count else {
      throw StoreFailure(
        .unusable,
        "The store has schema version \(version), but this program knows no newer one than \(steps.count): start a newer program."
      )
    }
    return version == steps.count ? .current : .behind
  }

  /// Runs the missing steps. Each is all or nothing; a failure leaves the version before it.
  func run() throws(StoreFailure) {
    let version = Int(try connection.integer("PRAGMA user_version"))
    for number in version..<steps.count {
      do throws(StoreFailure) {
        try connection.execute("BEGIN IMMEDIATE")
        try connection.execute(steps[number])
        try connection.execute("PRAGMA application_id = \(Schema.applicationID)")
        try connection.execute("PRAGMA user_version = \(number + 1)")
        try connection.execute("COMMIT")
      } catch {
        if connection.isInTransaction { try connection.execute("ROLLBACK") }
        throw error
      }
    }
  }
}
