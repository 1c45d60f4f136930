import Chat
import Foundation
import Testing

@testable import Store

@Suite("S7, S11 · A full disk, a crash, damage")
struct FailureTests {
  private func engineConnection(_ world: World) throws -> Connection {
    try #require((world.writer as? SQLiteWriter)?.session?.connection)
  }

  private func sends(_ world: World, _ texts: [String]) -> [Mutation] {
    texts.map { Mutation(actor: .user(.ann), change: .sendMessage(world.outgoing($0, muid: $0))) }
  }

  @Test func S11_aFullDiskRefusesTheBatchAndRecoversByItself() throws {
    let world = try World(.sqlite)
    let root = try world.send(.ann, "root")
    let head = try world.reader.head()
    let connection = try engineConnection(world)
    let pages = try connection.integer("PRAGMA page_count")
    try connection.execute("PRAGMA max_page_count = \(pages)")
    let long = String(repeating: "x", count: 16_000)
    var batch = sends(world, (0..<8).map { "\($0)\(long)" })
    batch.insert(
      Mutation(actor: .user(.bob), change: .sendMessage(world.outgoing("small", parent: root.id, muid: "s"))), at: 0)
    do {
      _ = try world.writer.commit(batch, at: world.now)
      Issue.record("A commit on a full disk has to fail.")
    } catch let failure {
      #expect(failure.kind == .unavailable)
      #expect(failure.message == "The disk that holds the store is full.")
    }
    #expect(!world.writer.isWritable())
    // Reads go on, and nothing of the batch is there.
    #expect(try world.reader.head() == head)
    #expect(try world.fetch(root.id, by: .bob).message.replyCount == 0)
    #expect(try !world.isSubscribed(.bob, root.id))

    try connection.execute("PRAGMA max_page_count = 1000000")
    #expect(world.writer.isWritable())
    let commit = try world.writer.commit(batch, at: world.now)
    #expect(commit.previousHead == head)
    #expect(commit.outcomes.compactMap { $0.fetched?.message.id.value }.first == head.value + 1)
    #expect(commit.outcomes.allSatisfy { $0.refusal == nil })
    #expect(try world.fetch(root.id, by: .bob).message.replyCount == 1)
  }

