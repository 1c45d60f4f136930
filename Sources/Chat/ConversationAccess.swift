/// What a person is to a conversation (T2, D8).
package enum ConversationAccess: Hashable, Sendable {
  /// Reads and writes. `joinedSeq` is `.none` in one-on-one conversations and for the application itself.
  case participant(joinedSeq: Seq)
  /// Was a member once and is none now.
  case former
  /// Was never in it: the conversation and all it holds must look as if they did not exist.
  case stranger

  package var isParticipant: Bool {
    if case .participant = self { true } else { false }
  }
}

/// What the rules need to know of a message that a request names, gathered by the store.
package struct MessageFacts: Hashable, Sendable {
  package var id: MessageID
  package var category: Category
  /// The root when the message is a reply.
  package var root: MessageID?
  package var isDeleted: Bool
  /// What the caller is to the message's conversation.
  package var access: ConversationAccess

  package init(
    id: MessageID, category: Category, root: MessageID? = nil, isDeleted: Bool = false, access: ConversationAccess
  ) {
    self.id = id
    self.category = category
    self.root = root
    self.isDeleted = isDeleted
    self.access = access
  }
}
