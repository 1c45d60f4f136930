import Chat

/// The latest changes that decide what a session may see, kept so that a session loaded at an earlier position can be
/// brought up to the shard's (memberships and tokens; R8). Bounded: a session older than what is kept is loaded again.
struct RecentChanges {
  static let limit = 1024

  private var changes: [Event] = []
  /// Everything after this position is still here.
  private(set) var floor = Seq.none

  mutating func record(_ event: Event) {
    changes.append(event)
    guard changes.count > Self.limit else { return }
    let dropped = changes.count / 2
    floor = changes[dropped - 1].seq
    changes.removeFirst(dropped)
  }

  /// Nil when `position` is too old for what is kept.
  func groups(_ groups: [GroupID], of user: UserID, since position: Seq) -> Set<GroupID>? {
    guard position >= floor else { return nil }
    var current = Set(groups)
    for event in changes where event.seq > position {
      guard case .groupMember(let change) = event.body, change.user.uid == user else { continue }
      switch change.action.isMemberAfter {
      case true: current.insert(change.group.guid)
      case false: current.remove(change.group.guid)
      case nil: break
      }
    }
    return current
  }

  /// Whether the token ended after `position`.
  func isRevoked(_ tokenHash: [UInt8], of user: UserID, since position: Seq) -> Bool {
    changes.contains { event in
      guard event.seq > position, case .tokensRevoked(let holder, let hash) = event.body, holder == user else {
        return false
      }
      return hash == nil || hash == tokenHash
    }
  }
}
