import Chat
import Foundation
import Store
import Testing

@testable import Store

@Suite("S5, R11 · Backup and migration")
struct BackupTests {
  private func failure(_ body: () throws -> Void) -> StoreFailure? {
    do {
      try body()
      return nil
    } catch { return error as? StoreFailure }
  }

  private func rights(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  private func restore(_ file: String, into folder: String) throws -> SQLiteStore {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: file, toPath: folder + "/threadcast.sqlite")
    return try SQLiteStore.open(folder: folder)
  }

  @Test func S5_R11_aCopyMadeInUseHoldsEverythingUnderANewEpoch() throws {
    let world = try World(.sqlite)
    let root = try world.send(.ann, "root")
    let reply = try world.send(.bob, "reply", parent: root.id)
    let head = try world.reader.head().value
    let file = world.folder.path + "/copy.sqlite"
    let summary = try Backup(folder: world.folder.path + "/data").write(to: file, overwrites: false)
    #expect(summary.head == head)
    #expect(summary.epoch.count == 32 && summary.epoch != world.store.epoch)
    #expect(summary.schemaVersion == Schema.steps.count)
    #expect(try rights(file) == 0o600)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: world.folder.path).sorted() == ["copy.sqlite", "data"])
    // The original goes on, and the copy does not know of it.
    let later = try world.send(.ann, "later")

    let restored = try restore(file, into: world.folder.path + "/restored")
    #expect(restored.epoch == summary.epoch)
    let reader = try restored.makeReader()
    #expect(try reader.head().value == summary.head)
    #expect(try reader.message(root.id, actor: .user(.ann)).get().message.replyCount == 1)
    let ids = try reader.messages(MessageQuery(place: .thread(root.id)), actor: .user(.ann)).get().rows
    #expect(ids.map(\.message.id) == [reply.id])
    let writer = try restored.makeWriter()
    let outgoing = world.outgoing("in the copy")
    let commit = try writer.commit([Mutation(actor: .user(.ann), change: .sendMessage(outgoing))], at: world.now)
    #expect(commit.outcomes.first?.fetched?.message.id == later.id)
    #expect(try SQLiteStore.open(folder: world.folder.path + "/data").epoch == world.store.epoch)
  }

  @Test func R11_everyCopyHasItsOwnEpoch() throws {
    let world = try World(.sqlite)
    let backup = Backup(folder: world.folder.path + "/data")
    let epochs = try (0..<3).map { try backup.write(to: world.folder.path + "/\($0)", overwrites: false).epoch }
    #expect(Set(epochs + [world.store.epoch]).count == 4)
  }

  @Test func S5_aFileThatIsThereIsReplacedOnlyWhenAskedTo() throws {
    let world = try World(.sqlite)
    let file = world.folder.path + "/copy.sqlite"
    try Data("mine".utf8).write(to: URL(fileURLWithPath: file))
    let backup = Backup(folder: world.folder.path + "/data")
    let refused = failure { _ = try backup.write(to: file, overwrites: false) }
    #expect(refused?.message == "\(file) is there already; choose another name, or replace it with --force.")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
    _ = try backup.write(to: file, overwrites: true)
    #expect(try rights(file) == 0o600)
    #expect(try restore(file, into: world.folder.path + "/restored").makeReader().user(.ann) != nil)
  }

  @Test(arguments: ["/data/copy.sqlite", "/data/threadcast.sqlite", "/data/../data/copy"])
  func S5_theDataFolderTakesNoCopies(place: String) throws {
    let world = try World(.sqlite)
    let kept = try world.send(.ann, "kept").id.value
    let backup = Backup(folder: world.folder.path + "/data")
    let refused = failure { _ = try backup.write(to: world.folder.path + place, overwrites: true) }
    #expect(refused?.message.hasPrefix("A backup does not belong into the data folder") == true)
    #expect(try world.send(.ann, "and on").id.value == kept + 1)
  }

