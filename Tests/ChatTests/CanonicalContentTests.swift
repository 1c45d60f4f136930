import Chat
import Testing

@Suite("M7 · What makes two requests the same")
struct CanonicalContentTests {
  private static let ann = UserID(stored: "ann")

  /// Each differs from every other in one field.
  private static var variants: [OutgoingMessage] {
    func text(
      _ text: String, to receiver: Receiver = .user(ann), parent: Int64? = nil, quoted: Int64? = nil,
      _ extras: MessageExtras = MessageExtras()
    ) -> OutgoingMessage {
      OutgoingMessage(
        receiver: receiver, content: .text(text), parent: parent.map { MessageID($0) },
        quoted: quoted.map { MessageID($0) }, extras: extras)
    }
    func content(_ content: Content) -> OutgoingMessage { OutgoingMessage(receiver: .user(ann), content: content) }
    func file(
      _ name: String = "n", _ ending: String = "e", _ size: Int64 = 1, _ type: String = "t", _ url: String = "u"
    )
      -> Chat.Attachment
    {
      Attachment(name: name, fileExtension: ending, size: size, mimeType: type, url: url)
    }
    return [
      text("a"), text("b"), text(""), text("a", to: .group(GroupID(stored: "ann"))),
      text("a", to: .user(UserID(stored: "bob"))), text("a", parent: 1), text("a", quoted: 1),
      text("a", parent: 1, quoted: 1),
      text("a", MessageExtras(subType: "")), text("a", MessageExtras(subType: "a")),
      text("a", MessageExtras(conversationText: "")), text("a", MessageExtras(updateConversation: false)),
      text("a", MessageExtras(updateConversation: true)), text("a", MessageExtras(sendNotification: false)),
      text("a", MessageExtras(metadata: JSONText(unchecked: #"{"a":1}"#))), text("a", MessageExtras(tags: ["a"])),
      text("a", MessageExtras(tags: ["", "a"])), text("a", MessageExtras(tags: ["a", ""])),
      text("a", MessageExtras(tags: ["ab", "c"])), text("a", MessageExtras(tags: ["a", "bc"])),
      content(.custom(type: "a", data: .emptyObject)), content(.custom(type: "b", data: .emptyObject)),
      content(.custom(type: "a", data: JSONText(unchecked: #"{"a":1}"#))),
      content(.media(.image, attachments: [file()], caption: nil)),
      content(.media(.image, attachments: [file()], caption: "")),
      content(.media(.video, attachments: [file()], caption: nil)),
      content(.media(.image, attachments: [file(), file()], caption: nil)),
      content(.media(.image, attachments: [file("ne", "")], caption: nil)),
      content(.media(.image, attachments: [file("n", "e", 2)], caption: nil)),
      content(.media(.image, attachments: [file("n", "e", 1, "v")], caption: nil)),
      content(.media(.image, attachments: [file("n", "e", 1, "t", "v")], caption: nil)),
    ]
  }

  @Test func M7_everyFieldCounts() {
    #expect(Self.variants.count == 31)
    #expect(Set(Self.variants.map(\.canonicalFields)).count == 31)
  }

  @Test func M7_theKeyItselfDoesNot() {
    var a = OutgoingMessage(receiver: .user(Self.ann), content: .text("x"), muid: "one")
    let first = a.canonicalFields
    a.muid = "two"
    #expect(a.canonicalFields == first)
  }

  @Test func M7_theBytesAreWrittenDown() {
    let message = OutgoingMessage(
      receiver: .user(Self.ann), content: .text("hi"), parent: MessageID(258), muid: "m",
      extras: MessageExtras(sendNotification: true, tags: ["t"]))
    let expected: [UInt8] =
      [1, 3, 0, 0, 0, 0, 0, 0, 0] + Array("ann".utf8) + [1, 2, 0, 0, 0, 0, 0, 0, 0] + Array("hi".utf8)
      + [2, 1, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 2] + [2, 0, 0, 0, 0, 0, 0, 0]
      + Array("{}".utf8) + [1, 0, 0, 0, 0, 0, 0, 0] + [1, 0, 0, 0, 0, 0, 0, 0] + Array("t".utf8)
    #expect(message.canonicalFields == expected)
  }
}
