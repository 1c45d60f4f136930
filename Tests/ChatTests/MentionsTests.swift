import Chat
import Testing

@Suite("M9 · Mention tokens")
struct MentionsTests {
  private static let hundred = String(repeating: "x", count: 100)

  @Test(arguments: [
    ("", [], false),
    ("no token at all", [], false),
    ("<@uid:ann>", ["ann"], false),
    ("hi <@uid:ann>, hi <@uid:bob>!", ["ann", "bob"], false),
    ("<@uid:bob><@uid:ann><@uid:bob>", ["bob", "ann"], false),
    ("<@uid:ANN> <@uid:a-b_1>", ["ann", "a-b_1"], false),
    ("<@all:everyone>", [], true),
    ("<@all:Alle zusammen, 1 2 3>", [], true),
    ("<@uid:ann> <@all:x>", ["ann"], true),
    ("<@all:>", [], false),
    ("<@all>", [], false),
    ("<@uid:>", [], false),
    ("<@uid:a b>", [], false),
    ("<@uid:é>", [], false),
    ("<@uid:ann", [], false),
    ("@uid:ann>", [], false),
    ("< @uid:ann>", [], false),
    ("<@UID:ann>", [], false),
    ("<<@uid:ann>>", ["ann"], false),
    ("<@uid:an<@uid:bob>", ["bob"], false),
    ("<@all:a<@uid:bob>", ["bob"], false),
    ("&lt;@uid:ann&gt;", [], false),
    ("> <@uid:ann> quoted", ["ann"], false),
    ("👩‍👩‍👧<@uid:ann>\u{0}<@uid:bob>", ["ann", "bob"], false),
    ("<@uid:\(hundred)>", [hundred], false),
    ("<@uid:\(hundred)x>", [], false),
  ])
  func M9_tokens(_ text: String, _ uids: [String], _ all: Bool) {
    #expect(Mentions(in: text) == Mentions(uids: uids.map { UserID(stored: $0) }, all: all))
  }

  @Test func M9_onlyTheMessagesOwnWordsCount() {
    let text = "<@uid:ann>"
    let ann = Mentions(uids: [UserID(stored: "ann")])
    let file = Attachment(name: text, fileExtension: "", size: 0, mimeType: "", url: text)
    #expect(Mentions(of: .text(text)) == ann)
    #expect(Mentions(of: .media(.file, attachments: [file], caption: text)) == ann)
    #expect(Mentions(of: .media(.file, attachments: [file], caption: nil)) == .none)
    #expect(Mentions(of: .custom(type: "t", data: JSONText(unchecked: #"{"a":"<@uid:ann>"}"#))) == .none)
  }

  @Test func M9_everyCutOfATokenIsPlainText() {
    let token = "<@uid:ann>"
    for length in 0..<token.utf8.count {
      #expect(Mentions(in: String(token.prefix(length))) == .none)
      #expect(Mentions(in: String(token.suffix(length))) == .none)
    }
  }
}
