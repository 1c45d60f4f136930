/// What happened to a person's place in a group (L6 `group.member`).
package enum MembershipAction: String, Sendable, CaseIterable {
  case joined, left, added, kicked, banned, unbanned, scopeChanged

  /// Whether the person is a member afterwards; nil when that does not change.
  package var isMemberAfter: Bool? {
    switch self {
    case .joined, .added: true
    case .left, .kicked, .banned: false
    case .unbanned, .scopeChanged: nil
    }
  }
}

/// A change of membership.
package struct MembershipChange: Hashable, Sendable {
  package var group: Group
  package var user: User
  package var action: MembershipAction
  package var scope: Scope
  /// Nil when the person acted alone.
  package var actor: UserID?
  package init(group: Group, user: User, action: MembershipAction, scope: Scope, actor: UserID?) {
    self.group = group
    self.user = user
    self.action = action
    self.scope = scope
    self.actor = actor
  }
}

/// A message that was edited or deleted (M11).
package struct MessageChange: Hashable, Sendable {
  package enum Kind: String, Sendable, CaseIterable { case edited, deleted }

  package var kind: Kind
  /// As it is now.
  package var message: Message
  /// People whom the message mentioned before and does not mention now: what they saw has changed (R2).
  package var formerMentions: [UserID]
  /// Whether it mentioned everybody before.
  package var formerlyMentionedAll: Bool

  package init(
    kind: Kind, message: Message, formerMentions: [UserID] = [], formerlyMentionedAll: Bool = false
  ) {
    self.kind = kind
    self.message = message
    self.formerMentions = formerMentions
    self.formerlyMentionedAll = formerlyMentionedAll
  }
}

/// A committed happening with a position in the log (M1). Holds nothing that depends on who receives it (R5).
package struct Event: Hashable, Sendable {
  package enum Body: Hashable, Sendable {
    case message(Message)
    case messageChanged(MessageChange)
    case reaction(ReactionChange)
    case threadSubscription(SubscriptionChange)
    case groupMember(MembershipChange)
    /// A token or all tokens of a user ended; sessions that live by them are closed (R8).
    case tokensRevoked(UserID, tokenHash: [UInt8]?)
  }

  package var seq: Seq
  package var body: Body
  /// Beside a reply and what is done to it: its thread, for routing (R2) and hints (R3). Nil for everything else, and
  /// in a replay.
  package var thread: ThreadProgress?

  package init(seq: Seq, body: Body, thread: ThreadProgress? = nil) {
    self.seq = seq
    self.body = body
    self.thread = thread
  }

  /// Whose sessions get the event (R1).
  package enum Audience: Hashable, Sendable {
    case oneOnOne(UserID, UserID)
    case group(GroupID)
    /// A group and one person who may no longer, or not yet, be in it.
    case groupAndUser(GroupID, UserID)
    case user(UserID)
    case nobody

    fileprivate init(_ conversation: Conversation) {
      switch conversation {
      case .oneOnOne(let a, let b): self = .oneOnOne(a, b)
      case .group(let guid): self = .group(guid)
      }
    }
  }

  package var audience: Audience {
    switch body {
    case .message(let message): Audience(message.conversation)
    case .messageChanged(let change): Audience(change.message.conversation)
    case .reaction(let change): Audience(change.message.conversation)
    case .threadSubscription(let change): .user(change.user)
    case .groupMember(let change): .groupAndUser(change.group.guid, change.user.uid)
    case .tokensRevoked: .nobody
    }
  }
}

/// A happening in a thread, as far as it decides who hears of it (R2).
package struct ThreadReach: Hashable, Sendable {
  package var conversation: Conversation
  package var root: MessageID
  package var mentioned: [UserID]
  package var mentionsAll: Bool
  /// Who follows the thread without a stored word, or gets one by this very happening (T4, T5).
  package var followers: Set<UserID>
}

extension Event {
  /// Nil outside threads.
  package var reach: ThreadReach? {
    guard let thread else { return nil }
    var reach: ThreadReach
    switch body {
    case .message(let reply):
      reach = ThreadReach(
        conversation: reply.conversation, root: thread.root, mentioned: reply.mentions.map(\.uid),
        mentionsAll: reply.mentionsAll, followers: [])
      // An action message subscribes nobody.
      if reply.content.category != .action { reach.followers.insert(reply.sender.uid) }
    case .messageChanged(let change):
      reach = ThreadReach(
        conversation: change.message.conversation, root: thread.root,
        mentioned: change.message.mentions.map(\.uid) + change.formerMentions,
        mentionsAll: change.message.mentionsAll || change.formerlyMentionedAll, followers: [])
    case .reaction(let change):
      reach = ThreadReach(
        conversation: change.message.conversation, root: thread.root,
        mentioned: change.message.mentions.map(\.uid), mentionsAll: change.message.mentionsAll, followers: [])
    case .threadSubscription, .groupMember, .tokensRevoked: return nil
    }
    if let author = thread.followingAuthor { reach.followers.insert(author) }
    return reach
  }
}
