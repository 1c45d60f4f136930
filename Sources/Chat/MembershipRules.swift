/// What a member may do to a group's members (D5).
package enum MembershipRules {
  /// A member's place, as far as rights go.
  package struct Rank: Hashable, Sendable {
    package var scope: Scope
    package var isOwner: Bool
    package init(scope: Scope, isOwner: Bool = false) {
      self.scope = scope
      self.isOwner = isOwner
    }
  }

  /// Admins and the owner add. `actor` nil = the application itself, which may do everything (A2).
  package static func mayAdd(_ actor: Rank?) -> Bool {
    guard let actor else { return true }
    return actor.isOwner || actor.scope == .admin
  }

  /// Admins and the owner kick anybody but the owner; moderators kick participants.
  package static func mayKick(_ target: Rank, by actor: Rank?) -> Bool {
    if target.isOwner { return false }
    guard let actor else { return true }
    if actor.isOwner || actor.scope == .admin { return true }
    return actor.scope == .moderator && target.scope == .participant
  }

  /// Everybody leaves but the owner: a group is never without one.
  package static func mayLeave(_ member: Rank) -> Bool { !member.isOwner }
}