  @Test(arguments: ["/data", "/data/threadcast.sqlite"])
  func S11_M8_nothingIsAcknowledgedIntoAStoreThatWasDeleted(what: String) throws {
    let world = try World(.sqlite)
    try FileManager.default.removeItem(atPath: world.folder.path + what)
    do {
      _ = try world.writer.commit(sends(world, ["lost"]), at: world.now)
      Issue.record("A commit into a deleted store has to fail.")
    } catch let failure {
      #expect(failure.kind == .unavailable)
      #expect(
        failure.message.hasSuffix("was deleted or moved while in use; put it back, or restart on a whole folder."))
    }
    #expect(!world.writer.isInPlace())
    #expect(!world.writer.isWritable())
  }

  @Test func S10_S11_aFolderThatWasMovedAwayAndPutBackIsTheSameStore() throws {
    let world = try World(.sqlite)
    let folder = world.folder.path + "/data"
    try FileManager.default.moveItem(atPath: folder, toPath: folder + "-elsewhere")
    #expect(!world.writer.isInPlace())
    #expect(throws: StoreFailure.self) { try world.writer.commit(sends(world, ["lost"]), at: world.now) }
    // Another store under the old name is not ours.
    _ = try SQLiteStore.open(folder: folder).makeWriter()
    #expect(!world.writer.isInPlace())
    #expect(throws: StoreFailure.self) { try world.writer.commit(sends(world, ["lost"]), at: world.now) }
    try FileManager.default.removeItem(atPath: folder)
    try FileManager.default.moveItem(atPath: folder + "-elsewhere", toPath: folder)
    #expect(world.writer.isInPlace() && world.writer.isWritable())
    let commit = try world.writer.commit(sends(world, ["kept"]), at: world.now)
    #expect(commit.outcomes.allSatisfy { $0.refusal == nil })
  }

  @Test func S11_whatARolledBackBatchMadeIsForgotten() throws {
    let world = try World(.sqlite)
    let connection = try engineConnection(world)
    try connection.execute("PRAGMA max_page_count = \(try connection.integer("PRAGMA page_count"))")
    let eve = UserID(stored: "eve")
    let club = GroupID(stored: "club")
    let batch =
      [
        Mutation(actor: .application, change: .createUser(User(uid: eve, name: "Eve"))),
        Mutation(actor: .user(.ann), change: .createGroup(Group(guid: club, name: "Club", owner: .ann))),
        Mutation(actor: .user(.ann), change: .addMembers(.team, [NewMember(uid: .dan, scope: .participant)])),
        Mutation(actor: .user(.dan), change: .sendMessage(world.outgoing("x", to: .user(.cyd)))),
      ] + sends(world, (0..<8).map { "\($0)" + String(repeating: "x", count: 16_000) })
    #expect(throws: StoreFailure.self) { try world.writer.commit(batch, at: world.now) }
    try connection.execute("PRAGMA max_page_count = 1000000")
    #expect(try world.refusal(.application, .mintToken(eve, hash: [1], expiresAt: .never)).code == .uidNotFound)
    #expect(try world.refusal(.user(.ann), .leaveGroup(club)).code == .guidNotFound)
    #expect(try world.refusal(.user(.dan), .sendMessage(world.outgoing("x"))).code == .groupNotJoined)
    let head = try world.reader.head().value
    let again = try world.send(.dan, "x", to: .user(.cyd))
    #expect(again.id.value == head + 1)
    #expect(try world.ids(MessageQuery(place: .user(.cyd)), by: .dan) == [head + 1])
  }

  @Test func S11_aBrokenConnectionIsOpenedAnew() throws {
    let world = try World(.sqlite)
    let connection = try engineConnection(world)
    // A transaction that nobody ends stands for a rollback that failed.
    try connection.execute("BEGIN")
    #expect(throws: StoreFailure.self) { try world.writer.commit(sends(world, ["a"]), at: world.now) }
    #expect(try world.send(.ann, "b").content == .text("b"))
  }

  @Test func M8_whatWasAcknowledgedOutlivesTheProcess() throws {
    let world = try World(.sqlite)
    let root = try world.send(.ann, "root")
    let reply = try world.send(.bob, "reply", parent: root.id)
    // The files as a power cut would leave them: the writer has not been closed.
    let copy = try TemporaryFolder()
    for name in ["threadcast.sqlite", "threadcast.sqlite-wal"] {
      try FileManager.default.copyItem(atPath: "\(world.folder.path)/data/\(name)", toPath: "\(copy.path)/\(name)")
    }
    let store = try SQLiteStore.open(folder: copy.path)
    #expect(store.epoch == world.store.epoch)
    let reader = try store.makeReader()
    #expect(try reader.head() == (try world.reader.head()))
    #expect(try reader.message(reply.id, actor: .user(.cyd)).get().message == reply)
    #expect(try reader.message(root.id, actor: .user(.bob)).get() == (try world.fetch(root.id, by: .bob)))
  }

  /// Whatever part of the write-ahead log reached the disk, a batch is there whole or not at all.
  @Test func S7_aTornLogHoldsWholeBatches() throws {
    let world = try World(.sqlite)
    let root = try world.send(.ann, "root")
    var heads: Set<Int64> = []
    for number in 0..<12 {
      let batch = (0..<3).map {
        Mutation(
          actor: .user(.bob),
          change: .sendMessage(world.outgoing("\(number) \($0) <@uid:cyd>", parent: root.id, muid: "\(number) \($0)")))
      }
      heads.insert(try world.writer.commit(batch, at: world.now).head.value)
    }
    let wal = try Data(contentsOf: URL(fileURLWithPath: "\(world.folder.path)/data/threadcast.sqlite-wal"))
    var seen: Set<Int64> = []
    for part in 0...40 {
      let copy = try TemporaryFolder()
      try FileManager.default.copyItem(
        atPath: "\(world.folder.path)/data/threadcast.sqlite", toPath: "\(copy.path)/threadcast.sqlite")
      // From the middle on: before it lies the world's own making.
      let length = wal.count - (wal.count / 160) * part
      try wal.prefix(length).write(to: URL(fileURLWithPath: "\(copy.path)/threadcast.sqlite-wal"))
      let reader = try SQLiteStore.open(folder: copy.path).makeReader()
      let head = try reader.head().value
      seen.insert(head)
      #expect(heads.contains(head), "cut at \(length): head \(head)")
      let replies = try reader.messages(MessageQuery(place: .thread(root.id), limit: 100), actor: .user(.ann)).get()
      #expect(try reader.message(root.id, actor: .user(.ann)).get().message.replyCount == replies.rows.count)
      #expect(replies.rows.count % 3 == 0)
    }
    #expect(seen.count > 2)
  }

  @Test func S11_damageIsFinal() throws {
    let world = try World(.sqlite)
    try world.send(.ann, "root")
    let connection = try engineConnection(world)
    try connection.execute("UPDATE messages SET category = 'nonsense'")
    do {
      _ = try world.ids(MessageQuery(place: .group(.team)), by: .ann)
      Issue.record("A damaged row has to fail.")
    } catch {
      #expect((error as? StoreFailure)?.kind == .unusable)
    }
    // The reader is fit for other reads.
    #expect(try world.reader.user(.ann) != nil)
  }
}
