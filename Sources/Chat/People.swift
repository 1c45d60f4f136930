/// A user (D2) as stored; `status` and the per-viewer fields come from elsewhere.
package struct User: Hashable, Sendable {
  package var uid: UserID
  package var name: String
  package var avatar: String
  package var link: String
  package var role: String
  package var statusMessage: String
  package var metadata: JSONText
  package var tags: [String]
  package var createdAt: UnixSeconds
  package var updatedAt: UnixSeconds
  package var lastActiveAt: UnixSeconds
  package var deactivatedAt: UnixSeconds

  package init(
    uid: UserID, name: String, avatar: String = "", link: String = "", role: String = "default",
    statusMessage: String = "", metadata: JSONText = .emptyObject, tags: [String] = [],
    createdAt: UnixSeconds = .never, updatedAt: UnixSeconds = .never, lastActiveAt: UnixSeconds = .never,
    deactivatedAt: UnixSeconds = .never
  ) {
    self.uid = uid
    self.name = name
    self.avatar = avatar
    self.link = link
    self.role = role
    self.statusMessage = statusMessage
    self.metadata = metadata
    self.tags = tags
    self.createdAt = createdAt
    self.updatedAt = updatedAt
    self.lastActiveAt = lastActiveAt
    self.deactivatedAt = deactivatedAt
  }
}

/// Who may find and join a group (D3).
package enum GroupType: String, Sendable, CaseIterable { case `public`, password, `private` }

/// A member's rights in a group, weakest first (D5).
package enum Scope: String, Sendable, CaseIterable { case participant, moderator, admin }

/// A group (D3) as stored.
package struct Group: Hashable, Sendable {
  package var guid: GroupID
  package var name: String
  package var type: GroupType
  package var icon: String
  package var description: String
  package var owner: UserID
  package var metadata: JSONText
  package var tags: [String]
  package var membersCount: Int
  package var createdAt: UnixSeconds
  package var updatedAt: UnixSeconds

  package init(
    guid: GroupID, name: String, type: GroupType = .public, icon: String = "", description: String = "",
    owner: UserID, metadata: JSONText = .emptyObject, tags: [String] = [], membersCount: Int = 0,
    createdAt: UnixSeconds = .never, updatedAt: UnixSeconds = .never
  ) {
    self.guid = guid
    self.name = name
    self.type = type
    self.icon = icon
    self.description = description
    self.owner = owner
    self.metadata = metadata
    self.tags = tags
    self.membersCount = membersCount
    self.createdAt = createdAt
    self.updatedAt = updatedAt
  }
}

/// A member of a group (D3).
package struct Member: Hashable, Sendable {
  package var user: User
  package var scope: Scope
  package var joinedAt: UnixSeconds
  package init(user: User, scope: Scope, joinedAt: UnixSeconds) {
    self.user = user
    self.scope = scope
    self.joinedAt = joinedAt
  }
}
