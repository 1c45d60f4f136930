import Chat
import Testing

@testable import Store

@Suite("M7 · The sweep of idempotency keys")
struct MUIDSweepTests {
  private func keys(_ world: World) throws -> Int64 {
    let connection = try #require((world.writer as? SQLiteWriter)?.session?.connection)
    return try connection.integer("SELECT count(*) FROM muids")
  }

  @Test func M7_keysAreKeptADayAndSweptAfterwards() throws {
    let world = try World(.sqlite)
    try world.send(.ann, "a", muid: "1")
    world.now = UnixSeconds(world.now.value + 24 * 3600)
    try world.send(.ann, "b", muid: "2")
    #expect(try keys(world) == 2)
    world.now = UnixSeconds(world.now.value + 60)
    try world.send(.ann, "c", muid: "3")
    #expect(try keys(world) == 2)
    // The first key is free again.
    #expect(try world.send(.ann, "other", muid: "1").content == .text("other"))
  }

  @Test func M7_oneCommitSweepsABoundedSlice() throws {
    let world = try World(.sqlite)
    for start in stride(from: 0, to: 1500, by: 500) {
      let batch = (start..<start + 500).map {
        Mutation(actor: .user(.ann), change: .sendMessage(world.outgoing("x", muid: "\($0)")))
      }
      _ = try world.writer.commit(batch, at: world.now)
    }
    world.now = UnixSeconds(world.now.value + 48 * 3600)
    try world.send(.ann, "one")
    #expect(try keys(world) == 1500 - 1024)
    // It is behind, so the next commit goes on at once.
    try world.send(.ann, "two")
    #expect(try keys(world) == 0)
  }
}
