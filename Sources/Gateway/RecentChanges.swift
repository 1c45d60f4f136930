import Chat

/// The latest changes that decide what a session may see and wants to see, kept so that a session loaded at an earlier
/// position can be brought up to the shard's (memberships, subscriptions and tokens; R2, R8). Bounded: a session older
/// than what is kept is loaded again.
struct RecentChanges {
  static let limit = 4096

  private struct Change {
    enum Kind {
      case joined(GroupID)
      case left(GroupID)
      case subscription(ThreadPlace, isSubscribed: Bool)
      /// Nil means all of the user's tokens.
      case revoked(tokenHash: [UInt8]?)
    }
    var seq: Seq
    var user: UserID
    var kind: Kind
  }

  private var changes: [Change] = []
  /// Everything after this position is still here.
  private(set) var floor = Seq.none

  /// What a session is entitled to and follows.
  struct Standing {
    var groups: Set<GroupID>
    var followed: Set<ThreadPlace>
  }

  mutating func record(_ event: Event) {
    switch event.body {
    case .message, .messageChanged, .reaction: return
    case .groupMember(let change):
      guard let isMember = change.action.isMemberAfter else { return }
      append(event.seq, change.user.uid, isMember ? .joined(change.group.guid) : .left(change.group.guid))
    case .threadSubscription(let change):
      let place = ThreadPlace(root: change.root, conversation: change.conversation)
      append(event.seq, change.user, .subscription(place, isSubscribed: change.isSubscribed))
    case .tokensRevoked(let user, let hash): append(event.seq, user, .revoked(tokenHash: hash))
    }
  }

  private mutating func append(_ seq: Seq, _ user: UserID, _ kind: Change.Kind) {
    changes.append(Change(seq: seq, user: user, kind: kind))
    guard changes.count > Self.limit else { return }
    let dropped = changes.count / 2
    floor = changes[dropped - 1].seq
    changes.removeFirst(dropped)
  }

  /// Brings what was true at `position` up to now. Nil when that is too old for what is kept.
  func bringUp(_ standing: Standing, of user: UserID, since position: Seq) -> Standing? {
    guard position >= floor else { return nil }
    var current = standing
    for change in changes.reversed().prefix(while: { $0.seq > position }).reversed() where change.user == user {
      switch change.kind {
      case .joined(let group): current.groups.insert(group)
      case .left(let group):
        current.groups.remove(group)
        // T9: what was followed there is forgotten, also by who comes back.
        current.followed = current.followed.filter { $0.conversation != .group(group) }
      case .subscription(let place, true): current.followed.insert(place)
      case .subscription(let place, false): current.followed.remove(place)
      case .revoked: break
      }
    }
    return current
  }

  /// Whether the token ended after `position`.
  func isRevoked(_ tokenHash: [UInt8], of user: UserID, since position: Seq) -> Bool {
    changes.contains { change in
      guard change.seq > position, change.user == user, case .revoked(let hash) = change.kind else { return false }
      return hash == nil || hash == tokenHash
    }
  }
}
