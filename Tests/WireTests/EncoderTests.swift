import Chat
import JSON
import Testing
import Wire

private let annProfile = User(
  uid: ann, name: "Ann \"A\"", avatar: "https://x/a", metadata: JSONText(unchecked: "{\"k\":1}"), tags: ["t"],
  createdAt: UnixSeconds(1), updatedAt: UnixSeconds(2), lastActiveAt: UnixSeconds(3))
private let bobProfile = User(uid: bob, name: "Bob")
private let crewProfile = Group(
  guid: crew, name: "Crew", type: .private, icon: "i", description: "d", owner: ann, tags: ["x"], membersCount: 2,
  createdAt: UnixSeconds(4), updatedAt: UnixSeconds(5))

private let annJSON =
  #"{"uid":"ann","name":"Ann \"A\"","avatar":"https://x/a","link":"","role":"default","statusMessage":"","#
  + #""metadata":{"k":1},"tags":["t"],"createdAt":1,"updatedAt":2,"lastActiveAt":3,"deactivatedAt":0}"#
private let bobJSON =
  #"{"uid":"bob","name":"Bob","avatar":"","link":"","role":"default","statusMessage":"","metadata":{},"tags":[],"#
  + #""createdAt":0,"updatedAt":0,"lastActiveAt":0,"deactivatedAt":0}"#
private let crewJSON =
  #"{"guid":"crew","name":"Crew","type":"private","icon":"i","description":"d","owner":"ann","metadata":{},"#
  + #""tags":["x"],"membersCount":2,"createdAt":4,"updatedAt":5}"#

private func message(_ content: Content, toGroup: Bool = false) -> Message {
  Message(
    id: MessageID(38_209), muid: "", conversation: toGroup ? .group(crew) : .oneOnOne(ann, bob), sender: annProfile,
    receiver: toGroup ? .group(crewProfile) : .user(bobProfile), content: content,
    sentAt: UnixSeconds(1_772_025_201), updatedAt: UnixSeconds(1_772_025_201))
}

/// The members that a fresh message to Bob has around its content.
private func messageJSON(_ head: String, parent: Int = 0, extras: String = #""metadata":{},"tags":[]"#) -> String {
  #"{"id":38209,"muid":"","conversationId":"ann_user_bob","senderUid":"ann","receiverUid":"bob","#
    + #""receiverType":"user",\#(head),"parentMessageId":\#(parent),\#(extras),"sentAt":1772025201,"#
    + #""updatedAt":1772025201,"deliveredAt":0,"readAt":0,"editedAt":0,"editedBy":"","deletedAt":0,"deletedBy":"","#
    + #""replyCount":0,"mentions":[],"reactions":[],"sender":\#(annJSON),"receiver":\#(bobJSON)}"#
}

private func text(_ bytes: [UInt8]?) -> String? {
  bytes.map { String(decoding: $0, as: UTF8.self) }
}

/// What the parser understands of the bytes, written anew: the same text when they are compact and well-formed.
private func reread(_ bytes: [UInt8]) -> Result<String, JSONFailure> {
  let parser = JSONParser()
  return bytes.withUnsafeBytes { buffer in
    parser.parse(buffer, maximumDepth: 32).map { value in
      var writer = JSONWriter()
      writer.value(value)
      return String(decoding: writer.take(), as: UTF8.self)
    }
  }
}

private func encoded(_ message: Message) -> String {
  var writer = JSONWriter()
  MessageEncoder.encode(message, into: &writer)
  return String(decoding: writer.take(), as: UTF8.self)
}

