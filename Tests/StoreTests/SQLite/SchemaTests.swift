import Chat
import Foundation
import Store
import Testing

@testable import Store

@Suite("S11, S12 · The SQLite file")
struct SchemaTests {
  /// A folder with a store in it, closed again.
  private func madeStore() throws -> (folder: TemporaryFolder, data: DataFolder) {
    let folder = try TemporaryFolder()
    let data = DataFolder(path: folder.path + "/data")
    _ = try SQLiteStore.open(folder: data.path)
    return (folder, data)
  }

  private func failure(_ body: () throws -> Void) -> StoreFailure? {
    do {
      try body()
      return nil
    } catch {
      return error as? StoreFailure
    }
  }

  @Test func S11_anOlderSchemaIsMigrated() throws {
    let (folder, data) = try madeStore()
    defer { withExtendedLifetime(folder) {} }
    let connection = try Connection(path: data.databasePath, role: .writer)
    let steps = Schema.steps + ["CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT"]
    let migration = Migration(connection: connection, steps: steps)
    #expect(try migration.state() == .behind)
    try migration.run()
    #expect(try migration.state() == .current)
    #expect(try connection.integer("SELECT count(*) FROM later") == 0)
    #expect(try connection.integer("SELECT count(*) FROM users") == 1)
  }

  @Test func S11_aFailedStepLeavesTheVersionBeforeIt() throws {
    let (folder, data) = try madeStore()
    defer { withExtendedLifetime(folder) {} }
    let connection = try Connection(path: data.databasePath, role: .writer)
    let version = Int64(Schema.steps.count)
    let good = "CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT"
    let bad = "CREATE TABLE latest (id INTEGER PRIMARY KEY) STRICT; INSERT INTO nowhere VALUES (1)"
    let migration = Migration(connection: connection, steps: Schema.steps + [good, bad])
    #expect(failure { try migration.run() }?.kind == .unusable)
    #expect(try connection.integer("PRAGMA user_version") == version + 1)
    #expect(try connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'later'") == 1)
    #expect(try connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'latest'") == 0)
    #expect(!connection.isInTransaction)
  }

  @Test func S11_aNewerSchemaIsRefused() throws {
    let (folder, data) = try madeStore()
    defer { withExtendedLifetime(folder) {} }
    try Connection(path: data.databasePath, role: .writer).execute("PRAGMA user_version = 99")
    let refused = failure { _ = try SQLiteStore.open(folder: data.path) }
    #expect(refused?.kind == .unusable)
    #expect(refused?.message.hasPrefix("The store has schema version 99, but this program knows no newer one") == true)
  }

  @Test func S11_anotherProgramsDatabaseIsRefusedUntouched() throws {
    let folder = try TemporaryFolder()
    let data = DataFolder(path: folder.path)
    try data.create()
    try Connection(path: data.databasePath, role: .writer).execute("CREATE TABLE theirs (a)")
    let refused = failure { _ = try SQLiteStore.open(folder: data.path) }
    #expect(refused?.kind == .unusable)
    #expect(refused?.message == "The file is a database, but not a Threadcast store.")
    let connection = try Connection(path: data.databasePath, role: .writer)
    #expect(try connection.integer("SELECT count(*) FROM sqlite_schema") == 1)
  }

  @Test func S11_whatIsNoDatabaseIsRefused() throws {
    let folder = try TemporaryFolder()
    let data = DataFolder(path: folder.path)
    let noise = Data(repeating: 0x41, count: 8192)
    try noise.write(to: URL(fileURLWithPath: data.databasePath))
    let refused = failure { _ = try SQLiteStore.open(folder: data.path) }
    #expect(refused?.kind == .unusable)
    #expect(refused?.message == "The file is not a store.")
  }

  @Test func S11_aStartThatWasCutIsFinishedByTheNext() throws {
    let folder = try TemporaryFolder()
    let data = DataFolder(path: folder.path)
    try data.create()
    let connection = try Connection(path: data.databasePath, role: .writer)
    try Migration(connection: connection, steps: Schema.steps).run()
    let store = try SQLiteStore.open(folder: data.path)
    #expect(store.epoch.count == 32)
    #expect(try store.makeReader().user(.application) != nil)
    #expect(try SQLiteStore.open(folder: data.path).epoch == store.epoch)
  }

  @Test func S12_filesBelongToTheirOwnerAlone() throws {
    let folder = try TemporaryFolder()
    let data = DataFolder(path: folder.path + "/deep/er")
    let store = try SQLiteStore.open(folder: data.path)
    let writer = try store.makeWriter()
    let create = Mutation(actor: .application, change: .createUser(User(uid: .ann, name: "Ann")))
    _ = try writer.commit([create], at: UnixSeconds(1_772_000_000))
    func rights(_ path: String) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    #expect(try rights(data.path) == 0o700)
    #expect(try rights(folder.path + "/deep") == 0o700)
    let names = try FileManager.default.contentsOfDirectory(atPath: data.path).sorted()
    #expect(
      names == ["threadcast.lock", "threadcast.sqlite", "threadcast.sqlite-shm", "threadcast.sqlite-wal"])
    for name in names { #expect(try rights(data.path + "/" + name) == 0o600, "\(name)") }
  }

  @Test func S2_aSecondWriterGetsOneSentence() throws {
    let (folder, data) = try madeStore()
    defer { withExtendedLifetime(folder) {} }
    var first: (any StoreWriter)? = try SQLiteStore.open(folder: data.path).makeWriter()
    let second = try SQLiteStore.open(folder: data.path)
    let refused = failure { _ = try second.makeWriter() }
    #expect(first != nil)
    #expect(refused?.kind == .unusable)
    #expect(refused?.message == "The data folder \(data.path) is in use by another writer.")
    // Readers need no lock, and the lock goes with its writer.
    #expect(try second.makeReader().head() == .none)
    first = nil
    #expect(try second.makeWriter().isWritable())
  }

  @Test func S6_anUnwritableFolderIsOneSentence() throws {
    let folder = try TemporaryFolder()
    let file = folder.path + "/file"
    try Data().write(to: URL(fileURLWithPath: file))
    let refused = failure { _ = try SQLiteStore.open(folder: file + "/data") }
    #expect(refused?.kind == .unusable)
    #expect(refused?.message == "Cannot make the data folder \(file)/data: Not a directory.")
  }

  @Test func settingsInForce() throws {
    let (folder, data) = try madeStore()
    defer { withExtendedLifetime(folder) {} }
    let writer = try Connection(path: data.databasePath, role: .writer)
    #expect(try writer.prepare("PRAGMA journal_mode").first { $0.text(0) } == "wal")
    #expect(try writer.integer("PRAGMA synchronous") == 2)
    #expect(try writer.integer("PRAGMA application_id") == 0x5443_7374)
    let reader = try Connection(path: data.databasePath, role: .reader)
    #expect(try reader.integer("PRAGMA query_only") == 1)
    #expect(failure { try reader.execute("DELETE FROM users") } != nil)
    #expect(try reader.integer("SELECT count(*) FROM users") == 1)
  }
}
