/// What kind of thing a message is (M2).
package enum Category: String, Sendable, CaseIterable { case message, custom, action }

/// A file that a media message carries (M3).
package struct Attachment: Hashable, Sendable {
  package var name: String
  /// The file name's extension, without the dot.
  package var fileExtension: String
  /// Bytes.
  package var size: Int64
  package var mimeType: String
  package var url: String

  package init(name: String, fileExtension: String, size: Int64, mimeType: String, url: String) {
    self.name = name
    self.fileExtension = fileExtension
    self.size = size
    self.mimeType = mimeType
    self.url = url
  }
}

/// The kinds of media that M2 names.
package enum MediaType: String, Sendable, CaseIterable { case image, video, audio, file }

/// What an action message tells of.
package enum ActionObject: Hashable, Sendable {
  case message(MessageID)
  case member(UserID)

  package enum Kind: String, Sendable, CaseIterable { case message, groupMember }

  /// The action message's type.
  package var kind: Kind {
    switch self {
    case .message: .message
    case .member: .groupMember
    }
  }
}

/// A message's content by category (M2, M3).
package enum Content: Hashable, Sendable {
  case text(String)
  /// One attachment at least.
  case media(MediaType, attachments: [Attachment], caption: String?)
  case custom(type: String, data: JSONText)
  /// Written by the server: what was done, by whom, to whom or what.
  case action(String, by: UserID, on: ActionObject)
  /// What a deletion leaves (M11): the type survives, the content does not.
  case deleted(type: String, category: Category)

  package var category: Category {
    switch self {
    case .text, .media: .message
    case .custom: .custom
    case .action: .action
    case .deleted(_, let category): category
    }
  }

  /// `text`, a media type, the custom type, or the kind of what an action was done to.
  package var type: String {
    switch self {
    case .text: "text"
    case .media(let type, _, _): type.rawValue
    case .custom(let type, _): type
    case .action(_, _, let object): object.kind.rawValue
    case .deleted(let type, _): type
    }
  }
}

/// What accompanies a message whatever its content.
package struct MessageExtras: Hashable, Sendable {
  package var subType: String?
  package var conversationText: String?
  package var updateConversation: Bool?
  package var sendNotification: Bool?
  package var metadata: JSONText
  package var tags: [String]

  package init(
    subType: String? = nil, conversationText: String? = nil, updateConversation: Bool? = nil,
    sendNotification: Bool? = nil, metadata: JSONText = .emptyObject, tags: [String] = []
  ) {
    self.subType = subType
    self.conversationText = conversationText
    self.updateConversation = updateConversation
    self.sendNotification = sendNotification
    self.metadata = metadata
    self.tags = tags
  }
}

/// A message that somebody asks the gateway to accept: already within its limits, not yet admitted.
package struct OutgoingMessage: Hashable, Sendable {
  package var receiver: Receiver
  package var content: Content
  /// Nil when the message is not a reply (T2).
  package var parent: MessageID?
  /// Nil when the message quotes nothing (M10).
  package var quoted: MessageID?
  /// Empty when the client gave none (M7).
  package var muid: String
  package var extras: MessageExtras

  package init(
    receiver: Receiver, content: Content, parent: MessageID? = nil, quoted: MessageID? = nil, muid: String = "",
    extras: MessageExtras = MessageExtras()
  ) {
    self.receiver = receiver
    self.content = content
    self.parent = parent
    self.quoted = quoted
    self.muid = muid
    self.extras = extras
  }
}

/// What an edit asks for (M11); nil leaves a part as it is, a given `metadata` or `tags` replaces all there is.
package struct MessageEdit: Hashable, Sendable {
  package var text: String?
  package var caption: String?
  package var customData: JSONText?
  package var metadata: JSONText?
  package var tags: [String]?

  package init(
    text: String? = nil, caption: String? = nil, customData: JSONText? = nil, metadata: JSONText? = nil,
    tags: [String]? = nil
  ) {
    self.text = text
    self.caption = caption
    self.customData = customData
    self.metadata = metadata
    self.tags = tags
  }
}

