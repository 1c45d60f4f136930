import Chat
import Testing
import Wire

/// One operation asked for through a door.
struct Asked: Sendable {
  let op: String
  let data: String
  let method: String
  let target: String
  var body = ""
  let expected: Result<Operation, RefusalCode.Named>
}

extension RefusalCode {
  /// A refusal's code and the field that it names.
  struct Named: Error, Hashable, Sendable {
    let code: RefusalCode
    let field: String?
    init(_ code: RefusalCode, _ field: String?) {
      self.code = code
      self.field = field
    }
  }
}

private func named(_ result: Result<Operation, Refusal>) -> Result<Operation, RefusalCode.Named> {
  result.mapError { refusal in RefusalCode.Named(refusal.code, result.field) }
}

@Suite("H operations")
struct OperationTests {
  static let both: [Asked] = [
    Asked(
      op: "message.send", data: "{\"receiverUid\":\"bob\",\"receiverType\":\"user\",\"text\":\"x\"}", method: "POST",
      target: "/v1/messages", body: "{\"receiverUid\":\"bob\",\"receiverType\":\"user\",\"text\":\"x\"}",
      expected: .success(.messageSend(OutgoingMessage(receiver: .user(bob), content: .text("x"))))),
    Asked(
      op: "message.send", data: "{\"receiverUid\":\"bob\",\"receiverType\":\"user\"}", method: "POST",
      target: "/v1/messages", body: "{\"receiverUid\":\"bob\",\"receiverType\":\"user\"}",
      expected: .failure(.init(.emptyMessage, "text"))),
    Asked(
      op: "message.send", data: "{}", method: "POST", target: "/v1/messages",
      expected: .failure(.init(.badRequest, "receiverType"))),
    Asked(
      op: "message.get", data: "{\"id\":12}", method: "GET", target: "/v1/messages/12",
      expected: .success(.messageGet(MessageID(12)))),
    Asked(
      op: "message.get", data: "{\"id\":\"x\"}", method: "GET", target: "/v1/messages/x",
      expected: .failure(.init(.badRequest, "id"))),
    Asked(
      op: "message.get", data: "{\"id\":0}", method: "GET", target: "/v1/messages/0",
      expected: .failure(.init(.badRequest, "id"))),
    Asked(
      op: "message.edit", data: "{\"id\":12,\"text\":\"x\",\"metadata\":{\"k\":1},\"tags\":[]}", method: "PATCH",
      target: "/v1/messages/12", body: "{\"text\":\"x\",\"metadata\":{\"k\":1},\"tags\":[]}",
      expected: .success(
        .messageEdit(
          MessageID(12), MessageEdit(text: "x", metadata: JSONText(unchecked: "{\"k\":1}"), tags: [])))),
    Asked(
      op: "message.edit", data: "{\"id\":12,\"caption\":\"\",\"customData\":{}}", method: "PATCH",
      target: "/v1/messages/12", body: "{\"caption\":\"\",\"customData\":{}}",
      expected: .success(.messageEdit(MessageID(12), MessageEdit(caption: "", customData: .emptyObject)))),
    Asked(
      op: "message.edit", data: "{\"id\":12}", method: "PATCH", target: "/v1/messages/12",
      expected: .failure(.init(.badRequest, nil))),
    Asked(
      op: "message.edit", data: "{\"id\":12,\"text\":\" \"}", method: "PATCH", target: "/v1/messages/12",
      body: "{\"text\":\" \"}", expected: .failure(.init(.emptyMessage, "text"))),
    Asked(
      op: "message.edit", data: "{\"id\":12,\"tags\":\"a\"}", method: "PATCH", target: "/v1/messages/12",
      body: "{\"tags\":\"a\"}", expected: .failure(.init(.badRequest, "tags"))),
    Asked(
      op: "message.edit", data: "{\"id\":0,\"text\":\"x\"}", method: "PATCH", target: "/v1/messages/0",
      body: "{\"text\":\"x\"}", expected: .failure(.init(.badRequest, "id"))),
    Asked(
      op: "message.delete", data: "{\"id\":12}", method: "DELETE", target: "/v1/messages/12",
      expected: .success(.messageDelete(MessageID(12)))),
    Asked(
      op: "message.delete", data: "{\"id\":\"x\"}", method: "DELETE", target: "/v1/messages/x",
      expected: .failure(.init(.badRequest, "id"))),
    Asked(
      op: "reaction.add", data: "{\"id\":12,\"emoji\":\"👍🏽\"}", method: "PUT",
      target: "/v1/messages/12/reactions/%F0%9F%91%8D%F0%9F%8F%BD", expected: .success(.reactionAdd(MessageID(12), "👍🏽"))
    ),
    Asked(
      op: "reaction.add", data: "{\"id\":12,\"emoji\":\"a b\"}", method: "PUT",
      target: "/v1/messages/12/reactions/a%20b", expected: .failure(.init(.badRequest, "emoji"))),
    Asked(
      op: "reaction.add", data: "{\"id\":12,\"emoji\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}", method: "PUT",
      target: "/v1/messages/12/reactions/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
      expected: .failure(.init(.tooLarge, "emoji"))),
    Asked(
      op: "reaction.add", data: "{\"id\":0,\"emoji\":\"x\"}", method: "PUT",
      target: "/v1/messages/0/reactions/x", expected: .failure(.init(.badRequest, "id"))),
    Asked(
      op: "reaction.remove", data: "{\"id\":12,\"emoji\":\"👍🏽\"}", method: "DELETE",
      target: "/v1/messages/12/reactions/%F0%9F%91%8D%F0%9F%8F%BD",
      expected: .success(.reactionRemove(MessageID(12), "👍🏽"))),
    Asked(
      op: "reaction.remove", data: "{\"id\":12,\"emoji\":\"a b\"}", method: "DELETE",
      target: "/v1/messages/12/reactions/a%20b", expected: .failure(.init(.badRequest, "emoji"))),
    Asked(
      op: "reaction.remove", data: "{\"id\":12,\"emoji\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}", method: "DELETE",
      target: "/v1/messages/12/reactions/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
      expected: .failure(.init(.tooLarge, "emoji"))),
    Asked(
      op: "reaction.remove", data: "{\"id\":0,\"emoji\":\"x\"}", method: "DELETE",
      target: "/v1/messages/0/reactions/x", expected: .failure(.init(.badRequest, "id"))),
    Asked(
      op: "reactions.list", data: "{\"id\":12}", method: "GET",
      target: "/v1/messages/12/reactions",
      expected: .success(.reactionsList(MessageID(12), reaction: nil, after: .none, limit: 50))),
    Asked(
      op: "reactions.list", data: "{\"id\":12,\"emoji\":\":ok:\",\"after\":7,\"limit\":2}", method: "GET",
      target: "/v1/messages/12/reactions?emoji=:ok:&after=7&limit=2",
      expected: .success(.reactionsList(MessageID(12), reaction: ":ok:", after: Seq(7), limit: 2))),
    Asked(
      op: "reactions.list", data: "{\"id\":12,\"after\":-1}", method: "GET",
      target: "/v1/messages/12/reactions?after=-1", expected: .failure(.init(.badRequest, "after"))),
    Asked(
      op: "reactions.list", data: "{\"id\":12,\"limit\":101}", method: "GET",
      target: "/v1/messages/12/reactions?limit=101", expected: .failure(.init(.badRequest, "limit"))),
    Asked(
      op: "reactions.list", data: "{\"id\":12,\"emoji\":\" \"}", method: "GET",
      target: "/v1/messages/12/reactions?emoji=+", expected: .failure(.init(.badRequest, "emoji"))),
    Asked(
      op: "messages.list", data: "{}", method: "GET", target: "/v1/messages",
      expected: .success(.messagesList(MessageQuery(place: .everywhere)))),
    Asked(
      op: "messages.list",
      data: "{\"uid\":\"Bob\",\"id\":9,\"direction\":\"after\",\"limit\":100,\"hideReplies\":true}",
      method: "GET", target: "/v1/messages?uid=Bob&id=9&direction=after&limit=100&hideReplies=true",
      expected: .success(
        .messagesList(
          MessageQuery(
            place: .user(bob), edge: MessageID(9), direction: .after, limit: 100, hideReplies: true)))),
    Asked(
      op: "messages.list", data: "{\"guid\":\"crew\",\"limit\":1}", method: "GET",
      target: "/v1/messages?guid=crew&limit=1",
      expected: .success(.messagesList(MessageQuery(place: .group(crew), limit: 1)))),
    Asked(
      op: "messages.list", data: "{\"parentMessageId\":7}", method: "GET", target: "/v1/messages?parentMessageId=7",
      expected: .success(.messagesList(MessageQuery(place: .thread(MessageID(7)))))),
    Asked(
      op: "messages.list", data: "{\"uid\":\"bob\",\"guid\":\"crew\"}", method: "GET",
      target: "/v1/messages?uid=bob&guid=crew", expected: .failure(.init(.badRequest, "guid"))),
    Asked(
      op: "messages.list", data: "{\"uid\":\"bob\",\"parentMessageId\":7}", method: "GET",
      target: "/v1/messages?uid=bob&parentMessageId=7", expected: .failure(.init(.badRequest, "parentMessageId"))),
    Asked(
      op: "messages.list", data: "{\"guid\":\"crew\",\"parentMessageId\":7}", method: "GET",
      target: "/v1/messages?guid=crew&parentMessageId=7", expected: .failure(.init(.badRequest, "guid"))),
    Asked(
      op: "messages.list", data: "{\"limit\":0}", method: "GET", target: "/v1/messages?limit=0",
      expected: .failure(.init(.badRequest, "limit"))),
    Asked(
      op: "messages.list", data: "{\"limit\":101}", method: "GET", target: "/v1/messages?limit=101",
      expected: .failure(.init(.badRequest, "limit"))),
    Asked(
      op: "messages.list", data: "{\"direction\":\"up\"}", method: "GET", target: "/v1/messages?direction=up",
      expected: .failure(.init(.badRequest, "direction"))),
    Asked(
      op: "messages.list", data: "{\"hideReplies\":\"yes\"}", method: "GET",
      target: "/v1/messages?hideReplies=yes", expected: .failure(.init(.badRequest, "hideReplies"))),
    Asked(
      op: "messages.list", data: "{\"parentMessageId\":0}", method: "GET", target: "/v1/messages?parentMessageId=0",
      expected: .failure(.init(.invalidParentMessageID, "parentMessageId"))),
    Asked(
      op: "thread.subscribe", data: "{\"parentMessageId\":5}", method: "PUT",
      target: "/v1/messages/5/thread/subscription", expected: .success(.threadSubscribe(MessageID(5)))),
    Asked(
      op: "thread.unsubscribe", data: "{\"parentMessageId\":5}", method: "DELETE",
      target: "/v1/messages/5/thread/subscription", expected: .success(.threadUnsubscribe(MessageID(5)))),
    Asked(
      op: "users.get", data: "{\"uid\":\"BOB\"}", method: "GET", target: "/v1/users/BOB",
      expected: .success(.usersGet(bob))),
    Asked(
      op: "users.get", data: "{\"uid\":\"b b\"}", method: "GET", target: "/v1/users/b%20b",
      expected: .failure(.init(.badRequest, "uid"))),
    Asked(
      op: "groups.get", data: "{\"guid\":\"crew\"}", method: "GET", target: "/v1/groups/crew",
      expected: .success(.groupsGet(crew))),
    Asked(
      op: "groups.create", data: "{\"guid\":\"crew\",\"name\":\"Crew\",\"type\":\"private\",\"tags\":[\"a\"]}",
      method: "POST", target: "/v1/groups",
      body: "{\"guid\":\"crew\",\"name\":\"Crew\",\"type\":\"private\",\"tags\":[\"a\"]}",
      expected: .success(.groupsCreate(NewGroup(guid: crew, name: "Crew", type: .private, tags: ["a"])))),
    Asked(
      op: "groups.create", data: "{\"guid\":\"crew\",\"name\":\" \"}", method: "POST", target: "/v1/groups",
      body: "{\"guid\":\"crew\",\"name\":\" \"}", expected: .failure(.init(.badRequest, "name"))),
    Asked(
      op: "groups.leave", data: "{\"guid\":\"crew\"}", method: "POST", target: "/v1/groups/crew/leave",
      expected: .success(.groupsLeave(crew))),
    Asked(
      op: "members.list", data: "{\"guid\":\"crew\"}", method: "GET", target: "/v1/groups/crew/members",
      expected: .success(.membersList(crew, after: nil, limit: 50))),
    Asked(
      op: "members.list", data: "{\"guid\":\"crew\",\"after\":\"ann\",\"limit\":2}", method: "GET",
      target: "/v1/groups/crew/members?after=ann&limit=2",
      expected: .success(.membersList(crew, after: ann, limit: 2))),
    Asked(
      op: "members.add",
      data: "{\"guid\":\"crew\",\"members\":[{\"uid\":\"ann\"},{\"uid\":\"bob\",\"scope\":\"admin\"}]}",
      method: "POST", target: "/v1/groups/crew/members",
      body: "{\"members\":[{\"uid\":\"ann\"},{\"uid\":\"bob\",\"scope\":\"admin\"}]}",
      expected: .success(
        .membersAdd(crew, [NewMember(uid: ann, scope: .participant), NewMember(uid: bob, scope: .admin)]))),
    Asked(
      op: "members.add", data: "{\"guid\":\"crew\",\"members\":[]}", method: "POST",
      target: "/v1/groups/crew/members", body: "{\"members\":[]}", expected: .failure(.init(.badRequest, "members"))),
    Asked(
      op: "members.add", data: "{\"guid\":\"crew\",\"members\":[{\"uid\":\"ann\",\"scope\":\"owner\"}]}",
      method: "POST", target: "/v1/groups/crew/members", body: "{\"members\":[{\"uid\":\"ann\",\"scope\":\"owner\"}]}",
      expected: .failure(.init(.badRequest, "members[0].scope"))),
    Asked(
      op: "members.kick", data: "{\"guid\":\"crew\",\"uid\":\"bob\"}", method: "DELETE",
      target: "/v1/groups/crew/members/bob", expected: .success(.membersKick(crew, bob))),
  ]

