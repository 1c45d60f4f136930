/// How many people reacted with what (M12).
package struct ReactionCount: Hashable, Sendable {
  package var reaction: String
  package var count: Int
  package init(reaction: String, count: Int) {
    self.reaction = reaction
    self.count = count
  }
}

/// One person's reaction, as `reactions.list` shows it.
package struct Reaction: Hashable, Sendable {
  package var reaction: String
  package var user: User
  package var reactedAt: UnixSeconds
  /// Where it stands in the log; pages go on from here.
  package var seq: Seq
  package init(reaction: String, user: User, reactedAt: UnixSeconds, seq: Seq) {
    self.reaction = reaction
    self.user = user
    self.reactedAt = reactedAt
    self.seq = seq
  }
}

/// A reaction that came or went.
package struct ReactionChange: Hashable, Sendable {
  package var isAdded: Bool
  package var reaction: String
  package var user: User
  package var at: UnixSeconds
  /// With its reactions as they are now.
  package var message: Message
  package init(isAdded: Bool, reaction: String, user: User, at: UnixSeconds, message: Message) {
    self.isAdded = isAdded
    self.reaction = reaction
    self.user = user
    self.at = at
    self.message = message
  }
}

/// Rows ascending by position.
package struct ReactionPage: Sendable {
  package var rows: [Reaction]
  package var hasMore: Bool
  package init(rows: [Reaction], hasMore: Bool) {
    self.rows = rows
    self.hasMore = hasMore
  }
}

/// Who may react to what, and how (M12).
package enum ReactionRules {
  /// Different reactions that one message takes; people may join in those that are there without end.
  package static let perMessage = 100
  /// Unicode scalars of a reaction: enough for every emoji sequence and for short codes.
  package static let characters = 32

  /// Whether `text` can be a reaction: something to be seen, within its length, and without white space, control
  /// characters and those that turn the direction of the text around it.
  package static func isReaction(_ text: String) -> Bool {
    let scalars = text.unicodeScalars
    return !scalars.isEmpty && scalars.count <= characters
      && scalars.allSatisfy { scalar in
        let properties = scalar.properties
        return !properties.isWhitespace && properties.generalCategory != .control && !properties.isBidiControl
      } && scalars.contains(where: isVisible)
  }

  /// Whether the scalar shows by itself, as joiners, marks and variation selectors do not.
  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .format, .nonspacingMark, .enclosingMark, .spacingMark, .unassigned, .privateUse, .surrogate: false
    default: !scalar.properties.isDefaultIgnorableCodePoint
    }
  }

  /// Every participant reacts to messages that are there and no action (M11).
  package static func refusal(ofReactingTo message: MessageFacts?) -> Refusal? {
    if let refusal = ThreadRules.refusalOfReading(message) { return refusal }
    guard let message, !message.isDeleted else { return Refusal(.messageIDNotFound) }
    return message.category == .action ? Refusal(.messageActionNotAllowed) : nil
  }
}
