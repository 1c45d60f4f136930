package import Chat
package import JSON

/// Messages as `protocol.md` shows them.
package enum MessageEncoder {
  /// The message as everybody sees it: what a live event carries (R5).
  package static func encode(_ message: Message, into writer: inout JSONWriter) {
    writer.beginObject()
    members(of: message, into: &writer)
    writer.endObject()
  }

  /// The message and what it says about the person who fetched it (T11).
  package static func encode(_ fetched: FetchedMessage, into writer: inout JSONWriter) {
    writer.beginObject()
    members(of: fetched.message, into: &writer)
    writer.member("unreadRepliesCount", fetched.viewer.unreadRepliesCount)
    writer.member("mentionedMe", fetched.viewer.mentionedMe)
    writer.member("threadSubscribed", fetched.viewer.threadSubscribed)
    writer.member("reactedByMe", fetched.viewer.reactedByMe)
    writer.member("deliveredToMeAt", fetched.viewer.deliveredToMeAt)
    writer.member("readByMeAt", fetched.viewer.readByMeAt)
    writer.endObject()
  }

  private static func members(of message: Message, into writer: inout JSONWriter) {
    let receiverID: String
    let receiverType: String
    switch message.receiver {
    case .user(let user): (receiverID, receiverType) = (user.uid.text, "user")
    case .group(let group): (receiverID, receiverType) = (group.guid.text, "group")
    }
    writer.member("id", message.id.value)
    writer.member("muid", message.muid)
    writer.member("conversationId", message.conversation.id)
    writer.member("senderUid", message.sender.uid.text)
    writer.member("receiverUid", receiverID)
    writer.member("receiverType", receiverType)
    writer.member("category", message.content.category.rawValue)
    writer.member("type", message.content.type)
    content(of: message, receiverID: receiverID, into: &writer)
    writer.member("parentMessageId", message.parent?.value ?? 0)
    if let quoted = message.quoted { quote(quoted, into: &writer) }
    extras(message.extras, into: &writer)
    writer.member("sentAt", message.sentAt)
    writer.member("updatedAt", message.updatedAt)
    writer.member("deliveredAt", message.deliveredAt)
    writer.member("readAt", message.readAt)
    writer.member("editedAt", message.editedAt)
    writer.member("editedBy", message.editedBy?.text ?? "")
    writer.member("deletedAt", message.deletedAt)
    writer.member("deletedBy", message.deletedBy?.text ?? "")
    writer.member("replyCount", message.replyCount)
    writer.key("mentions")
    writer.beginArray()
    for user in message.mentions { PeopleEncoder.encode(user, into: &writer) }
    writer.endArray()
    reactions(of: message, into: &writer)
    writer.key("sender")
    PeopleEncoder.encode(message.sender, into: &writer)
    writer.key("receiver")
    switch message.receiver {
    case .user(let user): PeopleEncoder.encode(user, into: &writer)
    case .group(let group): PeopleEncoder.encode(group, into: &writer)
    }
  }

  /// `text` always stands there, empty where the content has none; the others only where they mean something.
  private static func content(of message: Message, receiverID: String, into writer: inout JSONWriter) {
    switch message.content {
    case .text(let text):
      writer.member("text", text)
    case .media(_, let attachments, let caption):
      writer.member("text", "")
      if let caption { writer.member("caption", caption) }
      writer.key("attachments")
      writer.beginArray()
      for attachment in attachments {
        writer.beginObject()
        writer.member("name", attachment.name)
        writer.member("extension", attachment.fileExtension)
        writer.member("size", attachment.size)
        writer.member("mimeType", attachment.mimeType)
        writer.member("url", attachment.url)
        writer.endObject()
      }
      writer.endArray()
    case .custom(let type, let data):
      writer.member("text", "")
      writer.member("customType", type)
      writer.member("customData", data)
    case .action(let action, let by, let on):
      writer.member("text", "")
      writer.member("action", action)
      writer.member("actionBy", by.text)
      switch on {
      case .message(let id): writer.member("actionOn", id.value)
      case .member(let uid): writer.member("actionOn", uid.text)
      }
      writer.member("actionFor", receiverID)
    case .deleted:
      writer.member("text", "")
    }
  }

  /// `"reactions": [{reaction, count}]` (M12).
  static func reactions(of message: Message, into writer: inout JSONWriter) {
    writer.key("reactions")
    writer.beginArray()
    for row in message.reactions {
      writer.beginObject()
      writer.member("reaction", row.reaction)
      writer.member("count", row.count)
      writer.endObject()
    }
    writer.endArray()
  }

  private static func quote(_ quoted: QuotedMessage, into writer: inout JSONWriter) {
    writer.member("quotedMessageId", quoted.id.value)
    writer.key("quotedMessage")
    writer.beginObject()
    writer.member("id", quoted.id.value)
    writer.member("senderUid", quoted.sender.text)
    writer.member("type", quoted.type)
    writer.member("text", quoted.text)
    writer.endObject()
  }

  private static func extras(_ extras: MessageExtras, into writer: inout JSONWriter) {
    if let subType = extras.subType { writer.member("subType", subType) }
    if let text = extras.conversationText { writer.member("conversationText", text) }
    if let update = extras.updateConversation { writer.member("updateConversation", update) }
    if let send = extras.sendNotification { writer.member("sendNotification", send) }
    writer.member("metadata", extras.metadata)
    writer.member("tags", extras.tags)
  }
}

/// A name and its value in one call, for the domain's own types.
extension JSONWriter {
  mutating func member(_ name: StaticString, _ text: String) {
    key(name)
    string(text)
  }

  mutating func member(_ name: StaticString, _ number: Int64) {
    key(name)
    integer(number)
  }

  mutating func member(_ name: StaticString, _ number: Int) {
    key(name)
    integer(number)
  }

  mutating func member(_ name: StaticString, _ flag: Bool) {
    key(name)
    boolean(flag)
  }

  mutating func member(_ name: StaticString, _ time: UnixSeconds) {
    key(name)
    integer(time.value)
  }

  mutating func member(_ name: StaticString, _ json: JSONText) {
    key(name)
    raw(json.text)
  }

  mutating func member(_ name: StaticString, _ texts: [String]) {
    key(name)
    beginArray()
    for text in texts { string(text) }
    endArray()
  }
}