  @Test(arguments: both.indices)
  func H_bothDoorsAnswerTheSame(row: Int) {
    let asked = Self.both[row]
    #expect(named(overSocket(asked.op, asked.data)) == asked.expected)
    #expect(named(overHTTP(asked.method, asked.target, asked.body)) == asked.expected)
  }

  @Test func H_everyOperationOfBothDoorsIsInTheTableAbove() {
    let tested = Set(Self.both.map(\.op))
    let defined = Set(OperationTable.all.filter { $0.doors == .both }.map(\.name))
    #expect(tested == defined)
  }

  static let sessions: [(op: String, data: String, expected: Result<Operation, RefusalCode.Named>)] = [
    ("ping", "{}", .success(.ping)),
    ("session.update", "{}", .success(.sessionUpdate(replies: nil, isForeground: nil))),
    (
      "session.update", "{\"replies\":\"subscribed\",\"foreground\":false}",
      .success(.sessionUpdate(replies: .subscribed, isForeground: false))
    ),
    ("session.update", "{\"replies\":\"some\"}", .failure(.init(.badRequest, "replies"))),
    ("session.update", "{\"replies\":1}", .failure(.init(.badRequest, "replies"))),
    ("session.update", "{\"foreground\":\"yes\"}", .failure(.init(.badRequest, "foreground"))),
    ("thread.open", "{\"parentMessageId\":7}", .success(.threadOpen(MessageID(7)))),
    ("thread.open", "{\"parentMessageId\":\"7\"}", .success(.threadOpen(MessageID(7)))),
    ("thread.open", "{}", .failure(.init(.invalidParentMessageID, "parentMessageId"))),
    ("thread.open", "{\"parentMessageId\":0}", .failure(.init(.invalidParentMessageID, "parentMessageId"))),
    ("thread.close", "{\"parentMessageId\":7}", .success(.threadClose(MessageID(7)))),
    ("thread.close", "{\"parentMessageId\":-1}", .failure(.init(.invalidParentMessageID, "parentMessageId"))),
    (
      "typing.start", "{\"receiverUid\":\"Crew\",\"receiverType\":\"group\",\"parentMessageId\":7}",
      .success(.typing(TypingNotice(receiver: .group(crew), thread: MessageID(7), isTyping: true)))
    ),
    (
      "typing.stop", "{\"receiverUid\":\"bob\",\"receiverType\":\"user\",\"parentMessageId\":0}",
      .success(.typing(TypingNotice(receiver: .user(bob), isTyping: false)))
    ),
    ("typing.start", "{\"receiverUid\":\"bob\"}", .failure(.init(.badRequest, "receiverType"))),
    ("typing.start", "{\"receiverType\":\"user\"}", .failure(.init(.badRequest, "receiverUid"))),
  ]

