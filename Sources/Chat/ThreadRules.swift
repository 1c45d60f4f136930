/// Who may reply in, follow and read a thread (T1, T2, T8). Each rule answers nil when the request is admitted.
///
/// Existence is judged before anything else, so that a conversation the caller cannot see never shows through.
package enum ThreadRules {
  /// T1, T2: whether a message may be a reply to `parent`.
  ///
  /// - Parameters:
  ///   - parent: nil when no message has the id.
  ///   - isSameConversation: whether `parent` lies in the conversation that the reply goes to.
  package static func refusalOfReply(to parent: MessageFacts?, isSameConversation: Bool) -> Refusal? {
    guard let parent, parent.access.isParticipant, !parent.isDeleted else { return Refusal(.messageNotFound) }
    if let root = parent.root {
      return Refusal(.wrongMessageThread, details: [.rootMessageID(root)])
    }
    guard isSameConversation, parent.category != .action else { return Refusal(.wrongMessageThread) }
    return nil
  }

  /// T8: whether the caller may subscribe to, or unsubscribe from, the thread of `root`. An action message heads no
  /// thread (T1) and is refused like a reply, but has no root to name.
  package static func refusalOfSubscription(to root: MessageFacts?) -> Refusal? {
    if let refusal = refusalOfReading(root) { return refusal }
    guard let root, !root.isDeleted else { return Refusal(.messageIDNotFound) }
    if let refusal = refusalOfThreadID(root) { return refusal }
    return root.category == .action ? Refusal(.invalidParentMessageID) : nil
  }

  /// T2: whether the caller may read a message; a deleted one stays readable as an empty row (M11).
  package static func refusalOfReading(_ message: MessageFacts?) -> Refusal? {
    guard let message else { return Refusal(.messageIDNotFound) }
    switch message.access {
    case .participant: return nil
    case .former: return Refusal(.messageNoAccess)
    case .stranger: return Refusal(.messageIDNotFound)
    }
  }

  /// Whether the caller may list the replies of `root`; those of a deleted root stay readable (T10).
  package static func refusalOfListingReplies(of root: MessageFacts?) -> Refusal? {
    if let refusal = refusalOfReading(root) { return refusal }
    return root.flatMap(refusalOfThreadID)
  }

  private static func refusalOfThreadID(_ message: MessageFacts) -> Refusal? {
    message.root.map { Refusal(.invalidParentMessageID, details: [.rootMessageID($0)]) }
  }
}
