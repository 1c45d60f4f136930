import Chat
import Testing
import Wire

@Suite("L3, L8 frames")
struct FrameTests {
  @Test(arguments: [
    ("7", RequestID.integer(7)), ("0", .integer(0)), ("-3", .integer(-3)),
    ("9007199254740992", .integer(9_007_199_254_740_992)), ("\"\"", .text("")), ("\"a-1\"", .text("a-1")),
    ("\"é\\n\"", .text("é\n")),
    ("\"" + String(repeating: "😀", count: 64) + "\"", .text(String(repeating: "😀", count: 64))),
  ])
  func L3_anIntegerOrAShortStringIsEchoed(id: String, expected: RequestID) {
    guard case .request(let found, let result) = frame("{\"id\":\(id),\"op\":\"ping\"}") else {
      Issue.record("the frame was malformed")
      return
    }
    #expect(found == expected)
    #expect(result == .success(.ping))
  }

  @Test(arguments: [
    "", " ", "{", "[]", "7", "null", "\"x\"", "{}", "{\"op\":\"ping\"}", "{\"id\":null,\"op\":\"ping\"}",
    "{\"id\":1.0,\"op\":\"ping\"}", "{\"id\":-0,\"op\":\"ping\"}", "{\"id\":true,\"op\":\"ping\"}",
    "{\"id\":[1],\"op\":\"ping\"}", "{\"id\":{},\"op\":\"ping\"}", "{\"id\":9007199254740993,\"op\":\"ping\"}",
    "{\"id\":18446744073709551615,\"op\":\"ping\"}", "{\"id\":1,\"op\":\"ping\"} x",
    "{\"id\":\"" + String(repeating: "a", count: 65) + "\",\"op\":\"ping\"}",
  ])
  func L8_whatIsNoRequestIsAnsweredWithoutID(text: String) {
    guard case .malformed(let refusal) = frame(text) else {
      Issue.record("the frame was taken for a request")
      return
    }
    #expect(refusal.code == .badRequest)
  }

  @Test func L8_everyCutOfAFrameIsMalformed() {
    let text = Array("{\"id\":7,\"op\":\"message.get\",\"data\":{\"id\":12}}".utf8)
    let decoder = RequestDecoder()
    for count in 0..<text.count {
      guard case .malformed = text[..<count].withUnsafeBytes({ decoder.decodeFrame($0) }) else {
        Issue.record("a frame cut at \(count) was taken for a request")
        continue
      }
    }
    guard
      case .request(.integer(7), .success(.messageGet(MessageID(12)))) = text.withUnsafeBytes({
        decoder.decodeFrame($0)
      })
    else {
      Issue.record("the whole frame was not understood")
      return
    }
  }

  @Test(arguments: [
    ("{\"id\":1}", RefusalCode.badRequest, "op"), ("{\"id\":1,\"op\":7}", .badRequest, "op"),
    ("{\"id\":1,\"op\":\"ping\",\"data\":[]}", .badRequest, "data"),
    ("{\"id\":1,\"op\":\"ping\",\"data\":\"x\"}", .badRequest, "data"),
    ("{\"id\":1,\"op\":\"message.get\",\"data\":{}}", .badRequest, "id"),
    ("{\"id\":1,\"op\":\"message.get\"}", .badRequest, "id"),
    ("{\"id\":1,\"op\":\"message.get\",\"data\":null}", .badRequest, "id"),
  ])
  func L3_aWrongRequestIsAnsweredWithItsID(text: String, code: RefusalCode, field: String) {
    guard case .request(.integer(1), let result) = frame(text) else {
      Issue.record("the frame was malformed")
      return
    }
    #expect(result.code == code)
    #expect(result.field == field)
  }

  @Test(
    arguments: [
      ("message.snd", "There is no such operation. Did you mean message.send?"), ("zzzzzzzz", nil),
      ("users.create", "There is no such operation. Did you mean users.get?"), ("tokens.revoke", nil),
      ("Ping", "There is no such operation. Did you mean ping?"), (String(repeating: "a", count: 1_000), nil),
    ] as [(String, String?)])
  func H_unknownAndHTTPOnlyOperationsAreNotFoundOnTheSocket(op: String, message: String?) {
    let result = overSocket(op, "{}")
    #expect(result == .failure(Refusal(.apiNotFound, message)))
  }

