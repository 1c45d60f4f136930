import Chat

/// `message.send`: from fields to a message that keeps M2–M5.
///
/// A field that has no place in the message's content (a caption on a text, say) is refused rather than dropped; given
/// empty it counts as absent. `category` defaults to `custom` when `customType` or `customData` is given, else to
/// `message`; `type` defaults to `text`, or with attachments to the kind of the first one's MIME type.
enum MessageRequest {
  static let fields: [OperationDefinition.Field] = [
    .required("receiverUid", .identifier, "The user or group that the message goes to."),
    .required("receiverType", .choice(["user", "group"]), "What receiverUid names."),
    .optional("category", .choice(["message", "custom"]), "Defaults to what the other fields say."),
    .optional("type", .text, "text, image, video, audio or file; the customType for a custom message."),
    .optional("text", .text, "The words of a text message; required there and not blank."),
    .optional("caption", .text, "Words that go with media."),
    .optional("attachments", .objects, "Files of a media message: name, extension, size, mimeType, url."),
    .optional("customType", .text, "The application's own kind of message; required for custom."),
    .optional("customData", .object, "The application's own content; required for custom."),
    .optional("subType", .text, "A finer kind, the application's own."),
    .optional("conversationText", .text, "What lists of conversations show for a custom message."),
    .optional("updateConversation", .boolean, "Whether a custom message becomes its conversation's last one."),
    .optional("sendNotification", .boolean, "Whether a custom message may be pushed."),
    .optional("parentMessageId", .messageID, "The root that this message replies to; 0 for none."),
    .optional("quotedMessageId", .messageID, "A message of the same conversation that this one quotes; 0 for none."),
    .optional("muid", .text, "The client's own id; a repeated send with it stores nothing twice."),
    .optional("metadata", .object, "The application's own data."),
    .optional("tags", .texts, "The application's own labels."),
  ]

  private enum ReceiverType: String, CaseIterable { case user, group }
  private enum SendableCategory: String, CaseIterable { case message, custom }
  private enum MessageType: String, CaseIterable { case text, image, video, audio, file }

  static func decode(_ fields: borrowing Fields, _ limits: Limits) throws(Refusal) -> OutgoingMessage {
    let receiver = try receiver(fields)
    let parent = try fields.messageID("parentMessageId", orElse: .invalidParentMessageID, zeroIsAbsent: true)
    let quoted = try fields.messageID("quotedMessageId", zeroIsAbsent: true)
    let content = try content(fields, limits)
    let extras = MessageExtras(
      subType: try fields.text("subType", characters: limits.nameCharacters, limit: "nameCharacters"),
      conversationText: try fields.text("conversationText", bytes: limits.textBytes, limit: "textBytes"),
      updateConversation: try fields.boolean("updateConversation"),
      sendNotification: try fields.boolean("sendNotification"),
      metadata: try metadata(fields, limits) ?? .emptyObject, tags: try tags(fields, limits))
    let muid = try fields.text("muid", characters: limits.muidCharacters, limit: "muidCharacters") ?? ""
    return OutgoingMessage(
      receiver: receiver, content: content, parent: parent, quoted: quoted, muid: muid, extras: extras)
  }

  static func receiver(_ fields: borrowing Fields) throws(Refusal) -> Receiver {
    switch try fields.required("receiverType", fields.choice("receiverType", ReceiverType.self)) {
    case .user: .user(try fields.required("receiverUid", fields.userID("receiverUid")))
    case .group: .group(try fields.required("receiverUid", fields.groupID("receiverUid")))
    }
  }

