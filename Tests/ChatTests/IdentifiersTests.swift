import Chat
import Testing

@Suite("D1, D4, M1 · Identities")
struct IdentifiersTests {
  @Test(arguments: [
    ("ann", "ann"), ("ANN", "ann"), ("a-b_0", "a-b_0"), ("-", "-"), ("", nil), ("a b", nil), ("é", nil), ("a.b", nil),
    ("a\u{0}", nil), (String(repeating: "Z", count: 100), String(repeating: "z", count: 100)),
    (String(repeating: "z", count: 101), nil),
  ])
  func D1_uidsAndGuids(_ raw: String, _ expected: String?) {
    #expect(UserID(raw)?.text == expected)
    #expect(GroupID(raw)?.text == expected)
  }

  @Test(arguments: [
    ("ann", "bob", "ann_user_bob"), ("bob", "ann", "ann_user_bob"), ("ann", "ann", "ann_user_ann"),
    ("b", "a_user_b", "a_user_b_user_b"), ("a-b", "a_b", "a-b_user_a_b"), ("z", "za", "z_user_za"),
  ])
  func D4_aPairIsInByteOrder(_ sender: String, _ receiver: String, _ id: String) {
    let conversation = Conversation(from: UserID(stored: sender), to: .user(UserID(stored: receiver)))
    #expect(conversation.id == id)
    #expect(conversation.receiver(seenBy: UserID(stored: sender)) == .user(UserID(stored: receiver)))
  }

  @Test func D4_aGroupsConversation() {
    let conversation = Conversation(from: UserID(stored: "ann"), to: .group(GroupID(stored: "team")))
    #expect(conversation.id == "group_team")
    #expect(conversation.receiver(seenBy: UserID(stored: "bob")) == .group(GroupID(stored: "team")))
  }

  @Test(arguments: [
    (Int64.min, false), (-1, false), (0, false), (1, true), (9_007_199_254_740_991, true),
    (9_007_199_254_740_992, false),
  ])
  func M1_idsAreExactIntegers(_ value: Int64, _ isValid: Bool) {
    #expect((MessageID(exactly: value) != nil) == isValid)
  }
}
