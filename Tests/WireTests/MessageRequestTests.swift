import Chat
import Testing
import Wire

private let png =
  "{\"name\":\"a.png\",\"extension\":\"png\",\"size\":12,\"mimeType\":\"image/png\",\"url\":\"https://x/a\"}"

@Suite("M2–M5 message.send")
struct MessageRequestTests {
  @Test func M2_aTextWithNothingElse() {
    #expect(
      send("\"text\":\"hi\"") == .success(.messageSend(OutgoingMessage(receiver: .user(bob), content: .text("hi")))))
  }

  @Test func M3_everyFieldOfAText() {
    let result = overSocket(
      "message.send",
      """
      {"receiverUid":"CREW","receiverType":"group","category":"message","type":"text","text":" hi ","subType":"s",
       "conversationText":"c","updateConversation":true,"sendNotification":false,"parentMessageId":38208,
       "quotedMessageId":"7","muid":"m-1","metadata":{ "k" : [1, 2.50] },"tags":["a","b"]}
      """)
    let expected = OutgoingMessage(
      receiver: .group(crew), content: .text(" hi "), parent: MessageID(38_208), quoted: MessageID(7), muid: "m-1",
      extras: MessageExtras(
        subType: "s", conversationText: "c", updateConversation: true, sendNotification: false,
        metadata: JSONText(unchecked: "{\"k\":[1,2.5]}"), tags: ["a", "b"]))
    #expect(result == .success(.messageSend(expected)))
  }

  @Test(arguments: [
    ("\"attachments\":[\(png)]", MediaType.image), ("\"type\":\"file\",\"attachments\":[\(png)]", .file),
    ("\"type\":\"image\",\"attachments\":[\(png)],\"text\":\"\"", .image),
    ("\"attachments\":[\(png.replacing("image/png", with: "video/mp4"))]", .video),
    ("\"attachments\":[\(png.replacing("image/png", with: "AUDIO/ogg"))]", .audio),
    ("\"attachments\":[\(png.replacing("image/png", with: "application/pdf"))]", .file),
  ])
  func M3_mediaNeedsAttachments(members: String, type: MediaType) {
    guard
      case .media(let found, let attachments, let caption)? = send(members + ",\"caption\":\"look\"").message?.content
    else {
      Issue.record("not taken for media")
      return
    }
    #expect(found == type)
    #expect(caption == "look")
    #expect(attachments.map(\.name) == ["a.png"])
    #expect(attachments.map(\.size) == [12])
    #expect(attachments.map(\.url) == ["https://x/a"])
  }

  @Test func M3_customNeedsTypeAndData() {
    let custom = Content.custom(type: "poll", data: JSONText(unchecked: "{\"q\":1}"))
    #expect(send("\"customType\":\"poll\",\"customData\":{\"q\":1}").message?.content == custom)
    #expect(
      send("\"category\":\"custom\",\"type\":\"poll\",\"customType\":\"poll\",\"customData\":{\"q\":1}").message?
        .content == custom)
  }

  @Test(arguments: [
    "\"x\":1", "\"text\":null", "\"text\":\"\"", "\"text\":\" \"", "\"text\":\"\\t\\r\\n\\u000b\\u000c\"",
    "\"text\":\"\\u0085\\u00a0\\u1680\\u2003\\u2028\\u2029\\u202f\\u205f\\u3000\"", "\"type\":\"text\"",
    "\"category\":\"message\"",
  ])
  func M3_blankTextIsRefused(members: String) {
    let result = send(members)
    #expect(result.code == .emptyMessage)
    #expect(result.field == "text")
  }

  @Test(arguments: ["\\u200b", "\\u2060", "\\ufeff", ".", " x ", "\\u0001", "\\u00ad"])
  func M3_whatIsNotWhiteSpaceIsNotBlank(text: String) {
    #expect(send("\"text\":\"\(text)\"").message != nil)
  }

  @Test(arguments: [
    ("\"text\":7", "text"), ("\"text\":[\"x\"]", "text"), ("\"text\":\"x\",\"category\":\"action\"", "category"),
    ("\"text\":\"x\",\"category\":\"Message\"", "category"), ("\"text\":\"x\",\"category\":1", "category"),
    ("\"text\":\"x\",\"type\":\"poll\"", "type"), ("\"text\":\"x\",\"type\":\"custom\"", "type"),
    ("\"type\":\"image\"", "attachments"), ("\"type\":\"image\",\"attachments\":[]", "attachments"),
    ("\"type\":\"image\",\"attachments\":{}", "attachments"), ("\"type\":\"image\",\"attachments\":[1]", "attachments"),
    ("\"attachments\":[{}]", "attachments[0].url"),
    ("\"attachments\":[\(png),\(png.replacing("\"size\":12", with: "\"size\":\"12\""))]", "attachments[1].size"),
    ("\"attachments\":[\(png.replacing("\"size\":12", with: "\"size\":-1"))]", "attachments[0].size"),
    ("\"attachments\":[\(png.replacing("\"name\":\"a.png\",", with: ""))]", "attachments[0].name"),
    ("\"attachments\":[\(png)],\"text\":\"x\"", "text"),
    ("\"type\":\"text\",\"text\":\"x\",\"attachments\":[\(png)]", "attachments"),
    ("\"text\":\"x\",\"caption\":\"y\"", "caption"), ("\"category\":\"custom\",\"customData\":{}", "customType"),
    ("\"customData\":{}", "customType"), ("\"customType\":\" \",\"customData\":{}", "customType"),
    ("\"customType\":\"p\"", "customData"), ("\"customType\":\"p\",\"customData\":[]", "customData"),
    ("\"customType\":\"p\",\"customData\":\"{}\"", "customData"),
    ("\"customType\":\"p\",\"customData\":{},\"type\":\"q\"", "type"),
    ("\"customType\":\"p\",\"customData\":{},\"text\":\"x\"", "text"),
    ("\"category\":\"message\",\"text\":\"x\",\"customType\":\"p\"", "customType"),
    ("\"text\":\"x\",\"metadata\":[]", "metadata"), ("\"text\":\"x\",\"tags\":\"a\"", "tags"),
    ("\"text\":\"x\",\"tags\":[1]", "tags"), ("\"text\":\"x\",\"muid\":1", "muid"),
    ("\"text\":\"x\",\"updateConversation\":\"true\"", "updateConversation"),
    ("\"text\":\"x\",\"quotedMessageId\":-1", "quotedMessageId"),
  ])
  func M2_M3_wrongFieldsAreNamed(members: String, field: String) {
    let result = send(members)
    #expect(result.code == .badRequest)
    #expect(result.field == field)
  }

  @Test(arguments: [
    ("{\"receiverType\":\"user\",\"text\":\"x\"}", "receiverUid"),
    ("{\"receiverUid\":\"b\",\"text\":\"x\"}", "receiverType"),
    ("{\"receiverUid\":\"b\",\"receiverType\":\"room\",\"text\":\"x\"}", "receiverType"),
    ("{\"receiverUid\":\"b c\",\"receiverType\":\"user\",\"text\":\"x\"}", "receiverUid"),
    ("{\"receiverUid\":\"\",\"receiverType\":\"group\",\"text\":\"x\"}", "receiverUid"),
    ("{\"receiverUid\":7,\"receiverType\":\"user\",\"text\":\"x\"}", "receiverUid"),
  ])
  func D1_theReceiverMustBeNamed(data: String, field: String) {
    let result = overSocket("message.send", data)
    #expect(result.code == .badRequest)
    #expect(result.field == field)
  }

  /// What to send so that a limited thing has exactly this size.
  private static func sized(_ name: String, _ size: Int) -> String {
    let text = String(repeating: "x", count: size)
    func json(_ size: Int) -> String { "{ \"k\" : \"" + String(repeating: "x", count: size - 8) + "\" }" }
    func tags(_ count: Int, _ tag: String) -> String { (0..<count).map { _ in "\"\(tag)\"" }.joined(separator: ",") }
    switch name {
    case "textBytes": return "\"text\":\"\(text)\""
    case "metadataBytes": return "\"text\":\"x\",\"metadata\":\(json(size))"
    case "customDataBytes": return "\"customType\":\"p\",\"customData\":\(json(size))"
    case "tags": return "\"text\":\"x\",\"tags\":[\(tags(size, "t"))]"
    case "tagCharacters":
      return "\"text\":\"x\",\"tags\":[\(tags(1, String(repeating: "é", count: size)))]"
    case "attachments":
      return "\"attachments\":[" + (0..<size).map { _ in png }.joined(separator: ",") + "]"
    case "muidCharacters": return "\"text\":\"x\",\"muid\":\"\(text)\""
    default: return "\"text\":\"x\",\"subType\":\"\(text)\""
    }
  }

  @Test(arguments: [
    ("textBytes", 16_384), ("metadataBytes", 10_240), ("customDataBytes", 10_240), ("tags", 25),
    ("tagCharacters", 100), ("attachments", 10), ("muidCharacters", 100), ("nameCharacters", 255),
  ])
  func M5_exactlyAtALimitPassesAndOneAboveNamesIt(name: String, value: Int) {
    #expect(send(Self.sized(name, value)).message != nil)
    let above = send(Self.sized(name, value + 1))
    #expect(above.code == .tooLarge)
    #expect(above.limit == .limit(name: name, value: value))
  }

  @Test func M5_sizesAreDecodedBytes() {
    let limits = { () -> Limits in
      var limits = Limits()
      limits.textBytes = 6
      limits.metadataBytes = 9
      return limits
    }()
    #expect(send("\"text\":\"\\u00e9\\u00e9\\u00e9\"", limits: limits).message?.content == .text("ééé"))
    #expect(send("\"text\":\"éééa\"", limits: limits).limit == .limit(name: "textBytes", value: 6))
    #expect(
      send("\"text\":\"x\",\"metadata\":{   \"a\" : \"\\u0062\" }", limits: limits).message?.extras.metadata.text
        == "{\"a\":\"b\"}")
    #expect(
      send("\"text\":\"x\",\"metadata\":{\"a\":\"bc\"}", limits: limits).limit
        == .limit(name: "metadataBytes", value: 9))
    #expect(send("\"attachments\":[\(png)],\"caption\":\"éééa\"", limits: limits).field == "caption")
  }

  @Test func C085_theLiteralTextIsUntouched() {
    #expect(send("\"text\":\"a\\\\u0000b\"").message?.content == .text("a\\u0000b"))
    #expect(
      send("\"text\":\"x\",\"metadata\":{\"k\":\"\\\\ud83d\"}").message?.extras.metadata.text == "{\"k\":\"\\\\ud83d\"}"
    )
  }

  @Test(arguments: ["\\u0000", "\\ud83d", "\\udc00\\ud83d", "\\udc00", "\u{0}"])
  func C085_nulAndLoneSurrogatesAreRefusedInTextAndData(escape: String) {
    #expect(send("\"text\":\"a\(escape)\"").code == .badRequest)
    #expect(send("\"customType\":\"p\",\"customData\":{\"k\":[\"\(escape)\"]}").code == .badRequest)
    #expect(send("\"customType\":\"p\",\"customData\":{\"\(escape)\":1}").code == .badRequest)
    let body = "{\"receiverUid\":\"bob\",\"receiverType\":\"user\",\"text\":\"a\(escape)\"}"
    #expect(overHTTP("POST", "/v1/messages", body).code == .badRequest)
  }
}