  private static func content(_ fields: borrowing Fields, _ limits: Limits) throws(Refusal) -> Content {
    let customType = try fields.text("customType", characters: limits.nameCharacters, limit: "nameCharacters")
    let hasCustom = customType?.isEmpty == false || fields.has("customData")
    let category = try fields.choice("category", SendableCategory.self) ?? (hasCustom ? .custom : .message)
    let text = try fields.text("text", bytes: limits.textBytes, limit: "textBytes")
    let caption = try fields.text("caption", bytes: limits.textBytes, limit: "textBytes")
    let attachments = try attachments(fields, limits)
    switch category {
    case .custom:
      if text?.isEmpty == false { throw fields.refusal("text", "has no place in a custom message") }
      if caption?.isEmpty == false { throw fields.refusal("caption", "has no place in a custom message") }
      if !attachments.isEmpty { throw fields.refusal("attachments", "has no place in a custom message") }
      let type = try fields.required("customType", customType)
      if isBlank(type) { throw fields.refusal("customType", "must not be blank") }
      if let given = try fields.text("type"), given != type {
        throw fields.refusal("type", "of a custom message must be its customType or absent")
      }
      let data = try fields.object("customData", bytes: limits.customDataBytes, limit: "customDataBytes")
      return .custom(type: type, data: try fields.required("customData", data))
    case .message:
      if customType?.isEmpty == false { throw fields.refusal("customType", "needs the category custom") }
      if fields.has("customData") { throw fields.refusal("customData", "needs the category custom") }
      let type = try fields.choice("type", MessageType.self) ?? inferredType(attachments)
      guard let media = MediaType(rawValue: type.rawValue) else {
        if !attachments.isEmpty { throw fields.refusal("attachments", "has no place in a text message") }
        if caption?.isEmpty == false { throw fields.refusal("caption", "has no place in a text message") }
        guard let text, !isBlank(text) else { throw Refusal(.emptyMessage, details: [.field("text")]) }
        return .text(text)
      }
      if text?.isEmpty == false { throw fields.refusal("text", "has no place in a media message; use caption") }
      if attachments.isEmpty { throw fields.refusal("attachments", "needs one at least") }
      return .media(media, attachments: attachments, caption: caption)
    }
  }

  private static func inferredType(_ attachments: [Attachment]) -> MessageType {
    guard let first = attachments.first else { return .text }
    let kind = first.mimeType.prefix { $0 != "/" }.lowercased()
    switch kind {
    case "image": return .image
    case "video": return .video
    case "audio": return .audio
    default: return .file
    }
  }

  private static func attachments(_ fields: borrowing Fields, _ limits: Limits) throws(Refusal) -> [Attachment] {
    var attachments: [Attachment] = []
    let names = limits.nameCharacters
    for row in try fields.objects("attachments", count: limits.attachments, limit: "attachments") {
      let name = try row.text("name", characters: names, limit: "nameCharacters")
      let fileExtension = try row.text("extension", characters: names, limit: "nameCharacters")
      let size = try row.integer("size", in: 0...Seq.maximum.value)
      let mimeType = try row.text("mimeType", characters: names, limit: "nameCharacters")
      let url = try row.text("url", bytes: limits.urlBytes, limit: "urlBytes")
      let required = try row.required("url", url)
      if isBlank(required) { throw row.refusal("url", "must not be blank") }
      attachments.append(
        Attachment(
          name: try row.required("name", name), fileExtension: try row.required("extension", fileExtension),
          size: try row.required("size", size), mimeType: try row.required("mimeType", mimeType), url: required))
    }
    return attachments
  }

  /// `metadata`, nil when absent.
  static func metadata(_ fields: borrowing Fields, _ limits: Limits) throws(Refusal) -> JSONText? {
    try fields.object("metadata", bytes: limits.metadataBytes, limit: "metadataBytes")
  }

  static func tags(_ fields: borrowing Fields, _ limits: Limits) throws(Refusal) -> [String] {
    try fields.texts(
      "tags", count: limits.tags, limit: "tags", characters: limits.tagCharacters, characterLimit: "tagCharacters")
  }

  /// Nothing but scalars with the Unicode property White_Space (M3).
  static func isBlank(_ text: String) -> Bool {
    if let first = text.utf8.first, (0x21...0x7E).contains(first) { return false }
    return text.unicodeScalars.allSatisfy { $0.properties.isWhitespace }
  }
}

/// `message.edit`: what is absent stays as it is (M11). A text must not become blank (M3); a caption may become empty.
extension MessageEdit {
  static let fields: [OperationDefinition.Field] = [
    .required("id", .messageID, "The message."),
    .optional("text", .text, "The new words of a text message; not blank."),
    .optional("caption", .text, "The new caption of media."),
    .optional("customData", .object, "The new content of a custom message."),
    .optional("metadata", .object, "Replaces the application's own data."),
    .optional("tags", .texts, "Replaces the application's own labels."),
  ]

  init(_ fields: borrowing Fields, _ limits: Limits) throws(Refusal) {
    self.init(
      text: try fields.text("text", bytes: limits.textBytes, limit: "textBytes"),
      caption: try fields.text("caption", bytes: limits.textBytes, limit: "textBytes"),
      customData: try fields.object("customData", bytes: limits.customDataBytes, limit: "customDataBytes"),
      metadata: try MessageRequest.metadata(fields, limits),
      tags: fields.has("tags") ? try MessageRequest.tags(fields, limits) : nil)
    if let text, MessageRequest.isBlank(text) { throw Refusal(.emptyMessage, details: [.field("text")]) }
    if self == MessageEdit() {
      throw Refusal(.badRequest, "Give one of `text`, `caption`, `customData`, `metadata` and `tags` at least.")
    }
  }
}
