/// Quotes (M10).
package enum QuoteRules {
  /// Unicode scalars that a quote keeps of the quoted text: the bound holds whatever a character is made of.
  package static let scalarLimit = 200

  /// Whether a message may quote `quoted`, a message of the conversation it goes to; nil when there is no such message
  /// *there*. A missing, a foreign, an unseen and a deleted message are all the same answer, so that nothing shows
  /// through (T2).
  package static func refusal(ofQuoting quoted: MessageFacts?) -> Refusal? {
    guard let quoted, !quoted.isDeleted else {
      return Refusal(.messageIDNotFound, details: [.field("quotedMessageId")])
    }
    return nil
  }

  /// The words that a quote shows of `content`, cut.
  package static func text(of content: Content) -> String {
    switch content {
    case .text(let text): cut(text)
    case .media(_, _, let caption): cut(caption ?? "")
    case .custom, .action, .deleted: ""
    }
  }

  /// `text` up to 200 scalars, not cut inside a character unless the first character alone is longer.
  package static func cut(_ text: String) -> String {
    let scalars = text.unicodeScalars
    guard let end = scalars.index(scalars.startIndex, offsetBy: scalarLimit, limitedBy: scalars.endIndex),
      end < scalars.endIndex
    else { return text }
    let whole = text.startOfCharacter(holding: end)
    return String(text[..<(whole > text.startIndex ? whole : end)])
  }
}

extension String {
  /// The start of the character that holds the scalar at `index`.
  fileprivate func startOfCharacter(holding index: Index) -> Index {
    var start = startIndex
    while start < endIndex {
      let next = self.index(after: start)
      if next > index { return start }
      start = next
    }
    return endIndex
  }
}