  @Test func H_unknownFieldsAreIgnored() {
    #expect(overSocket("ping", "{\"x\":{\"y\":[1]}}") == .success(.ping))
    #expect(
      overSocket("users.get", "{\"uid\":\"Bob\",\"more\":1}") == .success(.usersGet(bob)))
  }

  @Test(arguments: [
    "{\"id\":1,\"op\":\"ping\",\"data\":{\"x\":\"\\u0000\"}}", "{\"id\":1,\"op\":\"ping\",\"\\ud83d\":1}",
    "{\"id\":1,\"op\":\"ping\",\"data\":{\"x\":[\"\\udc00\\ud83d\"]}}",
    "{\"id\":1,\"op\":\"ping\",\"data\":{\"x\":1e400}}",
    "{\"id\":1,\"op\":\"ping\",\"data\":{\"x\":18446744073709551616}}",
  ])
  func M4_M5_whatNoStoreOrParserHoldsIsRefusedAnywhere(text: String) {
    guard case .malformed(let refusal) = frame(text) else {
      Issue.record("the frame was taken for a request")
      return
    }
    #expect(refusal.code == .badRequest)
  }

  @Test func M5_depthCountsFromTheFrame() {
    func nested(_ depth: Int) -> String {
      "{\"id\":1,\"op\":\"ping\",\"data\":{\"x\":" + String(repeating: "[", count: depth - 2)
        + String(repeating: "]", count: depth - 2) + "}}"
    }
    guard case .request(_, .success(.ping)) = frame(nested(32)) else {
      Issue.record("depth 32 was refused")
      return
    }
    guard case .malformed(let refusal) = frame(nested(33)) else {
      Issue.record("depth 33 was accepted")
      return
    }
    #expect(refusal == Refusal(.badRequest, "The JSON is nested too deep."))
  }
}

@Suite("L4 connect")
struct ConnectTests {
  @Test func L4_everythingIsOptional() {
    #expect(overSocket("connect", "{}") == .success(.connect(ConnectRequest())))
  }

  @Test func L4_everythingTogether() {
    let result = overSocket(
      "connect",
      """
      {"token":"T","device":{"id":"d1","platform":"ios","name":"Phone"},"resume":{"epoch":"e1","seq":912},
       "replies":"open","openThreads":[5,"6"],"foreground":false}
      """)
    let expected = ConnectRequest(
      token: "T", device: .init(id: "d1", platform: "ios", name: "Phone"),
      resume: .init(epoch: "e1", seq: Seq(912)), replies: .open, openThreads: [MessageID(5), MessageID(6)],
      isForeground: false)
    #expect(result == .success(.connect(expected)))
  }

  @Test(arguments: [
    ("{\"token\":7}", "token"), ("{\"device\":\"d\"}", "device"), ("{\"device\":{}}", "device.id"),
    ("{\"device\":{\"id\":\" \"}}", "device.id"),
    ("{\"resume\":[]}", "resume"), ("{\"resume\":{\"seq\":1}}", "resume.epoch"),
    ("{\"resume\":{\"epoch\":\"e\"}}", "resume.seq"), ("{\"resume\":{\"epoch\":\"e\",\"seq\":\"1\"}}", "resume.seq"),
    ("{\"resume\":{\"epoch\":\"e\",\"seq\":-1}}", "resume.seq"), ("{\"replies\":\"some\"}", "replies"),
    ("{\"openThreads\":5}", "openThreads"), ("{\"openThreads\":[0]}", "openThreads"),
    ("{\"openThreads\":[1.0]}", "openThreads"), ("{\"foreground\":1}", "foreground"),
  ])
  func L4_wrongTypesNameTheirField(data: String, field: String) {
    let result = overSocket("connect", data)
    #expect(result.code == .badRequest)
    #expect(result.field == field)
  }

  @Test func R2_sixtyFourOpenThreadsAreTheMost() {
    let at = (1...64).map(String.init).joined(separator: ",")
    guard case .success(.connect(let request)) = overSocket("connect", "{\"openThreads\":[\(at)]}") else {
      Issue.record("64 threads were refused")
      return
    }
    #expect(request.openThreads.count == 64)
    let above = overSocket("connect", "{\"openThreads\":[\(at),65]}")
    #expect(above.code == .tooLarge)
    #expect(above.limit == .limit(name: "openThreads", value: 64))
  }
}