@Suite("Message on the wire")
struct MessageEncoderTests {
  @Test func aText() {
    let expected = messageJSON(#""category":"message","type":"text","text":"a \"b\" \\ \n \u0001 é""#)
    #expect(encoded(message(.text("a \"b\" \\ \n \u{1} é"))) == expected)
  }

  @Test func M3_media() {
    let attachment = Attachment(name: "a", fileExtension: "png", size: 12, mimeType: "image/png", url: "https://x/a")
    let head =
      #""category":"message","type":"image","text":"","#
      + #""caption":"look","attachments":[{"name":"a","extension":"png","size":12,"mimeType":"image/png","#
      + #""url":"https://x/a"}]"#
    #expect(encoded(message(.media(.image, attachments: [attachment], caption: "look"))) == messageJSON(head))
  }

  @Test func M3_custom() {
    let head = #""category":"custom","type":"poll","text":"","customType":"poll","customData":{"q":[1]}"#
    #expect(encoded(message(.custom(type: "poll", data: JSONText(unchecked: "{\"q\":[1]}")))) == messageJSON(head))
  }

  @Test func M11_actionAndDeletion() {
    let action =
      #""category":"action","type":"message","text":"","action":"edited","actionBy":"ann","actionOn":7,"#
      + #""actionFor":"bob""#
    #expect(encoded(message(.action("edited", by: ann, on: .message(MessageID(7))))) == messageJSON(action))
    let deleted = #""category":"message","type":"text","text":"""#
    #expect(encoded(message(.deleted(type: "text", category: .message))) == messageJSON(deleted))
  }

  @Test func M10_everyOptionalMember() {
    var full = message(.text("x"))
    full.parent = MessageID(38_208)
    full.quoted = QuotedMessage(id: MessageID(7), sender: bob, type: "text", text: "q")
    full.extras = MessageExtras(
      subType: "s", conversationText: "c", updateConversation: false, sendNotification: true,
      metadata: JSONText(unchecked: "{\"m\":[]}"), tags: ["a", "b"])
    let extras =
      #""quotedMessageId":7,"quotedMessage":{"id":7,"senderUid":"bob","type":"text","text":"q"},"subType":"s","#
      + #""conversationText":"c","updateConversation":false,"sendNotification":true,"metadata":{"m":[]},"#
      + #""tags":["a","b"]"#
    #expect(
      encoded(full)
        == messageJSON(#""category":"message","type":"text","text":"x""#, parent: 38_208, extras: extras))
  }

  @Test func T11_onlyAFetchedMessageTellsTheViewersState() {
    var writer = JSONWriter()
    let viewer = ViewerState(
      threadSubscribed: true, mentionedMe: true, unreadRepliesCount: 3, deliveredToMeAt: UnixSeconds(8),
      readByMeAt: UnixSeconds(9))
    MessageEncoder.encode(FetchedMessage(message: message(.text("x")), viewer: viewer), into: &writer)
    let live = messageJSON(#""category":"message","type":"text","text":"x""#)
    let expected =
      String(live.dropLast())
      + #","unreadRepliesCount":3,"mentionedMe":true,"threadSubscribed":true,"reactedByMe":[],"#
      + #""deliveredToMeAt":8,"readByMeAt":9}"#
    #expect(text(writer.take()) == expected)
  }
}

@Suite("L5, L6 events")
struct EventEncoderTests {
  @Test func L6_aMessage() throws {
    var group = message(.text("x"), toGroup: true)
    group.mentions = [bobProfile]
    group.editedBy = bob
    group.deletedBy = ann
    group.replyCount = 4
    let bytes = try #require(EventEncoder.encode(Event(seq: Seq(38_209), body: .message(group))))
    let expected =
      #"{"event":"message","seq":38209,"data":{"id":38209,"muid":"","conversationId":"group_crew","#
      + #""senderUid":"ann","receiverUid":"crew","receiverType":"group","category":"message","type":"text","#
      + #""text":"x","parentMessageId":0,"metadata":{},"tags":[],"sentAt":1772025201,"updatedAt":1772025201,"#
      + #""deliveredAt":0,"readAt":0,"editedAt":0,"editedBy":"bob","deletedAt":0,"deletedBy":"ann","replyCount":4,"#
      + #""mentions":[\#(bobJSON)],"reactions":[],"sender":\#(annJSON),"receiver":\#(crewJSON)}}"#
    #expect(text(bytes) == expected)
    #expect(reread(bytes) == .success(expected))
  }

  @Test func T15_aSubscription() throws {
    let change = SubscriptionChange(
      user: ann, root: MessageID(5), conversation: .oneOnOne(ann, bob), isSubscribed: false, cause: .explicit)
    let bytes = try #require(EventEncoder.encode(Event(seq: Seq(9), body: .threadSubscription(change))))
    let expected =
      #"{"event":"thread.subscription","seq":9,"data":{"parentMessageId":5,"conversationId":"ann_user_bob","#
      + #""threadSubscribed":false,"cause":"explicit"}}"#
    #expect(text(bytes) == expected)
    #expect(reread(bytes) == .success(expected))
  }

  @Test(arguments: [true, false])
  func M12_L6_aReaction(isAdded: Bool) throws {
    var reply = message(.text("x"))
    reply.parent = MessageID(5)
    reply.reactions = [ReactionCount(reaction: "👍", count: 2), ReactionCount(reaction: ":ok:", count: 1)]
    let change = ReactionChange(
      isAdded: isAdded, reaction: "👍", user: bobProfile, at: UnixSeconds(7), message: reply)
    let bytes = try #require(EventEncoder.encode(Event(seq: Seq(9), body: .reaction(change))))
    let expected =
      #"{"event":"reaction.\#(isAdded ? "added" : "removed")","seq":9,"data":{"messageId":\#(reply.id.value),"#
      + #""conversationId":"ann_user_bob","parentMessageId":5,"reaction":"👍","uid":"bob","user":\#(bobJSON),"#
      + #""reactedAt":7,"reactions":[{"reaction":"👍","count":2},{"reaction":":ok:","count":1}]}}"#
    #expect(text(bytes) == expected)
    #expect(reread(bytes) == .success(expected))
  }

  @Test(arguments: [(nil, ""), (ann, "ann")] as [(UserID?, String)])
  func L6_aMembership(actor: UserID?, actorText: String) throws {
    let change = MembershipChange(
      group: crewProfile, user: bobProfile, action: .kicked, scope: .moderator, actor: actor)
    let bytes = try #require(EventEncoder.encode(Event(seq: Seq(9), body: .groupMember(change))))
    let expected =
      #"{"event":"group.member","seq":9,"data":{"action":"kicked","guid":"crew","uid":"bob","scope":"moderator","#
      + #""actorUid":"\#(actorText)","group":\#(crewJSON),"user":\#(bobJSON)}}"#
    #expect(text(bytes) == expected)
    #expect(reread(bytes) == .success(expected))
  }

  @Test func R8_noClientHearsOfARevocation() {
    #expect(EventEncoder.encode(Event(seq: Seq(9), body: .tokensRevoked(ann, tokenHash: nil))) == nil)
  }

  @Test func L5_aHeartbeat() {
    #expect(text(EventEncoder.heartbeat(Seq(912))) == #"{"event":"heartbeat","seq":912}"#)
  }
}

@Suite("L3, H replies")
struct ReplyEncoderTests {
  /// Data and meta of an answer as both doors must show them.
  static let answers: [(answer: Answer, json: String)] = [
    (.done, #""data":{}"#),
    (
      .threadSubscription(root: MessageID(5), isSubscribed: true),
      #""data":{"parentMessageId":5,"threadSubscribed":true}"#
    ),
    (.user(annProfile), #""data":\#(annJSON)"#),
    (.group(crewProfile), #""data":\#(crewJSON)"#),
    (.token("T", uid: ann, expiresAt: .never), #""data":{"uid":"ann","token":"T","expiresAt":0}"#),
    (
      .messages(MessagePage(rows: [], hasMore: false, nextID: nil)),
      #""data":[],"meta":{"hasMore":false,"nextId":null}"#
    ),
    (
      .messages(
        MessagePage(
          rows: [FetchedMessage(message: message(.text("x")), viewer: ViewerState(threadSubscribed: false))],
          hasMore: true, nextID: MessageID(38_209))),
      #""data":[\#(messageJSON(#""category":"message","type":"text","text":"x""#).dropLast()),"unreadRepliesCount":0,"#
        + #""mentionedMe":false,"threadSubscribed":false,"reactedByMe":[],"deliveredToMeAt":0,"readByMeAt":0}],"#
        + #""meta":{"hasMore":true,"nextId":38209}"#
    ),
    (.members(rows: [], hasMore: false), #""data":[],"meta":{"hasMore":false,"nextUid":null}"#),
    (
      .members(rows: [Member(user: bobProfile, scope: .admin, joinedAt: UnixSeconds(6))], hasMore: true),
      #""data":[\#(bobJSON.dropLast()),"scope":"admin","joinedAt":6}],"meta":{"hasMore":true,"nextUid":"bob"}"#
    ),
    (
      .memberResults([
        (bob, .success(Member(user: bobProfile, scope: .participant, joinedAt: UnixSeconds(6)))),
        (ann, .failure(Refusal(.alreadyJoined))),
      ]),
      #""data":[{"uid":"bob","ok":true,"member":\#(bobJSON.dropLast()),"scope":"participant","joinedAt":6}},"#
        + #"{"uid":"ann","ok":false,"error":{"code":"ERR_ALREADY_JOINED","#
        + #""message":"The user is a member of the group already.","retryable":false}}]"#
    ),
  ]

  @Test(arguments: answers.indices)
  func H_bothDoorsShowTheSameData(row: Int) {
    let (answer, json) = Self.answers[row]
    let reply = ReplyEncoder.success(.integer(7), answer)
    #expect(text(reply) == #"{"id":7,"ok":true,\#(json)}"#)
    #expect(reread(reply) == .success(#"{"id":7,"ok":true,\#(json)}"#))
    #expect(text(ReplyEncoder.httpSuccess(answer)) == "{\(json)}")
  }

  @Test func L3_aTextIDIsEchoedExactly() {
    #expect(text(ReplyEncoder.success(.text("a\"\n"), .done)) == #"{"id":"a\"\n","ok":true,"data":{}}"#)
    #expect(text(ReplyEncoder.success(.integer(-1)) { $0.null() }) == #"{"id":-1,"ok":true,"data":null}"#)
  }

  @Test func L8_aFailureWithoutID() {
    let expected =
      #"{"ok":false,"error":{"code":"ERR_BAD_REQUEST","message":"The request is not valid.","retryable":false}}"#
    #expect(text(ReplyEncoder.failure(nil, Refusal(.badRequest))) == expected)
  }

  @Test func L3_everyDetail() {
    let refusal = Refusal(
      .tooManyRequests, "Slower.",
      details: [
        .rootMessageID(MessageID(5)), .field("text"), .limit(name: "textBytes", value: 16_384),
        .retryAfterMilliseconds(1_500),
      ])
    let error =
      #""error":{"code":"ERR_TOO_MANY_REQUESTS","message":"Slower.","retryable":true,"details":{"rootMessageId":5,"#
      + #""field":"text","limit":{"name":"textBytes","value":16384},"retryAfterMs":1500}}"#
    #expect(text(ReplyEncoder.failure(.integer(7), refusal)) == #"{"id":7,"ok":false,\#(error)}"#)
    #expect(text(ReplyEncoder.httpFailure(refusal)) == "{\(error)}")
  }

  @Test(arguments: [
    (Hello.Resumption.fresh, #""resumed":false"#), (.resumed, #""resumed":true"#),
    (.reset(.windowExpired), #""resumed":false,"reset":{"reason":"window_expired"}"#),
    (.reset(.tooMany), #""resumed":false,"reset":{"reason":"too_many"}"#),
    (.reset(.epochChanged), #""resumed":false,"reset":{"reason":"epoch_changed"}"#),
    (.reset(.badPosition), #""resumed":false,"reset":{"reason":"bad_position"}"#),
  ])
  func L4_theHello(resumption: Hello.Resumption, json: String) {
    let hello = Hello(
      sessionID: "s1", user: bobProfile, epoch: "e1", seq: Seq(912), resumption: resumption, heartbeatSeconds: 25,
      serverTime: UnixSeconds(1_772_025_201), limits: Limits(), version: "0.1.0")
    let limits =
      #"{"frameBytes":65536,"bodyBytes":1048576,"textBytes":16384,"metadataBytes":10240,"customDataBytes":10240,"#
      + #""tags":25,"tagCharacters":100,"attachments":10,"jsonDepth":32,"openThreads":64,"#
      + #""resumeSeconds":86400,"resumeEvents":10000,"muidCharacters":100,"#
      + #""reactionCharacters":32,"reactionsPerMessage":100,"nameCharacters":255,"urlBytes":2048,"descriptionBytes":4096,"membersPerCall":100,"pageRows":100}"#
    let expected =
      #"{"id":1,"ok":true,"data":{"sessionId":"s1","uid":"bob","user":\#(bobJSON),"epoch":"e1","seq":912,\#(json),"#
      + #""heartbeatSeconds":25,"serverTime":1772025201,"limits":\#(limits),"version":"0.1.0"}}"#
    #expect(text(ReplyEncoder.success(.integer(1), .hello(hello))) == expected)
  }
}