/// The compact copy of a quoted message (M10); `text` is cut at 200 characters.
package struct QuotedMessage: Hashable, Sendable {
  package var id: MessageID
  package var sender: UserID
  package var type: String
  package var text: String
  package init(id: MessageID, sender: UserID, type: String, text: String) {
    self.id = id
    self.sender = sender
    self.type = type
    self.text = text
  }
}

/// The receiving end, resolved for the wire.
package enum ReceiverProfile: Hashable, Sendable {
  case user(User)
  case group(Group)
}

/// An accepted message as every recipient sees it (R5: nothing in it depends on who reads).
package struct Message: Hashable, Sendable {
  package var id: MessageID
  package var muid: String
  package var conversation: Conversation
  package var sender: User
  package var receiver: ReceiverProfile
  package var content: Content
  package var parent: MessageID?
  package var quoted: QuotedMessage?
  package var extras: MessageExtras
  /// The participants that M9's tokens name, in order of first mention.
  package var mentions: [User]
  package var mentionsAll: Bool
  package var sentAt: UnixSeconds
  package var updatedAt: UnixSeconds
  package var deliveredAt: UnixSeconds
  package var readAt: UnixSeconds
  package var editedAt: UnixSeconds
  package var editedBy: UserID?
  package var deletedAt: UnixSeconds
  package var deletedBy: UserID?
  /// Replies that are not deleted (T3); 0 for a reply.
  package var replyCount: Int
  /// In the order in which each was first used; none of a deleted message.
  package var reactions: [ReactionCount] = []

  package init(
    id: MessageID, muid: String, conversation: Conversation, sender: User, receiver: ReceiverProfile,
    content: Content, parent: MessageID? = nil, quoted: QuotedMessage? = nil, extras: MessageExtras = MessageExtras(),
    mentions: [User] = [], mentionsAll: Bool = false, sentAt: UnixSeconds, updatedAt: UnixSeconds,
    deliveredAt: UnixSeconds = .never, readAt: UnixSeconds = .never, editedAt: UnixSeconds = .never,
    editedBy: UserID? = nil, deletedAt: UnixSeconds = .never, deletedBy: UserID? = nil, replyCount: Int = 0
  ) {
    self.id = id
    self.muid = muid
    self.conversation = conversation
    self.sender = sender
    self.receiver = receiver
    self.content = content
    self.parent = parent
    self.quoted = quoted
    self.extras = extras
    self.mentions = mentions
    self.mentionsAll = mentionsAll
    self.sentAt = sentAt
    self.updatedAt = updatedAt
    self.deliveredAt = deliveredAt
    self.readAt = readAt
    self.editedAt = editedAt
    self.editedBy = editedBy
    self.deletedAt = deletedAt
    self.deletedBy = deletedBy
    self.replyCount = replyCount
  }
}

/// What a *fetched* message says about the person who fetched it (T11, M14); never part of a live event.
package struct ViewerState: Hashable, Sendable {
  /// The root's state, also on a reply.
  package var threadSubscribed: Bool
  package var mentionedMe: Bool
  /// Unread replies of the root's thread; 0 when the viewer is not subscribed.
  package var unreadRepliesCount: Int
  package var deliveredToMeAt: UnixSeconds
  package var readByMeAt: UnixSeconds
  /// The viewer's own reactions (M12).
  package var reactedByMe: [String] = []

  package init(
    threadSubscribed: Bool, mentionedMe: Bool = false, unreadRepliesCount: Int = 0,
    deliveredToMeAt: UnixSeconds = .never, readByMeAt: UnixSeconds = .never
  ) {
    self.threadSubscribed = threadSubscribed
    self.mentionedMe = mentionedMe
    self.unreadRepliesCount = unreadRepliesCount
    self.deliveredToMeAt = deliveredToMeAt
    self.readByMeAt = readByMeAt
  }
}

/// A message and the viewer's own state of it.
package struct FetchedMessage: Hashable, Sendable {
  package var message: Message
  package var viewer: ViewerState
  package init(message: Message, viewer: ViewerState) {
    self.message = message
    self.viewer = viewer
  }
}
