/// Why the gateway says no. The raw value is the code on the wire; status, text and `retryable` stand in the catalogue
/// of the `Wire` module, which is made over `allCases`.
package enum RefusalCode: String, Sendable, CaseIterable {
  case badRequest = "ERR_BAD_REQUEST"
  case tooLarge = "ERR_TOO_LARGE"
  case emptyMessage = "ERR_EMPTY_MESSAGE"
  case invalidParentMessageID = "ERR_INVALID_PARENT_MESSAGE_ID"
  case messageNotFound = "ERR_MESSAGE_NOT_FOUND"
  case wrongMessageThread = "ERR_WRONG_MESSAGE_THREAD"
  case messageIDNotFound = "ERR_MESSAGE_ID_NOT_FOUND"
  case messageNoAccess = "ERR_MESSAGE_NO_ACCESS"
  case messageNotASender = "ERR_MESSAGE_NOT_A_SENDER"
  case messageActionNotAllowed = "ERR_MESSAGE_ACTION_NOT_ALLOWED"
  case muidConflict = "ERR_MUID_CONFLICT"
  case uidNotFound = "ERR_UID_NOT_FOUND"
  case guidNotFound = "ERR_GUID_NOT_FOUND"
  case groupNotJoined = "ERR_GROUP_NOT_JOINED"
  case alreadyJoined = "ERR_ALREADY_JOINED"
  case bannedGroupMember = "ERR_BANNED_GROUPMEMBER"
  case wrongGroupPassword = "ERR_WRONG_GROUP_PASS"
  case groupJoinNotAllowed = "ERR_GROUP_JOIN_NOT_ALLOWED"
  case groupNoClearance = "ERR_GROUP_NO_CLEARANCE"
  case blockedReceiver = "ERR_BLOCKED_RECEIVER"
  case blockedSender = "ERR_BLOCKED_SENDER"
  case notLoggedIn = "ERR_NOT_LOGGED_IN"
  case apiKeyNotFound = "AUTH_ERR_APIKEY_NOT_FOUND"
  case noAccess = "AUTH_ERR_NO_ACCESS"
  case apiNotFound = "ERR_API_NOT_FOUND"
  case tooManyRequests = "ERR_TOO_MANY_REQUESTS"
  case overloaded = "ERR_OVERLOADED"
  case storeUnavailable = "ERR_STORE_UNAVAILABLE"
}

/// A refusal with what the caller may want to know beside the code.
package struct Refusal: Error, Hashable, Sendable {
  package var code: RefusalCode
  /// A sentence for this very case; nil means the catalogue's.
  package var message: String?
  package var details: [Detail]

  /// One member of `details` on the wire.
  package enum Detail: Hashable, Sendable {
    case rootMessageID(MessageID)
    /// The request's field that is wrong.
    case field(String)
    /// The limit that was crossed, by its name in the hello, and its value (bytes or a count).
    case limit(name: String, value: Int)
    case retryAfterMilliseconds(Int)
  }

  package init(_ code: RefusalCode, _ message: String? = nil, details: [Detail] = []) {
    self.code = code
    self.message = message
    self.details = details
  }
}
