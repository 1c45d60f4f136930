extension OutgoingMessage {
  /// The fields that make two requests with one muid the same (M7), as bytes to be hashed: every field in a fixed
  /// order, each with its length, so that no two different messages have the same bytes. The muid itself and the
  /// sender are not among them; they are the key.
  package var canonicalFields: [UInt8] {
    var fields = CanonicalFields()
    switch receiver {
    case .user(let uid): fields.add(tag: 1, uid.text)
    case .group(let guid): fields.add(tag: 2, guid.text)
    }
    fields.add(content)
    fields.add(integer: parent?.value ?? 0)
    fields.add(integer: quoted?.value ?? 0)
    fields.add(extras)
    return fields.bytes
  }
}

extension Message {
  /// Whether the message already is what an edit would make it, byte by byte: texts that only look the same (a letter and
  /// its accent, together or apart) are different texts, which `==` does not see (M4).
  package func isExactly(_ content: Content, _ extras: MessageExtras) -> Bool {
    var mine = CanonicalFields()
    mine.add(self.content)
    mine.add(self.extras)
    var other = CanonicalFields()
    other.add(content)
    other.add(extras)
    return mine.bytes == other.bytes
  }
}

/// Bytes that can be read in one way only.
private struct CanonicalFields {
  private(set) var bytes: [UInt8] = []

  init() { bytes.reserveCapacity(512) }

  mutating func add(integer value: Int64) {
    var rest = UInt64(bitPattern: value)
    for _ in 0..<8 {
      bytes.append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }

  mutating func add(_ text: String) {
    add(integer: Int64(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }

  mutating func add(tag: UInt8, _ text: String) {
    bytes.append(tag)
    add(text)
  }

  /// A missing text differs from an empty one.
  mutating func add(optional text: String?) {
    if let text { add(tag: 1, text) } else { bytes.append(0) }
  }

  mutating func add(optional flag: Bool?) {
    bytes.append(flag.map { $0 ? 2 : 1 } ?? 0)
  }

  mutating func add(_ content: Content) {
    switch content {
    case .text(let text):
      add(tag: 1, text)
    case .media(let type, let attachments, let caption):
      add(tag: 2, type.rawValue)
      add(integer: Int64(attachments.count))
      for attachment in attachments {
        add(attachment.name)
        add(attachment.fileExtension)
        add(integer: attachment.size)
        add(attachment.mimeType)
        add(attachment.url)
      }
      add(optional: caption)
    case .custom(let type, let data):
      add(tag: 3, type)
      add(data.text)
    case .action(let action, let actor, let object):
      add(tag: 4, action)
      add(actor.text)
      add(object.kind.rawValue)
      switch object {
      case .message(let id): add(integer: id.value)
      case .member(let uid): add(uid.text)
      }
    case .deleted(let type, let category):
      add(tag: 5, type)
      add(category.rawValue)
    }
  }

  mutating func add(_ extras: MessageExtras) {
    add(optional: extras.subType)
    add(optional: extras.conversationText)
    add(optional: extras.updateConversation)
    add(optional: extras.sendNotification)
    add(extras.metadata.text)
    add(integer: Int64(extras.tags.count))
    for tag in extras.tags { add(tag) }
  }
}
