internal import Chat

/// A message's content in the columns that hold it.
struct StoredContent {
  let category: Category
  let type: String
  /// Text, caption, custom data, or what was done.
  let text: String?
  /// Attachments, or an action's by and on; nil when there are none.
  let parts: [UInt8]?

  init(category: Category, type: String, text: String?, parts: [UInt8]?) {
    self.category = category
    self.type = type
    self.text = text
    self.parts = parts
  }

  init(_ content: Content) {
    category = content.category
    type = content.type
    var fields = PackedFields()
    switch content {
    case .text(let text):
      self.text = text
    case .media(_, let attachments, let caption):
      text = caption
      fields.add(Int64(attachments.count))
      for attachment in attachments {
        fields.add(attachment.name)
        fields.add(attachment.fileExtension)
        fields.add(attachment.size)
        fields.add(attachment.mimeType)
        fields.add(attachment.url)
      }
    case .custom(_, let data):
      text = data.text
    case .action(let action, let actor, let object):
      text = action
      fields.add(actor.text)
      switch object {
      case .message(let id): fields.add(id.value)
      case .member(let uid): fields.add(uid.text)
      }
    case .deleted:
      text = nil
    }
    parts = fields.bytes.isEmpty ? nil : fields.bytes
  }

  /// The content again; `id` names the message when it does not read.
  func content(of id: Int64) throws(StoreFailure) -> Content {
    guard let content = parsed() else { throw .damaged("the content of message \(id) does not read") }
    return content
  }

  private func parsed() -> Content? {
    switch category {
    case .message where type == "text":
      return .text(text ?? "")
    case .message:
      guard let media = MediaType(rawValue: type), let attachments = attachments() else { return nil }
      return .media(media, attachments: attachments, caption: text)
    case .custom:
      return .custom(type: type, data: JSONText(unchecked: text ?? "{}"))
    case .action:
      var fields = UnpackedFields(parts ?? [])
      guard let actor = fields.text(), let object = object(&fields) else { return nil }
      return .action(text ?? "", by: UserID(stored: actor), on: object)
    }
  }

  private func object(_ fields: inout UnpackedFields) -> ActionObject? {
    switch ActionObject.Kind(rawValue: type) {
    case .message: fields.integer().map { .message(MessageID($0)) }
    case .groupMember: fields.text().map { .member(UserID(stored: $0)) }
    case nil: nil
    }
  }

  private func attachments() -> [Attachment]? {
    var fields = UnpackedFields(parts ?? [])
    guard let count = fields.integer(), count >= 0, count <= Int64(parts?.count ?? 0) else { return nil }
    var attachments: [Attachment] = []
    for _ in 0..<count {
      guard let name = fields.text(), let fileExtension = fields.text(), let size = fields.integer(),
        let mimeType = fields.text(), let url = fields.text()
      else { return nil }
      attachments.append(
        Attachment(name: name, fileExtension: fileExtension, size: size, mimeType: mimeType, url: url))
    }
    return attachments
  }
}
