package import Chat
package import JSON

/// Users, groups and members (D2, D3).
package enum PeopleEncoder {
  package static func encode(_ user: User, into writer: inout JSONWriter) {
    writer.beginObject()
    members(of: user, into: &writer)
    writer.endObject()
  }

  package static func encode(_ member: Member, into writer: inout JSONWriter) {
    writer.beginObject()
    members(of: member.user, into: &writer)
    writer.member("scope", member.scope.rawValue)
    writer.member("joinedAt", member.joinedAt)
    writer.endObject()
  }

  package static func encode(_ group: Group, into writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("guid", group.guid.text)
    writer.member("name", group.name)
    writer.member("type", group.type.rawValue)
    writer.member("icon", group.icon)
    writer.member("description", group.description)
    writer.member("owner", group.owner.text)
    writer.member("metadata", group.metadata)
    writer.member("tags", group.tags)
    writer.member("membersCount", group.membersCount)
    writer.member("createdAt", group.createdAt)
    writer.member("updatedAt", group.updatedAt)
    writer.endObject()
  }

  private static func members(of user: User, into writer: inout JSONWriter) {
    writer.member("uid", user.uid.text)
    writer.member("name", user.name)
    writer.member("avatar", user.avatar)
    writer.member("link", user.link)
    writer.member("role", user.role)
    writer.member("statusMessage", user.statusMessage)
    writer.member("metadata", user.metadata)
    writer.member("tags", user.tags)
    writer.member("createdAt", user.createdAt)
    writer.member("updatedAt", user.updatedAt)
    writer.member("lastActiveAt", user.lastActiveAt)
    writer.member("deactivatedAt", user.deactivatedAt)
  }
}
