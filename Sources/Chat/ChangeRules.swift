/// Who may edit and delete a message, and what an edit may change (M11).
package enum ChangeRules {
  /// A message's author may; in a group moderators, admins and the owner may, too; the application may everywhere (A2).
  ///
  /// - Parameters:
  ///   - message: nil when no message has the id. A deleted one is gone for good, and is answered like a missing one.
  ///   - rank: the caller's in the message's group; nil in one-on-one conversations.
  package static func refusal(
    ofChanging message: MessageFacts?, isAuthor: Bool, rank: MembershipRules.Rank?, isApplication: Bool
  ) -> Refusal? {
    if let refusal = ThreadRules.refusalOfReading(message) { return refusal }
    guard let message, !message.isDeleted else { return Refusal(.messageIDNotFound) }
    if message.category == .action { return Refusal(.messageActionNotAllowed) }
    let isModerator = rank.map { $0.isOwner || $0.scope != .participant } ?? false
    return isAuthor || isModerator || isApplication ? nil : Refusal(.messageNotASender)
  }

  /// The content after `edit`: words of a text, caption of media, data of a custom message. A part that the content
  /// does not have is `ERR_BAD_REQUEST` with `details.field`; attachments never change.
  package static func content(_ content: Content, after edit: MessageEdit) -> Result<Content, Refusal> {
    switch content {
    case .text(let text):
      if edit.caption != nil { return refusal(of: "caption", in: "text") }
      if edit.customData != nil { return refusal(of: "customData", in: "text") }
      return .success(.text(edit.text ?? text))
    case .media(let type, let attachments, let caption):
      if edit.text != nil { return refusal(of: "text", in: "media") }
      if edit.customData != nil { return refusal(of: "customData", in: "media") }
      return .success(.media(type, attachments: attachments, caption: edit.caption ?? caption))
    case .custom(let type, let data):
      if edit.text != nil { return refusal(of: "text", in: "custom") }
      if edit.caption != nil { return refusal(of: "caption", in: "custom") }
      return .success(.custom(type: type, data: edit.customData ?? data))
    case .action, .deleted:
      return .failure(Refusal(.messageActionNotAllowed))
    }
  }

  private static func refusal(of field: String, in kind: String) -> Result<Content, Refusal> {
    .failure(Refusal(.badRequest, "`\(field)` has no place in a \(kind) message.", details: [.field(field)]))
  }
}
