internal import Chat

/// The embedded store: one SQLite database in a folder of its own, in write-ahead mode, so that any number of readers
/// see committed moments beside the one writer.
///
/// Made by `open(folder:)`. The writer holds the folder's lock for as long as it lives, so a second process gets one
/// clear sentence instead of a shared disaster.
package final class SQLiteStore: Store {
  package let epoch: String
  /// What other users could have reached when the store was opened; for a line of the log (S12).
  package let wideRights: [WideRights]
  private let folder: DataFolder

  private init(folder: DataFolder, epoch: String, wideRights: [WideRights]) {
    self.folder = folder
    self.epoch = epoch
    self.wideRights = wideRights
  }

  /// Opens the store in `folder`; makes the folder and the store when they are missing, and brings an older schema up
  /// to date (S11). The files belong to their owner alone, and are made to when they do not (S12).
  ///
  /// - Parameter folder: a path without a slash at its end.
  package static func open(folder path: String) throws(StoreFailure) -> SQLiteStore {
    let folder = DataFolder(path: path)
    try folder.create()
    let wideRights = folder.tighten()
    let connection = try Connection(path: folder.databasePath, role: .writer)
    let migration = Migration(connection: connection, steps: Schema.steps)
    if try migration.state() == .behind {
      let lock = try folder.lock()
      defer { withExtendedLifetime(lock) {} }
      if try migration.state() == .behind { try migration.run() }
      try found(connection)
    }
    guard let epoch = try connection.prepare("SELECT epoch FROM meta").first({ $0.text(0) }) else {
      // A first start that was cut between schema and contents.
      let lock = try folder.lock()
      defer { withExtendedLifetime(lock) {} }
      return SQLiteStore(folder: folder, epoch: try found(connection), wideRights: wideRights)
    }
    return SQLiteStore(folder: folder, epoch: epoch, wideRights: wideRights)
  }

  package func makeWriter() throws(StoreFailure) -> any StoreWriter {
    try SQLiteWriter(path: folder.databasePath, lock: folder.lock())
  }

  package func makeReader() throws(StoreFailure) -> any StoreReader {
    try SQLiteReader(path: folder.databasePath)
  }

  /// Writes what a new store starts with, once: its epoch (R11) and the system user (A2). Answers the epoch.
  @discardableResult private static func found(_ connection: Connection) throws(StoreFailure) -> String {
    if let epoch = try connection.prepare("SELECT epoch FROM meta").first({ $0.text(0) }) { return epoch }
    let epoch = newEpoch()
    try connection.execute("BEGIN IMMEDIATE")
    do throws(StoreFailure) {
      try connection.prepare("INSERT INTO meta (id, epoch) VALUES (1, ?)").bind(epoch).run()
      let system = User(uid: .application, name: "Application", role: "application")
      try AccountTransaction.insert(system, with: WriterStatements(connection: connection).newUser)
      try connection.execute("COMMIT")
    } catch {
      if connection.isInTransaction { try connection.execute("ROLLBACK") }
      throw error
    }
    return epoch
  }

  /// 128 random bits from the system's generator, as 32 hexadecimal digits.
  static func newEpoch() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<4).map { _ in
      let digits = String(UInt32.random(in: .min ... .max, using: &generator), radix: 16)
      return String(repeating: "0", count: 8 - digits.count) + digits
    }.joined()
  }
}