  @Test(arguments: sessions.indices)
  func L7_sessionOperationsLiveOnTheSocketAlone(row: Int) {
    let (op, data, expected) = Self.sessions[row]
    #expect(named(overSocket(op, data)) == expected)
    #expect(OperationTable.definition(named: op)?.doors == .socket)
  }

  static let admin: [(method: String, target: String, body: String, expected: Result<Operation, RefusalCode.Named>)] = [
    (
      "POST", "/v1/admin/users", "{\"uid\":\"Ann\",\"name\":\"Ann\",\"avatar\":\"https://x/a\",\"metadata\":{\"k\":1}}",
      .success(
        .adminUsersCreate(
          User(uid: ann, name: "Ann", avatar: "https://x/a", metadata: JSONText(unchecked: "{\"k\":1}"))))
    ),
    ("POST", "/v1/admin/users", "{\"uid\":\"app\",\"name\":\"x\"}", .failure(.init(.badRequest, "uid"))),
    ("POST", "/v1/admin/users", "{\"uid\":\"ann\"}", .failure(.init(.badRequest, "name"))),
    ("POST", "/v1/admin/tokens", "{\"uid\":\"ann\"}", .success(.adminTokensMint(ann, ttlSeconds: nil))),
    (
      "POST", "/v1/admin/tokens", "{\"uid\":\"ann\",\"ttlSeconds\":60}", .success(.adminTokensMint(ann, ttlSeconds: 60))
    ),
    ("POST", "/v1/admin/tokens", "{\"uid\":\"ann\",\"ttlSeconds\":0}", .failure(.init(.badRequest, "ttlSeconds"))),
    ("POST", "/v1/admin/tokens", "{\"uid\":\"ann\",\"ttlSeconds\":\"60\"}", .failure(.init(.badRequest, "ttlSeconds"))),
    ("DELETE", "/v1/admin/tokens", "{\"token\":\"T\"}", .success(.adminTokensRevoke(token: "T"))),
    ("DELETE", "/v1/admin/tokens", "", .failure(.init(.badRequest, "token"))),
    ("DELETE", "/v1/admin/tokens?token=T", "", .failure(.init(.badRequest, "token"))),
  ]

