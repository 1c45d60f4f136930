import Chat
import Testing

@testable import Store

@Suite("T3, M1, R6 · What a transaction writes")
struct StoredRowsTests {
  @Test func T3_oneNotificationJobForEachMessage() throws {
    let world = try World(.sqlite)
    let root = try world.send(.ann, "root", muid: "x")
    try world.send(.ann, "root", muid: "x")
    let reply = try world.send(.bob, "<@uid:ann> <@uid:cyd>", parent: root.id)
    let connection = try #require((world.writer as? SQLiteWriter)?.session?.connection)
    let jobs = try connection.prepare("SELECT message_id FROM notification_jobs ORDER BY message_id")
      .all { $0.integer(0) }
    #expect(jobs == [root.id.value, reply.id.value])
  }

  @Test func M1_everyPositionHasALogRow() throws {
    let world = try World(.sqlite)
    let root = try world.send(.ann, "root <@uid:bob>")
    _ = try world.subscribe(.cyd, root.id)
    try world.must(.user(.bob), .leaveGroup(.team))
    try world.must(.application, .mintToken(.ann, hash: [1], expiresAt: .never))
    try world.must(.application, .revokeToken(hash: [1]))
    let connection = try #require((world.writer as? SQLiteWriter)?.session?.connection)
    let rows = try connection.prepare("SELECT seq, kind FROM log ORDER BY seq").all { ($0.integer(0), $0.integer(1)) }
    #expect(rows.map(\.0) == [1, 2, 3, 4, 5, 6, 7, 8])
    // Three joined, a message, two subscriptions, one left, one revocation.
    #expect(rows.map(\.1) == [3, 3, 3, 1, 2, 2, 3, 4])
  }

  /// What a later reader of the log needs to tell each event again.
  @Test func R6_aLogRowHoldsItsEvent() throws {
    let world = try World(.sqlite)
    let root = try world.send(.ann, "root <@uid:bob>")
    try world.must(.user(.ann), .kickMember(.team, .bob))
    try world.must(.application, .mintToken(.cyd, hash: [7, 8], expiresAt: .never))
    try world.must(.application, .revokeToken(hash: [7, 8]))
    let connection = try #require((world.writer as? SQLiteWriter)?.session?.connection)
    let rows = try connection.prepare(
      """
      SELECT log.at, log.message_id, users.uid, groups.guid, log.payload
      FROM log LEFT JOIN users ON users.id = log.user_id
        LEFT JOIN groups ON groups.conversation_id = log.conversation_id
      WHERE log.seq >= \(root.id.value) ORDER BY log.seq
      """
    ).all { row in
      (
        at: row.integer(0), message: row.integer(1), uid: row.text(2), guid: row.text(3), payload: row.blob(4)
      )
    }
    #expect(rows.map(\.at) == Array(repeating: world.now.value, count: 4))
    #expect(rows.map(\.message) == [root.id.value, root.id.value, 0, 0])
    #expect(rows.map(\.uid) == ["ann", "bob", "bob", "cyd"])
    #expect(rows.map(\.guid) == ["team", "team", "team", ""])
    let mention = Array("mention".utf8)
    let kicked = Array("kicked".utf8)
    let participant = Array("participant".utf8)
    #expect(
      rows.map(\.payload) == [
        [], [1, 7] + mention, [6] + kicked + [11] + participant + [3] + Array("ann".utf8), [7, 8],
      ])
  }
}
