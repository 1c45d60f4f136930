internal import Chat

/// A message row on its way into the store.
struct NewMessageRow {
  var id: Int64
  var conversationKey: Int64
  /// 0 for a root.
  var rootKey: Int64
  var senderKey: Int64
  var threadPosition: Int64 = 0
  var authorPosition: Int64 = 0
  var content: StoredContent
  var muid = ""
  var extras = MessageExtras()
  var quote: QuotedMessage?
  var quotedSenderKey: Int64?
  var mentionCount = 0
  var mentionsAll = false
  var sentAt: UnixSeconds

  func insert(_ statements: WriterStatements) throws(StoreFailure) {
    let row = statements.newMessage
    row.bind(id).bind(conversationKey).bind(rootKey).bind(senderKey).bind(threadPosition).bind(authorPosition)
    row.bind(content.category.rawValue).bind(content.type).bind(muid).bind(content.text).bind(content.parts)
    row.bind(extras.subType).bind(extras.conversationText).bind(extras.updateConversation)
    row.bind(extras.sendNotification).bind(extras.metadata.text)
    row.bind(extras.tags.isEmpty ? nil : PackedFields.packing(extras.tags))
    row.bind(quote?.id.value).bind(quotedSenderKey).bind(quote?.type).bind(quote?.text)
    row.bind(Int64(mentionCount)).bind(mentionsAll).bind(sentAt.value).bind(sentAt.value)
    try row.run()
  }
}

/// A person whom a message names, and when that person's membership began.
struct MentionedPerson {
  let row: UserRow
  let joinedSeq: Seq
}

extension WriterSession {
  /// M9: those of `uids` who are participants of the conversation, in order.
  func participants(_ uids: [UserID], in ends: ConversationRow.Ends) throws(StoreFailure) -> [MentionedPerson] {
    var mentioned: [MentionedPerson] = []
    for uid in uids {
      guard let row = try directory.user(uid) else { continue }
      switch ends {
      case .group(let group):
        guard let membership = try directory.membership(group: group, user: row.key) else { continue }
        mentioned.append(MentionedPerson(row: row, joinedSeq: Seq(membership.joinedSeq)))
      case .pair(let first, let second):
        if row.key == first || row.key == second { mentioned.append(MentionedPerson(row: row, joinedSeq: .none)) }
      }
    }
    return mentioned
  }

  func store(_ mentioned: [MentionedPerson], of message: Int64) throws(StoreFailure) {
    for (position, person) in mentioned.enumerated() {
      try statements.newMention.bind(message).bind(Int64(position)).bind(person.row.key).run()
    }
  }
}
