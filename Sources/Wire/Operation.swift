package import Chat

/// A request after every check that needs no store: what a client asks for, as the domain's values.
package enum Operation: Hashable, Sendable {
  case connect(ConnectRequest)
  case ping
  /// Nil leaves a part as it is (L7).
  case sessionUpdate(replies: ReplyChoice?, isForeground: Bool?)
  case threadOpen(MessageID)
  case threadClose(MessageID)
  case typing(TypingNotice)
  case messageSend(OutgoingMessage)
  case messageGet(MessageID)
  case messageEdit(MessageID, MessageEdit)
  case messageDelete(MessageID)
  case reactionAdd(MessageID, String)
  case reactionRemove(MessageID, String)
  /// Nil lists every reaction.
  case reactionsList(MessageID, reaction: String?, after: Seq, limit: Int)
  case messagesList(MessageQuery)
  case threadSubscribe(MessageID)
  case threadUnsubscribe(MessageID)
  case usersGet(UserID)
  case groupsGet(GroupID)
  case groupsCreate(NewGroup)
  case groupsLeave(GroupID)
  case membersList(GroupID, after: UserID?, limit: Int)
  case membersAdd(GroupID, [NewMember])
  case membersKick(GroupID, UserID)
  case adminUsersCreate(User)
  /// Without `ttlSeconds` the token has no end.
  case adminTokensMint(UserID, ttlSeconds: Int64?)
  case adminTokensRevoke(token: String)
}

/// A group that somebody asks for; the executor fills in the owner.
package struct NewGroup: Hashable, Sendable {
  package var guid: GroupID
  package var name: String
  package var type: GroupType
  package var icon: String
  package var description: String
  package var metadata: JSONText
  package var tags: [String]
  /// Named only by an application (A2); a user owns what the user creates.
  package var owner: UserID?

  package init(
    guid: GroupID, name: String, type: GroupType = .public, icon: String = "", description: String = "",
    metadata: JSONText = .emptyObject, tags: [String] = [], owner: UserID? = nil
  ) {
    self.guid = guid
    self.name = name
    self.type = type
    self.icon = icon
    self.description = description
    self.metadata = metadata
    self.tags = tags
    self.owner = owner
  }

  package func group(ownedBy owner: UserID) -> Group {
    Group(
      guid: guid, name: name, type: type, icon: icon, description: description, owner: owner, metadata: metadata,
      tags: tags)
  }
}

/// That somebody began or stopped writing (R9).
package struct TypingNotice: Hashable, Sendable {
  package var receiver: Receiver
  /// The thread that is being answered; nil outside threads.
  package var thread: MessageID?
  package var isTyping: Bool
  package init(receiver: Receiver, thread: MessageID? = nil, isTyping: Bool) {
    self.receiver = receiver
    self.thread = thread
    self.isTyping = isTyping
  }
}

/// The first operation of a live socket (L4).
package struct ConnectRequest: Hashable, Sendable {
  package struct Device: Hashable, Sendable {
    package var id: String
    package var platform: String
    package var name: String
    package init(id: String, platform: String = "", name: String = "") {
      self.id = id
      self.platform = platform
      self.name = name
    }
  }

  /// Where a session was: the seq of its last event or heartbeat (R6).
  package struct Position: Hashable, Sendable {
    package var epoch: String
    package var seq: Seq
    package init(epoch: String, seq: Seq) {
      self.epoch = epoch
      self.seq = seq
    }
  }

  package var token: String?
  package var device: Device?
  package var resume: Position?
  package var replies: ReplyChoice
  package var openThreads: [MessageID]
  package var isForeground: Bool

  package init(
    token: String? = nil, device: Device? = nil, resume: Position? = nil, replies: ReplyChoice = .all,
    openThreads: [MessageID] = [], isForeground: Bool = true
  ) {
    self.token = token
    self.device = device
    self.resume = resume
    self.replies = replies
    self.openThreads = openThreads
    self.isForeground = isForeground
  }
}
