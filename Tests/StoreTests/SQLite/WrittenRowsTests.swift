import Chat
import Testing

@testable import Store

/// Read markers and deactivation have no operation yet, so the rows are written as one would leave them.
@Suite("M14, D7 · Markers and deactivated users")
struct WrittenRowsTests {
  @Test func M14_deletedRepliesAndReadOnesAreNotUnread() throws {
    let world = try World(.sqlite)
    let root = try world.send(.ann, "root")
    let replies = try (1...5).map { try world.send(.bob, "\($0)", parent: root.id).id }
    #expect(try world.fetch(root.id, by: .ann).viewer.unreadRepliesCount == 5)
    try world.must(.user(.bob), .deleteMessage(replies[3]))
    #expect(try world.fetch(root.id, by: .ann).viewer.unreadRepliesCount == 4)
    let connection = try #require((world.writer as? SQLiteWriter)?.session?.connection)
    try connection.execute(
      """
      INSERT INTO read_markers (user_id, conversation_id, root_id, read_upto, delivered_upto)
      SELECT users.id, m.conversation_id, m.id, \(replies[1].value), 0 FROM users, messages m
      WHERE users.uid = 'ann' AND m.id = \(root.id.value)
      """)
    #expect(try world.fetch(root.id, by: .ann).viewer.unreadRepliesCount == 2)
    // T9: the marker goes with the membership, and another's is left alone.
    try connection.execute(
      "INSERT INTO read_markers SELECT user_id + 1, conversation_id, root_id, 1, 1 FROM read_markers")
    try world.must(.user(.bob), .leaveGroup(.team))
    #expect(try connection.integer("SELECT count(*) FROM read_markers") == 1)
  }

  @Test func D7_aDeactivatedUserIsNotFound() throws {
    let world = try World(.sqlite)
    let message = try world.send(.dan, "hi", to: .user(.ann))
    let hash = [UInt8](repeating: 1, count: 32)
    try world.must(.application, .mintToken(.dan, hash: hash, expiresAt: .never))
    try world.must(.user(.ann), .addMembers(.team, [NewMember(uid: .dan, scope: .participant)]))
    try Connection(path: world.folder.path + "/data/threadcast.sqlite", role: .writer)
      .execute("UPDATE users SET deactivated_at = 5 WHERE uid = 'dan'")
    // The writer remembers people; a deactivation of its own would tell it.
    let session = try #require((world.writer as? SQLiteWriter)?.session)
    session.directory.forget()
    #expect(try world.reader.user(.dan) == nil)
    #expect(try world.reader.session(.dan, openThreads: [], withFollowed: false) == nil)
    #expect(try world.reader.tokenHolder(hash: hash, now: world.now) == nil)
    #expect(try world.refusal(.user(.ann), .sendMessage(world.outgoing("x", to: .user(.dan)))).code == .uidNotFound)
    #expect(try world.refusal(.user(.dan), .sendMessage(world.outgoing("x"))).code == .notLoggedIn)
    #expect(
      try world.reader.messages(MessageQuery(place: .user(.dan)), actor: .user(.ann)).refusal?.code == .uidNotFound)
    #expect(try world.send(.ann, "<@uid:dan>").mentions == [])
    let members = try world.reader.members(of: .team, after: nil, limit: 9, actor: .user(.ann)).get()
    #expect(members.rows.map(\.user.uid) == [.ann, .bob, .cyd])
    // What was written stays readable.
    #expect(try world.fetch(message.id, by: .ann).message.sender.uid == .dan)
  }
}
