import Chat
import Testing

@testable import Store

/// Deletion has no operation yet, so the rows are marked as one would leave them.
@Suite("T2, T8, T10, M10 · Deleted messages")
struct DeletedMessageTests {
  private func delete(_ id: MessageID, in world: World) throws {
    let connection = try #require((world.writer as? SQLiteWriter)?.session?.connection)
    try connection.execute("UPDATE messages SET deleted_at = 1772000001, text = NULL WHERE id = \(id.value)")
  }

  @Test func T2_aDeletedParentIsNotFound() throws {
    let world = try World(.sqlite)
    let root = try world.send(.ann, "root")
    let reply = try world.send(.bob, "reply", parent: root.id)
    try delete(root.id, in: world)
    try delete(reply.id, in: world)
    for id in [root.id, reply.id] {
      let refused = try world.refusal(.user(.bob), .sendMessage(world.outgoing("x", parent: id)))
      #expect(refused == Refusal(.messageNotFound))
      let wish = try world.refusal(.user(.cyd), .setThreadSubscription(root: id, isSubscribed: true))
      #expect(wish == Refusal(.messageIDNotFound))
      let quote = try world.refusal(.user(.bob), .sendMessage(world.outgoing("x", quoted: id)))
      #expect(quote.code == .messageIDNotFound)
    }
  }

  @Test func T10_theRepliesOfADeletedRootStayReadableAndAreNotUnread() throws {
    let world = try World(.sqlite)
    let root = try world.send(.ann, "root")
    let reply = try world.send(.bob, "reply", parent: root.id)
    #expect(try world.fetch(root.id, by: .ann).viewer.unreadRepliesCount == 1)
    try delete(root.id, in: world)
    #expect(try world.ids(MessageQuery(place: .thread(root.id)), by: .ann) == [reply.id.value])
    let seen = try world.fetch(root.id, by: .ann)
    #expect(seen.message.content == .deleted(type: "text", category: .message))
    #expect(seen.message.deletedAt == UnixSeconds(1_772_000_001))
    #expect(seen.message.replyCount == 1)
    #expect(seen.viewer.unreadRepliesCount == 0)
    #expect(try world.fetch(reply.id, by: .ann).viewer.unreadRepliesCount == 0)
  }

  @Test func M14_deletedRepliesAndReadOnesAreNotUnread() throws {
    let world = try World(.sqlite)
    let root = try world.send(.ann, "root")
    let replies = try (1...5).map { try world.send(.bob, "\($0)", parent: root.id).id }
    #expect(try world.fetch(root.id, by: .ann).viewer.unreadRepliesCount == 5)
    try delete(replies[3], in: world)
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
