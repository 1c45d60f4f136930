import Chat

/// `messages.list`: at most one of `uid`, `guid`, `parentMessageId`; none of them asks for everything.
enum MessagesRequest {
  static let fields: [OperationDefinition.Field] = [
    .optional("uid", .identifier, "The one-on-one conversation with this user."),
    .optional("guid", .identifier, "The conversation of this group."),
    .optional("parentMessageId", .messageID, "The replies of this root."),
    .optional("id", .messageID, "The edge, exclusive; without it the page is the newest, or the oldest with after."),
    .optional("direction", .choice(["before", "after"]), "On which side of the edge; before when absent."),
    .optional("limit", .integer, "Rows, 1–100; 50 when absent."),
    .optional("hideReplies", .boolean, "Leaves replies out; false when absent."),
  ]

  static func decode(_ fields: borrowing Fields, _ limits: Limits) throws(Refusal) -> MessageQuery {
    let uid = try fields.userID("uid")
    let guid = try fields.groupID("guid")
    let root = try fields.messageID("parentMessageId", orElse: .invalidParentMessageID)
    let place: MessageQuery.Place
    switch (uid, guid, root) {
    case (nil, nil, nil): place = .everywhere
    case (let uid?, nil, nil): place = .user(uid)
    case (nil, let guid?, nil): place = .group(guid)
    case (nil, nil, let root?): place = .thread(root)
    case (_, _?, _): throw fields.refusal("guid", "excludes uid and parentMessageId")
    default: throw fields.refusal("parentMessageId", "excludes uid and guid")
    }
    let limit = try fields.integer("limit", in: 1...Int64(limits.pageRows)) ?? Int64(min(50, limits.pageRows))
    return MessageQuery(
      place: place, edge: try fields.messageID("id"),
      direction: try fields.choice("direction", MessageQuery.Direction.self) ?? .before, limit: Int(limit),
      hideReplies: try fields.boolean("hideReplies") ?? false)
  }
}
