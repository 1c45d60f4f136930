import Chat
import Testing

@testable import Store

@Suite("Pages walk an index")
struct QueryPlanTests {
  private func plan(_ sql: String) throws -> [String] {
    let folder = try TemporaryFolder()
    let data = DataFolder(path: folder.path)
    _ = try SQLiteStore.open(folder: data.path)
    let connection = try Connection(path: data.databasePath, role: .reader)
    let statement = try connection.prepare("EXPLAIN QUERY PLAN \(sql)")
    for _ in 0..<statement.parameterCount { statement.bind(Int64(0)) }
    return try statement.all { $0.text(3) }
  }

  @Test(arguments: MessageQuery.Direction.allCases)
  func pagesOfMessages(_ direction: MessageQuery.Direction) throws {
    let side = direction == .before ? "<" : ">"
    let expected: [(MessagePages.Source, String)] = [
      (.conversation, "USING INDEX messages_of_conversation (conversation_id=? AND rowid\(side)?)"),
      (.roots, "USING INDEX messages_roots (conversation_id=? AND root_id=? AND rowid\(side)?)"),
      (.thread, "USING INDEX messages_of_thread (root_id=? AND id\(side)?)"),
      (.everything, "USING INTEGER PRIMARY KEY (rowid\(side)?)"),
      (.everyRoot, "USING INTEGER PRIMARY KEY (rowid\(side)?)"),
    ]
    for (source, walk) in expected {
      let steps = try plan(MessagePages.wholeSQL(source, direction))
      #expect(steps == ["SEARCH m \(walk)", "SEARCH t USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN"])
    }
  }

  @Test(arguments: MessageQuery.Direction.allCases)
  func idsOfOneConversationAmongMany(_ direction: MessageQuery.Direction) throws {
    let range = "rowid>? AND rowid<?"
    #expect(
      try plan(MessagePages.idsSQL(.conversation, direction))
        == ["SEARCH m USING COVERING INDEX messages_of_conversation (conversation_id=? AND \(range))"])
    #expect(
      try plan(MessagePages.idsSQL(.roots, direction))
        == ["SEARCH m USING COVERING INDEX messages_roots (conversation_id=? AND root_id=? AND \(range))"])
  }

  @Test func membersOfAGroup() throws {
    #expect(
      try plan(SQLiteReader.membersPageSQL)
        == [
          "SEARCH m USING INDEX memberships_page (group_id=? AND uid>?)",
          "SEARCH users USING INTEGER PRIMARY KEY (rowid=?)",
        ])
  }

  @Test func M14_unreadRepliesAreStepsIntoIndexes() throws {
    let steps = try plan(ThreadStandings.unreadRepliesSQL).filter { $0.hasPrefix("SEARCH") || $0.hasPrefix("SCAN m") }
    #expect(
      steps == [
        "SEARCH threads USING INTEGER PRIMARY KEY (rowid=?)",
        "SEARCH messages USING COVERING INDEX messages_of_thread (root_id=? AND id<?)",
        "SEARCH messages USING COVERING INDEX messages_of_thread_author (root_id=? AND sender_id=?)",
        "SEARCH messages USING COVERING INDEX messages_of_thread_author (root_id=? AND sender_id=? AND id<?)",
        "SEARCH messages USING INDEX messages_never_unread (root_id=? AND id>?)",
      ])
  }

  @Test func T3_theLastReplyIsLookedForInIndexes() throws {
    #expect(
      try plan(WriterStatements.lastReplySQL).filter { !$0.hasPrefix("CORRELATED") } == [
        "SEARCH r USING COVERING INDEX messages_of_thread (root_id=? AND id<?)",
        "SEARCH d USING INDEX messages_never_unread (root_id=? AND id=?)",
      ])
  }

  @Test func M12_pagesOfReactions() throws {
    #expect(
      try plan(SQLiteReader.reactionsPageSQL(ofOne: false))
        == ["SEARCH reactions USING INDEX reactions_page (message_id=? AND seq>?)"])
    #expect(
      try plan(SQLiteReader.reactionsPageSQL(ofOne: true))
        == ["SEARCH reactions USING INDEX reactions_page_of_one (message_id=? AND reaction=? AND seq>?)"])
  }

  @Test func R6_whatWasMissedIsReadAlongIndexes() throws {
    #expect(
      try plan(MissedEvents.messagesAfterSQL)
        == ["SEARCH messages USING COVERING INDEX messages_of_conversation (conversation_id=? AND rowid>? AND rowid<?)"]
    )
    #expect(
      try plan(MissedEvents.changesOfConversationSQL)
        == ["SEARCH log USING INDEX log_of_conversation (conversation_id=? AND rowid>? AND rowid<?)"])
    #expect(
      try plan(MissedEvents.changesOfUserSQL) == ["SEARCH log USING INDEX log_of_user (user_id=? AND rowid>?)"])
    #expect(
      try plan(MissedEvents.repliesBetweenSQL)
        == ["SEARCH messages USING INDEX messages_of_conversation (conversation_id=? AND rowid>? AND rowid<?)"])
  }
}