@Suite("T2 parentMessageId")
struct ParentMessageIDTests {
  enum Expected { case id(Int64), none, refused(RefusalCode) }

  static let table: [(json: String, expected: Expected)] = [
    ("1", .id(1)), ("38208", .id(38_208)), ("9007199254740991", .id(9_007_199_254_740_991)),
    ("\"42\"", .id(42)), ("0", .none), ("null", .none), ("\"0\"", .none),
    ("1.0", .refused(.invalidParentMessageID)), ("1e3", .refused(.invalidParentMessageID)),
    ("0.0", .refused(.invalidParentMessageID)), ("-0", .refused(.invalidParentMessageID)),
    ("-1", .refused(.invalidParentMessageID)), ("9007199254740992", .refused(.invalidParentMessageID)),
    ("9223372036854775808", .refused(.invalidParentMessageID)),
    ("18446744073709551615", .refused(.invalidParentMessageID)), ("true", .refused(.invalidParentMessageID)),
    ("false", .refused(.invalidParentMessageID)), ("[]", .refused(.invalidParentMessageID)),
    ("[1]", .refused(.invalidParentMessageID)), ("{}", .refused(.invalidParentMessageID)),
    ("\"\"", .refused(.invalidParentMessageID)), ("\"x\"", .refused(.invalidParentMessageID)),
    ("\" 42\"", .refused(.invalidParentMessageID)), ("\"+42\"", .refused(.invalidParentMessageID)),
    ("\"042\"", .refused(.invalidParentMessageID)), ("\"-1\"", .refused(.invalidParentMessageID)),
    ("\"-0\"", .refused(.invalidParentMessageID)), ("\"1.0\"", .refused(.invalidParentMessageID)),
    ("\"٤٢\"", .refused(.invalidParentMessageID)), ("\"9007199254740992\"", .refused(.invalidParentMessageID)),
    ("\"99999999999999999999\"", .refused(.invalidParentMessageID)),
    ("1e400", .refused(.badRequest)), ("18446744073709551616", .refused(.badRequest)),
    (String(repeating: "9", count: 10_000), .refused(.badRequest)),
  ]