  @Test(arguments: admin.indices)
  func H_adminOperationsLiveOnHTTPAlone(row: Int) {
    let (method, target, body, expected) = Self.admin[row]
    #expect(named(overHTTP(method, target, body)) == expected)
  }

  @Test func A2_whoMayCall() {
    let callers = Dictionary(uniqueKeysWithValues: OperationTable.all.map { ($0.name, $0.caller) })
    #expect(callers["connect"] == .anyone)
    #expect(callers["message.send"] == .userOrApplication)
    #expect(callers["users.create"] == .fullAccessKey)
    #expect(callers["tokens.mint"] == .anyKey)
    #expect(callers["tokens.revoke"] == .fullAccessKey)
  }

  @Test func H_namesAndRoutesAreUnique() {
    let names = OperationTable.all.map(\.name)
    #expect(Set(names).count == names.count)
    let routes = OperationTable.all.compactMap { $0.route.map { "\($0.method.rawValue) \($0.template)" } }
    #expect(Set(routes).count == routes.count)
    #expect(
      OperationTable.all.filter { $0.route == nil }.map(\.name) == [
        "connect", "ping", "session.update", "thread.open", "thread.close", "typing.start", "typing.stop",
      ])
  }

  @Test func H_everyPathParameterIsARequiredField() {
    for definition in OperationTable.all {
      for segment in definition.route?.segments ?? [] where segment.hasPrefix("{") {
        let name = String(segment.dropFirst().dropLast())
        #expect(definition.fields.contains { $0.name == name && $0.isRequired }, "\(definition.name): \(name)")
      }
    }
  }

  @Test func H_thePathWinsOverTheBody() {
    let body = "{\"guid\":\"other\",\"members\":[{\"uid\":\"ann\"}]}"
    #expect(
      overHTTP("POST", "/v1/groups/crew/members", body)
        == .success(.membersAdd(crew, [NewMember(uid: ann, scope: .participant)])))
  }

  @Test func M5_aCallAddsAHundredMembersAtMost() {
    func body(_ count: Int) -> String {
      "{\"members\":[" + (0..<count).map { "{\"uid\":\"u\($0)\"}" }.joined(separator: ",") + "]}"
    }
    guard case .success(.membersAdd(_, let members)) = overHTTP("POST", "/v1/groups/crew/members", body(100)) else {
      Issue.record("100 members were refused")
      return
    }
    #expect(members.count == 100)
    let above = overHTTP("POST", "/v1/groups/crew/members", body(101))
    #expect(above.code == .tooLarge)
    #expect(above.limit == .limit(name: "membersPerCall", value: 100))
  }

  @Test(arguments: ["[]", "7", "{", "{\"a\":1e400}", "\u{FEFF}{}"])
  func H_aBodyThatIsNoObjectIsRefused(body: String) {
    #expect(overHTTP("POST", "/v1/groups", body).code == .badRequest)
  }

  @Test func H_aBodyAtItsLimitPassesAndOneAboveDoesNot() {
    var limits = Limits()
    limits.bodyBytes = 29
    let fits = "{\"guid\":\"crew\",\"name\":\"Crew\"}"
    #expect(fits.utf8.count == 29)
    #expect(
      overHTTP("POST", "/v1/groups", fits, limits: limits)
        == .success(.groupsCreate(NewGroup(guid: crew, name: "Crew"))))
    let above = overHTTP("POST", "/v1/groups", fits + " ", limits: limits)
    #expect(above.code == .tooLarge)
    #expect(above.limit == .limit(name: "bodyBytes", value: 29))
  }
}

