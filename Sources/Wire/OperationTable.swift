import Chat

/// Every operation, each defined once.
package enum OperationTable {
  package static let all: [OperationDefinition] = session + messages + reactions + threads + people + admin

  /// The operation of this name, on whichever door.
  package static func definition(named name: String) -> OperationDefinition? {
    all.first { $0.name == name }
  }

  /// A sentence for a name that is not in the table, with the nearest one that is.
  static func unknown(_ name: String, among definitions: [OperationDefinition]) -> Refusal {
    guard name.utf8.count <= 64 else { return Refusal(.apiNotFound) }
    let wanted = Array(name.utf8)
    var best: (name: String, distance: Int)?
    for definition in definitions {
      let distance = editDistance(wanted, Array(definition.name.utf8))
      if distance < best?.distance ?? .max { best = (definition.name, distance) }
    }
    guard let best, best.distance <= max(2, wanted.count / 3) else { return Refusal(.apiNotFound) }
    return Refusal(.apiNotFound, "There is no such operation. Did you mean \(best.name)?")
  }

  private static func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var row = Array(0...b.count)
    for (i, x) in a.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, y) in b.enumerated() {
        let substituted = diagonal + (x == y ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(substituted, row[j] + 1, diagonal + 1)
      }
    }
    return row[b.count]
  }

  // MARK: The socket's own

  private static let session: [OperationDefinition] = [
    OperationDefinition(
      "connect", "Opens the session; the first operation of every socket.", doors: .socket, caller: .anyone,
      fields: ConnectRequest.fields
    ) { fields, limits throws(Refusal) in .connect(try ConnectRequest(fields, limits)) },
    OperationDefinition("ping", "Answers at once.", doors: .socket, caller: .anyone) { _, _ throws(Refusal) in .ping },
    OperationDefinition(
      "session.update", "Changes what the session wants to hear; what is absent stays.", doors: .socket, caller: .user,
      fields: [
        .optional("replies", .choice(ReplyChoice.allCases.map(\.rawValue)), "Which replies come live."),
        .optional("foreground", .boolean, "Whether somebody is looking."),
      ]
    ) { fields, _ throws(Refusal) in
      .sessionUpdate(
        replies: try fields.choice("replies", ReplyChoice.self), isForeground: try fields.boolean("foreground"))
    },
    OperationDefinition(
      "thread.open", "Lets a thread's replies come whatever the session's choice says.", doors: .socket, caller: .user,
      fields: root
    ) { fields, _ throws(Refusal) in
      .threadOpen(try fields.requiredMessageID("parentMessageId", orElse: .invalidParentMessageID))
    },
    OperationDefinition("thread.close", "Ends what thread.open began.", doors: .socket, caller: .user, fields: root) {
      fields, _ throws(Refusal) in
      .threadClose(try fields.requiredMessageID("parentMessageId", orElse: .invalidParentMessageID))
    },
    OperationDefinition(
      "typing.start", "Tells the others of a conversation that the user is writing.", doors: .socket, caller: .user,
      fields: TypingNotice.fields
    ) { fields, _ throws(Refusal) in .typing(try TypingNotice(fields, isTyping: true)) },
    OperationDefinition(
      "typing.stop", "Tells them that the user no longer is.", doors: .socket, caller: .user,
      fields: TypingNotice.fields
    ) { fields, _ throws(Refusal) in .typing(try TypingNotice(fields, isTyping: false)) },
  ]

  // MARK: Messages

  private static let messages: [OperationDefinition] = [
    OperationDefinition(
      "message.send", "Sends a message to a user or a group.", route: .init(.post, "/v1/messages"),
      fields: MessageRequest.fields
    ) { fields, limits throws(Refusal) in .messageSend(try MessageRequest.decode(fields, limits)) },
    OperationDefinition(
      "message.get", "Fetches one message.", route: .init(.get, "/v1/messages/{id}"),
      fields: [.required("id", .messageID, "The message.")]
    ) { fields, _ throws(Refusal) in .messageGet(try fields.requiredMessageID("id")) },
    OperationDefinition(
      "message.edit", "Changes the words or data of a message; attachments stay.",
      route: .init(.patch, "/v1/messages/{id}"), fields: MessageEdit.fields
    ) { fields, limits throws(Refusal) in
      .messageEdit(try fields.requiredMessageID("id"), try MessageEdit(fields, limits))
    },
    OperationDefinition(
      "message.delete", "Empties a message; its place in the history stays.",
      route: .init(.delete, "/v1/messages/{id}"), fields: [.required("id", .messageID, "The message.")]
    ) { fields, _ throws(Refusal) in .messageDelete(try fields.requiredMessageID("id")) },
    OperationDefinition(
      "messages.list", "Fetches a page of messages, ascending by id.", route: .init(.get, "/v1/messages"),
      fields: MessagesRequest.fields
    ) { fields, limits throws(Refusal) in .messagesList(try MessagesRequest.decode(fields, limits)) },
  ]

  // MARK: Reactions

  private static let reaction: [OperationDefinition.Field] = [
    .required("id", .messageID, "The message."),
    .required("emoji", .text, "An emoji or a short code, without white space."),
  ]

  private static let reactions: [OperationDefinition] = [
    OperationDefinition(
      "reaction.add", "Reacts to a message; again is success.",
      route: .init(.put, "/v1/messages/{id}/reactions/{emoji}"), fields: reaction
    ) { fields, limits throws(Refusal) in
      .reactionAdd(
        try fields.requiredMessageID("id"), try fields.required("emoji", fields.reaction("emoji", limits)))
    },
    OperationDefinition(
      "reaction.remove", "Takes a reaction back; again is success.",
      route: .init(.delete, "/v1/messages/{id}/reactions/{emoji}"), fields: reaction
    ) { fields, limits throws(Refusal) in
      .reactionRemove(
        try fields.requiredMessageID("id"), try fields.required("emoji", fields.reaction("emoji", limits)))
    },
    OperationDefinition(
      "reactions.list", "Fetches a page of who reacted, ascending by when.",
      route: .init(.get, "/v1/messages/{id}/reactions"),
      fields: [
        .required("id", .messageID, "The message."),
        .optional("emoji", .text, "Only this reaction."),
        .optional("after", .integer, "The position behind which the page begins: the last page's nextAfter."),
        .optional("limit", .integer, "Rows, 1–100; 50 when absent."),
      ]
    ) { fields, limits throws(Refusal) in
      .reactionsList(
        try fields.requiredMessageID("id"), reaction: try fields.reaction("emoji", limits),
        after: Seq(try fields.integer("after", in: 0...Seq.maximum.value) ?? 0), limit: try fields.pageLimit(limits))
    },
  ]

  // MARK: Threads

  private static let root: [OperationDefinition.Field] = [
    .required("parentMessageId", .messageID, "The thread's root.")
  ]

  private static let threads: [OperationDefinition] = [
    OperationDefinition(
      "thread.subscribe", "Follows a thread.",
      route: .init(.put, "/v1/messages/{parentMessageId}/thread/subscription"), fields: root
    ) { fields, _ throws(Refusal) in
      .threadSubscribe(try fields.requiredMessageID("parentMessageId", orElse: .invalidParentMessageID))
    },
    OperationDefinition(
      "thread.unsubscribe", "Stops following a thread.",
      route: .init(.delete, "/v1/messages/{parentMessageId}/thread/subscription"), fields: root
    ) { fields, _ throws(Refusal) in
      .threadUnsubscribe(try fields.requiredMessageID("parentMessageId", orElse: .invalidParentMessageID))
    },
  ]

  // MARK: People and groups

  private static let guid: [OperationDefinition.Field] = [.required("guid", .identifier, "The group.")]

  private static let people: [OperationDefinition] = [
    OperationDefinition(
      "users.get", "Fetches a user.", route: .init(.get, "/v1/users/{uid}"),
      fields: [.required("uid", .identifier, "The user.")]
    ) { fields, _ throws(Refusal) in .usersGet(try fields.required("uid", fields.userID("uid"))) },
    OperationDefinition(
      "groups.get", "Fetches a group.", route: .init(.get, "/v1/groups/{guid}"), fields: guid
    ) { fields, _ throws(Refusal) in .groupsGet(try fields.required("guid", fields.groupID("guid"))) },
    OperationDefinition(
      "groups.create", "Creates a group; its creator is the owner and an admin member.",
      route: .init(.post, "/v1/groups"), fields: NewGroup.fields
    ) { fields, limits throws(Refusal) in .groupsCreate(try NewGroup(fields, limits)) },
    OperationDefinition(
      "groups.leave", "Leaves a group.", route: .init(.post, "/v1/groups/{guid}/leave"), fields: guid
    ) { fields, _ throws(Refusal) in .groupsLeave(try fields.required("guid", fields.groupID("guid"))) },
    OperationDefinition(
      "members.list", "Fetches a page of a group's members, ascending by uid.",
      route: .init(.get, "/v1/groups/{guid}/members"),
      fields: guid + [
        .optional("after", .identifier, "The uid behind which the page begins."),
        .optional("limit", .integer, "Rows, 1–100; 50 when absent."),
      ]
    ) { fields, limits throws(Refusal) in
      .membersList(
        try fields.required("guid", fields.groupID("guid")), after: try fields.userID("after"),
        limit: try fields.pageLimit(limits))
    },
    OperationDefinition(
      "members.add", "Adds people to a group; one result each.", route: .init(.post, "/v1/groups/{guid}/members"),
      fields: guid + [
        .required("members", .objects, "At most 100 of uid and scope; scope is participant when absent.")
      ]
    ) { fields, limits throws(Refusal) in
      let guid = try fields.required("guid", fields.groupID("guid"))
      var members: [NewMember] = []
      for row in try fields.objects("members", count: limits.membersPerCall, limit: "membersPerCall") {
        members.append(
          NewMember(
            uid: try row.required("uid", row.userID("uid")),
            scope: try row.choice("scope", Scope.self) ?? .participant))
      }
      if members.isEmpty { throw fields.refusal("members", "needs one at least") }
      return .membersAdd(guid, members)
    },
    OperationDefinition(
      "members.kick", "Removes somebody from a group.", route: .init(.delete, "/v1/groups/{guid}/members/{uid}"),
      fields: guid + [.required("uid", .identifier, "The member.")]
    ) { fields, _ throws(Refusal) in
      .membersKick(
        try fields.required("guid", fields.groupID("guid")), try fields.required("uid", fields.userID("uid")))
    },
  ]

  // MARK: Admin

  private static let admin: [OperationDefinition] = [
    OperationDefinition(
      "users.create", "Creates a user.", route: .init(.post, "/v1/admin/users"), doors: .http, caller: .fullAccessKey,
      fields: UserRequest.fields
    ) { fields, limits throws(Refusal) in .adminUsersCreate(try UserRequest.decode(fields, limits)) },
    OperationDefinition(
      "tokens.mint", "Makes a token for a user.", route: .init(.post, "/v1/admin/tokens"), doors: .http,
      caller: .anyKey,
      fields: [
        .required("uid", .identifier, "The user."),
        .optional("ttlSeconds", .integer, "How long the token lives; without end when absent."),
      ]
    ) { fields, _ throws(Refusal) in
      .adminTokensMint(
        try fields.required("uid", fields.userID("uid")),
        ttlSeconds: try fields.integer("ttlSeconds", in: 1...longestTTLSeconds))
    },
    OperationDefinition(
      "tokens.revoke", "Ends a token at once.", route: .init(.delete, "/v1/admin/tokens"), doors: .http,
      caller: .fullAccessKey, fields: [.required("token", .text, "The token; never in a URL.")]
    ) { fields, limits throws(Refusal) in
      let token = try fields.required(
        "token", fields.text("token", bytes: limits.descriptionBytes, limit: "descriptionBytes"))
      if token.isEmpty { throw fields.refusal("token", "must not be empty") }
      return .adminTokensRevoke(token: token)
    },
  ]

  /// A hundred years.
  private static let longestTTLSeconds: Int64 = 3_155_760_000
}
