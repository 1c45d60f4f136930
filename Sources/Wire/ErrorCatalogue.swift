package import Chat

/// What the wire says about each refusal: the one table from which documents and clients are made.
package enum ErrorCatalogue {
  package struct Entry: Hashable, Sendable {
    /// The HTTP status.
    package let status: Int
    /// The text when the refusal has none of its own.
    package let message: String
    /// Whether the same request may work later.
    package let isRetryable: Bool
  }

  package static func entry(_ code: RefusalCode) -> Entry {
    switch code {
    case .badRequest: entry(400, "The request is not valid.")
    case .tooLarge: entry(413, "Something in the request is larger than its limit.")
    case .emptyMessage: entry(400, "A text message needs a text that is not blank.")
    case .invalidParentMessageID: entry(400, "The parent message id is not valid.")
    case .messageNotFound: entry(404, "Parent message does not exist.")
    case .wrongMessageThread: entry(400, "The message cannot be added to the thread.")
    case .messageIDNotFound: entry(404, "The message does not exist.")
    case .messageNoAccess: entry(403, "The message is in a conversation that you are no longer part of.")
    case .messageNotASender: entry(403, "Only the sender of the message may do this.")
    case .messageActionNotAllowed: entry(403, "This cannot be done with this kind of message.")
    case .muidConflict: entry(409, "The muid was used before for another message.")
    case .uidNotFound: entry(404, "The user does not exist.")
    case .guidNotFound: entry(404, "The group does not exist.")
    case .groupNotJoined: entry(403, "Only members of the group may do this.")
    case .alreadyJoined: entry(409, "The user is a member of the group already.")
    case .bannedGroupMember: entry(403, "The user is banned from the group.")
    case .wrongGroupPassword: entry(403, "The password of the group is not right.")
    case .groupJoinNotAllowed: entry(403, "The group cannot be joined without an invitation.")
    case .groupNoClearance: entry(403, "Your scope in the group does not allow this.")
    case .blockedReceiver: entry(403, "You have blocked the receiver.")
    case .blockedSender: entry(403, "The receiver does not accept messages from you.")
    case .notLoggedIn: entry(401, "A valid token is needed.")
    case .apiKeyNotFound: entry(401, "The API key is not known.")
    case .noAccess: entry(403, "The credentials do not allow this operation.")
    case .apiNotFound: entry(404, "There is no such operation.")
    case .tooManyRequests: entry(429, "Too many requests in a short time.", isRetryable: true)
    case .overloaded: entry(503, "The gateway is busy.", isRetryable: true)
    case .storeUnavailable: entry(503, "The store cannot be written at the moment.", isRetryable: true)
    }
  }

  private static func entry(_ status: Int, _ message: String, isRetryable: Bool = false) -> Entry {
    Entry(status: status, message: message, isRetryable: isRetryable)
  }
}