  @Test func S5_aFailedBackupLeavesNothingBehind() throws {
    let world = try World(.sqlite)
    let missing = world.folder.path + "/missing/copy"
    #expect(
      failure { _ = try Backup(folder: world.folder.path + "/data").write(to: missing, overwrites: false) }?.message
        == "Cannot write into \(world.folder.path)/missing: No such file or directory.")
    let connection = try #require((world.writer as? SQLiteWriter)?.session?.connection)
    try connection.execute("DELETE FROM meta")
    let damaged = failure {
      _ = try Backup(folder: world.folder.path + "/data").write(to: world.folder.path + "/copy", overwrites: false)
    }
    #expect(damaged?.kind == .unusable)
    #expect(try FileManager.default.contentsOfDirectory(atPath: world.folder.path) == ["data"])
  }

  @Test func S5_writesUnderWayDoNotDisturbACopy() async throws {
    let world = try World(.sqlite)
    let root = try world.send(.ann, "root")
    let path = world.folder.path
    let copying = Task.detached {
      try (0..<8).map { try Backup(folder: path + "/data").write(to: path + "/\($0)", overwrites: false) }
    }
    for number in 0..<400 { try world.send(.bob, "\(number)", parent: root.id) }
    let summaries = try await copying.value
    for (number, summary) in summaries.enumerated() {
      let reader = try restore(path + "/\(number)", into: path + "/restored-\(number)").makeReader()
      let count = try reader.message(root.id, actor: .user(.ann)).get().message.replyCount
      #expect(try reader.head().value == summary.head)
      // One position for the root and one a reply, and Bob's subscription.
      #expect(count == 0 || summary.head == root.id.value + Int64(count) + 1)
    }
  }

  @Test func S5_S11_migrateSaysFromAndTo() throws {
    let world = try World(.sqlite)
    let path = world.folder.path + "/data"
    let version = Schema.steps.count
    let same = try SQLiteStore.migrate(folder: path)
    #expect(same.from == version && same.to == version)
    let steps = Schema.steps + ["CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT"]
    // The writer of `world` holds the folder.
    #expect(failure { _ = try SQLiteStore.migrate(folder: path, steps: steps) }?.isInUse == true)
    let file = world.folder.path + "/copy"
    _ = try Backup(folder: path).write(to: file, overwrites: false)
    let other = world.folder.path + "/restored"
    _ = try restore(file, into: other)
    let moved = try SQLiteStore.migrate(folder: other, steps: steps)
    #expect(moved.from == version && moved.to == version + 1)
    let newer = failure { _ = try SQLiteStore.migrate(folder: other) }
    #expect(newer?.message.contains("this program knows no newer one than \(version)") == true)
    #expect(failure { _ = try Backup(folder: other).write(to: file, overwrites: true) }?.kind == .unusable)
    #expect(failure { _ = try StoreCredentials(folder: other) }?.kind == .unusable)
  }

  @Test func S12_wideRightsAreTightenedAndTold() throws {
    let world = try World(.sqlite)
    let path = world.folder.path + "/data"
    func loosen() throws {
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path + "/threadcast.sqlite")
    }
    #expect(try SQLiteStore.open(folder: path).wideRights.isEmpty)
    try loosen()
    #expect(
      try SQLiteStore.open(folder: path).wideRights == [
        WideRights(path: path, mode: "755", isTightened: true),
        WideRights(path: path + "/threadcast.sqlite", mode: "644", isTightened: true),
      ])
    #expect(try rights(path) == 0o700 && rights(path + "/threadcast.sqlite") == 0o600)
    // A folder with other things in it may be somebody's home.
    try Data().write(to: URL(fileURLWithPath: path + "/mine"))
    try loosen()
    #expect(
      try SQLiteStore.open(folder: path).wideRights == [
        WideRights(path: path, mode: "755", isTightened: false),
        WideRights(path: path + "/threadcast.sqlite", mode: "644", isTightened: true),
      ])
    #expect(try rights(path) == 0o755)
  }
}
