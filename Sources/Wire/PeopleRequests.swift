import Chat

extension ConnectRequest {
  static let fields: [OperationDefinition.Field] = [
    .optional("token", .text, "Needed when the upgrade carried none."),
    .optional("device", .object, "id, platform and name of the device."),
    .optional("resume", .object, "epoch and seq of the last event or heartbeat."),
    .optional("replies", .choice(ReplyChoice.allCases.map(\.rawValue)), "Which replies come live; all when absent."),
    .optional("openThreads", .integers, "Roots whose replies come whatever replies says; at most 64."),
    .optional("foreground", .boolean, "Whether somebody is looking; true when absent."),
  ]

  init(_ fields: borrowing Fields, _ limits: Limits) throws(Refusal) {
    var device: Device?
    if let row = try fields.nested("device") {
      let id = try row.text("id", characters: limits.nameCharacters, limit: "nameCharacters")
      let required = try row.required("id", id)
      // Devices replace one another by id; a blank one would be everybody's.
      if MessageRequest.isBlank(required) { throw row.refusal("id", "must not be blank") }
      device = Device(
        id: required,
        platform: try row.text("platform", characters: limits.nameCharacters, limit: "nameCharacters") ?? "",
        name: try row.text("name", characters: limits.nameCharacters, limit: "nameCharacters") ?? "")
    }
    var resume: Position?
    if let row = try fields.nested("resume") {
      // An epoch that is unknown, too long or empty is another store's: that is answered by a reset, not refused (R6).
      resume = Position(
        epoch: try row.required("epoch", row.text("epoch")),
        seq: Seq(try row.required("seq", row.integer("seq", in: 0...Seq.maximum.value))))
    }
    self.init(
      token: try fields.text("token"), device: device, resume: resume,
      replies: try fields.choice("replies", ReplyChoice.self) ?? .all,
      openThreads: try fields.messageIDs("openThreads", count: limits.openThreads, limit: "openThreads"),
      isForeground: try fields.boolean("foreground") ?? true)
  }
}

extension TypingNotice {
  static let fields: [OperationDefinition.Field] = [
    .required("receiverUid", .identifier, "The user or group that is written to."),
    .required("receiverType", .choice(["user", "group"]), "What receiverUid names."),
    .optional("parentMessageId", .messageID, "The root of the thread that is answered; 0 for none."),
  ]

  init(_ fields: borrowing Fields, isTyping: Bool) throws(Refusal) {
    self.init(
      receiver: try MessageRequest.receiver(fields),
      thread: try fields.messageID("parentMessageId", orElse: .invalidParentMessageID, zeroIsAbsent: true),
      isTyping: isTyping)
  }
}

extension NewGroup {
  static let fields: [OperationDefinition.Field] = [
    .required("guid", .identifier, "The new group's id."),
    .required("name", .text, "What people call it."),
    .optional("type", .choice(["public", "private"]), "Who may find and join it; public when absent."),
    .optional("icon", .text, "The URL of a picture."),
    .optional("description", .text, "What it is for."),
    .optional("metadata", .object, "The application's own data."),
    .optional("tags", .texts, "The application's own labels."),
    .optional("owner", .identifier, "Who owns it, when an application creates it."),
  ]

  init(_ fields: borrowing Fields, _ limits: Limits) throws(Refusal) {
    let type = try fields.choice("type", GroupType.self) ?? .public
    if type == .password { throw fields.refusal("type", "password is not available yet") }
    self.init(
      guid: try fields.required("guid", fields.groupID("guid")), name: try fields.name(limits), type: type,
      icon: try fields.text("icon", bytes: limits.urlBytes, limit: "urlBytes") ?? "",
      description: try fields.text("description", bytes: limits.descriptionBytes, limit: "descriptionBytes") ?? "",
      metadata: try fields.object("metadata", bytes: limits.metadataBytes, limit: "metadataBytes") ?? .emptyObject,
      tags: try fields.texts(
        "tags", count: limits.tags, limit: "tags", characters: limits.tagCharacters, characterLimit: "tagCharacters"),
      owner: try fields.userID("owner"))
  }
}

/// `users.create`: from fields to a user (D2).
enum UserRequest {
  static let fields: [OperationDefinition.Field] = [
    .required("uid", .identifier, "The new user's id."),
    .required("name", .text, "What people call the user."),
    .optional("avatar", .text, "The URL of a picture."),
    .optional("link", .text, "The URL of a profile."),
    .optional("role", .text, "The application's own; default when absent."),
    .optional("statusMessage", .text, "What the user says of the moment."),
    .optional("metadata", .object, "The application's own data."),
    .optional("tags", .texts, "The application's own labels."),
  ]

  static func decode(_ fields: borrowing Fields, _ limits: Limits) throws(Refusal) -> User {
    let uid = try fields.required("uid", fields.userID("uid"))
    if uid == .application { throw fields.refusal("uid", "belongs to the system") }
    return User(
      uid: uid, name: try fields.name(limits),
      avatar: try fields.text("avatar", bytes: limits.urlBytes, limit: "urlBytes") ?? "",
      link: try fields.text("link", bytes: limits.urlBytes, limit: "urlBytes") ?? "",
      role: try fields.text("role", characters: limits.nameCharacters, limit: "nameCharacters") ?? "default",
      statusMessage: try fields.text("statusMessage", bytes: limits.descriptionBytes, limit: "descriptionBytes") ?? "",
      metadata: try fields.object("metadata", bytes: limits.metadataBytes, limit: "metadataBytes") ?? .emptyObject,
      tags: try fields.texts(
        "tags", count: limits.tags, limit: "tags", characters: limits.tagCharacters, characterLimit: "tagCharacters"))
  }
}

extension Fields {
  /// A name that is required and not blank.
  fileprivate borrowing func name(_ limits: Limits) throws(Refusal) -> String {
    let name = try required("name", text("name", characters: limits.nameCharacters, limit: "nameCharacters"))
    if MessageRequest.isBlank(name) { throw refusal("name", "must not be blank") }
    return name
  }
}
