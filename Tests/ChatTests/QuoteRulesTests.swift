import Chat
import Testing

@Suite("M10 · Quotes")
struct QuoteRulesTests {
  private static let x198 = String(repeating: "x", count: 198)

  @Test(arguments: [
    ("", ""),
    ("short", "short"),
    (x198 + "ab", x198 + "ab"),
    (x198 + "abc", x198 + "ab"),
    // One character of five scalars that goes across the limit is left out whole.
    (x198 + "a👩‍👩‍👧", x198 + "a"),
    // The letter and its accent are one character; the accent would be scalar 201.
    (x198 + "ae\u{301}", x198 + "a"),
    (x198 + "e\u{301}!", x198 + "e\u{301}"),
  ])
  func M10_theCopyIsCutAt200(_ text: String, _ expected: String) {
    #expect(QuoteRules.cut(text) == expected)
  }

  @Test func M10_oneEndlessCharacterIsCutAllTheSame() {
    let accents = String(repeating: "\u{301}", count: 199)
    #expect(QuoteRules.cut("e" + accents + accents) == "e" + accents)
  }

  @Test func M10_theCopyShowsTheWords() {
    let file = Attachment(name: "n", fileExtension: "", size: 0, mimeType: "", url: "u")
    #expect(QuoteRules.text(of: .text("words")) == "words")
    #expect(QuoteRules.text(of: .media(.file, attachments: [file], caption: "caption")) == "caption")
    #expect(QuoteRules.text(of: .media(.file, attachments: [file], caption: nil)) == "")
    #expect(QuoteRules.text(of: .custom(type: "t", data: JSONText(unchecked: #"{"secret":1}"#))) == "")
  }

  @Test func M10_onlyALivingMessageOfTheConversationIsQuoted() {
    func facts(isDeleted: Bool) -> MessageFacts {
      MessageFacts(
        id: MessageID(1), category: .message, isDeleted: isDeleted, access: .participant(joinedSeq: .none))
    }
    let refused = Refusal(.messageIDNotFound, details: [.field("quotedMessageId")])
    #expect(QuoteRules.refusal(ofQuoting: facts(isDeleted: false)) == nil)
    #expect(QuoteRules.refusal(ofQuoting: facts(isDeleted: true)) == refused)
    #expect(QuoteRules.refusal(ofQuoting: nil) == refused)
  }
}
