/// A person to add to a group.
package struct NewMember: Hashable, Sendable {
  package var uid: UserID
  package var scope: Scope
  package init(uid: UserID, scope: Scope) {
    self.uid = uid
    self.scope = scope
  }
}

/// What an admin key may do (A2).
package enum KeyScope: String, Sendable, CaseIterable { case fullAccess, authOnly }
