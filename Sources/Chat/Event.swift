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

/// A committed happening with a position in the log (M1). Holds nothing that depends on who receives it (R5).
package struct Event: Hashable, Sendable {
  package enum Body: Hashable, Sendable {
    case message(Message)
    case threadSubscription(SubscriptionChange)
    case groupMember(MembershipChange)
    /// A token or all tokens of a user ended; sessions that live by them are closed (R8).
    case tokensRevoked(UserID, tokenHash: [UInt8]?)
  }

  package var seq: Seq
  package var body: Body
  /// Beside a reply: its thread, for routing (R2) and hints (R3). Nil for everything else, and in a replay.
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
  }

  package var audience: Audience {
    switch body {
    case .message(let message):
      switch message.conversation {
      case .oneOnOne(let a, let b): .oneOnOne(a, b)
      case .group(let guid): .group(guid)
      }
    case .threadSubscription(let change): .user(change.user)
    case .groupMember(let change): .groupAndUser(change.group.guid, change.user.uid)
    case .tokensRevoked: .nobody
    }
  }
}