@Suite("H routes")
struct HTTPRouterTests {
  private func describe(_ match: RouteMatch) -> String {
    switch match {
    case .notFound: "not found"
    case .methodNotAllowed(let allowed): "allowed: \(allowed.joined(separator: ", "))"
    case .operation(let definition, let parameters):
      ([definition.name] + parameters.map { "\($0.name)=\($0.value)" }).joined(separator: " ")
    }
  }

  @Test(arguments: [
    ("GET", "/v1/messages/12", "message.get id=12"), ("POST", "/v1/messages", "message.send"),
    ("GET", "/v1/messages", "messages.list"), ("PATCH", "/v1/messages", "allowed: POST, GET"),
    ("DELETE", "/v1/messages/5/thread/subscription", "thread.unsubscribe parentMessageId=5"),
    ("GET", "/v1/messages/5/thread/subscription", "allowed: PUT, DELETE"),
    ("GET", "/v1/users/a%2Fb", "users.get uid=a/b"), ("GET", "/v1/users/%C3%A9+", "users.get uid=é+"),
    ("DELETE", "/v1/groups/g/members/u", "members.kick guid=g uid=u"), ("HEAD", "/v1/messages", "allowed: POST, GET"),
    ("get", "/v1/messages", "allowed: POST, GET"), ("GET", "/v1/messages/", "not found"), ("GET", "/", "not found"),
    ("GET", "", "not found"), ("GET", "v1/messages", "not found"), ("GET", "//v1/messages", "not found"),
    ("GET", "/v1/users/%00", "not found"), ("GET", "/v1/users/%ff", "not found"), ("GET", "/v1/users/%4", "not found"),
    ("GET", "/v1/users/%zz", "not found"), ("GET", "/v2/messages", "not found"), ("GET", "/v1/users", "not found"),
    ("GET", "/v1/users//", "not found"), ("GET", "/%761/messages", "messages.list"),
    ("PUT", "/v1/admin/tokens", "allowed: POST, DELETE"),
  ])
  func H_methodAndPathNameTheOperation(method: String, path: String, expected: String) {
    #expect(describe(HTTPRouter().route(method: method, path: path)) == expected)
  }

  @Test(arguments: [
    ("", ""), ("a=1&b=2", "a=1;b=2"), ("a", "a="), ("a=", "a="), ("a=b=c", "a=b=c"), ("a+b=%2B%20+", "a b=+  "),
    ("&&a=1&", "a=1"), ("=x", "=x"), ("a=1&a=2", "a=1;a=2"), ("a=%C3%A9", "a=é"),
  ])
  func H_aQueryIsPairs(query: String, expected: String) {
    let pairs = HTTPQuery.parse(query)
    #expect(pairs?.map { "\($0.name)=\($0.value)" }.joined(separator: ";") == expected)
  }

  @Test(arguments: ["a=%00", "%00=a", "a=%", "a=%f", "a=%ff", "a=%gg"])
  func M4_aQueryThatIsNoTextIsNil(query: String) {
    #expect(HTTPQuery.parse(query) == nil)
  }

  @Test func H_theLastOfSeveralQueryPairsCounts() {
    #expect(
      overHTTP("GET", "/v1/messages?limit=7&limit=8")
        == .success(.messagesList(MessageQuery(place: .everywhere, limit: 8))))
  }
}