  @Test(arguments: table.indices)
  func C084_theSameAnswerOverBothDoors(row: Int) {
    let (json, expected) = Self.table[row]
    let body = "{\"receiverUid\":\"bob\",\"receiverType\":\"user\",\"text\":\"x\",\"parentMessageId\":\(json)}"
    for result in [overSocket("message.send", body), overHTTP("POST", "/v1/messages", body)] {
      switch expected {
      case .id(let id):
        #expect(result.message?.parent?.value == id)
      case .none:
        #expect(result.message?.content == .text("x"))
        #expect(result.message?.parent == nil)
      case .refused(let code):
        #expect(result.code == code)
        #expect(result.field == (code == .badRequest ? nil : "parentMessageId"))
      }
    }
  }

  @Test func T2_absentIsNoReply() {
    let message = send("\"text\":\"x\"").message
    #expect(message?.content == .text("x"))
    #expect(message?.parent == nil)
  }

  @Test(arguments: ["0", "-1", "1.0", "x", "9007199254740992", "042"])
  func T8_anInvalidRootIsRefusedTheSameWayOverBothDoors(id: String) {
    let quoted = "{\"parentMessageId\":\"\(id)\"}"
    for result in [
      overSocket("thread.subscribe", quoted), overHTTP("PUT", "/v1/messages/\(id)/thread/subscription"),
      overSocket("thread.unsubscribe", quoted), overHTTP("DELETE", "/v1/messages/\(id)/thread/subscription"),
    ] {
      #expect(result.code == .invalidParentMessageID)
      #expect(result.field == "parentMessageId")
    }
  }
}
