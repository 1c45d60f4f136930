import Chat
import Testing
import Wire

@Suite("Errors and close codes")
struct CatalogueTests {
  /// Status and retryability by code, written out from the protocol.
  private static let expected: [String: (status: Int, isRetryable: Bool)] = [
    "ERR_BAD_REQUEST": (400, false), "ERR_TOO_LARGE": (413, false), "ERR_EMPTY_MESSAGE": (400, false),
    "ERR_INVALID_PARENT_MESSAGE_ID": (400, false), "ERR_MESSAGE_NOT_FOUND": (404, false),
    "ERR_WRONG_MESSAGE_THREAD": (400, false), "ERR_MESSAGE_ID_NOT_FOUND": (404, false),
    "ERR_MESSAGE_NO_ACCESS": (403, false), "ERR_MESSAGE_NOT_A_SENDER": (403, false),
    "ERR_MESSAGE_ACTION_NOT_ALLOWED": (403, false), "ERR_MUID_CONFLICT": (409, false),
    "ERR_UID_NOT_FOUND": (404, false), "ERR_GUID_NOT_FOUND": (404, false), "ERR_GROUP_NOT_JOINED": (403, false),
    "ERR_ALREADY_JOINED": (409, false), "ERR_BANNED_GROUPMEMBER": (403, false), "ERR_WRONG_GROUP_PASS": (403, false),
    "ERR_GROUP_JOIN_NOT_ALLOWED": (403, false), "ERR_GROUP_NO_CLEARANCE": (403, false),
    "ERR_BLOCKED_RECEIVER": (403, false), "ERR_BLOCKED_SENDER": (403, false), "ERR_NOT_LOGGED_IN": (401, false),
    "AUTH_ERR_APIKEY_NOT_FOUND": (401, false), "AUTH_ERR_NO_ACCESS": (403, false), "ERR_API_NOT_FOUND": (404, false),
    "ERR_TOO_MANY_REQUESTS": (429, true), "ERR_OVERLOADED": (503, true), "ERR_STORE_UNAVAILABLE": (503, true),
  ]

  @Test func theCatalogueIsComplete() {
    #expect(Set(RefusalCode.allCases.map(\.rawValue)) == Set(Self.expected.keys))
    for code in RefusalCode.allCases {
      let entry = ErrorCatalogue.entry(code)
      #expect(entry.status == Self.expected[code.rawValue]?.status, "\(code)")
      #expect(entry.isRetryable == Self.expected[code.rawValue]?.isRetryable, "\(code)")
      #expect(entry.message.hasSuffix("."), "\(code)")
    }
    #expect(Set(RefusalCode.allCases.map { ErrorCatalogue.entry($0).message }).count == 28)
  }

  @Test func T2_theParentErrorsHaveTheirTexts() {
    #expect(ErrorCatalogue.entry(.messageNotFound).message == "Parent message does not exist.")
    #expect(ErrorCatalogue.entry(.wrongMessageThread).message == "The message cannot be added to the thread.")
  }

  @Test func L_closeCodesSayWhatToDo() {
    let table = GatewayCloseCode.allCases.map { "\($0.rawValue) \($0.name) \($0.advice)" }
    #expect(
      table == [
        "4000 draining reconnectAndResume", "4001 slow_consumer reconnectAndResume",
        "4002 pong_timeout reconnectAndResume", "4101 token_expired reconnectAfresh",
        "4102 overloaded reconnectAfresh", "4200 unauthenticated stayAway", "4201 token_revoked stayAway",
        "4202 too_many_sessions stayAway", "4203 rate_limited stayAway", "4204 session_replaced stayAway",
      ])
    #expect(GatewayCloseCode.allCases.allSatisfy { $0.meaning.hasSuffix(".") && $0.name.utf8.count <= 123 })
  }
}
