import Chat
package import JSON

/// The sizes that a request must keep (M5), all configurable, all told in the hello. A size exactly at its limit is
/// accepted. Bytes are those of decoded UTF-8, characters are Unicode scalar values (M4).
package struct Limits: Hashable, Sendable {
  package var frameBytes = 65_536
  /// Of an HTTP request's body.
  package var bodyBytes = 1_048_576
  /// Of `text`, `caption` and `conversationText` each.
  package var textBytes = 16_384
  /// Of `metadata` as re-encoded.
  package var metadataBytes = 10_240
  /// Of `customData` as re-encoded.
  package var customDataBytes = 10_240
  package var tags = 25
  package var tagCharacters = 100
  package var attachments = 10
  package var jsonDepth = 32
  package var openThreads = 64
  /// How far back a session may come from (R6).
  package var resumeSeconds = 86_400
  package var resumeEvents = 10_000
  package var muidCharacters = 100
  /// Of one reaction, and different ones of one message (M12).
  package let reactionCharacters = ReactionRules.characters
  package let reactionsPerMessage = ReactionRules.perMessage
  /// Names of people, groups and files, types, roles.
  package var nameCharacters = 255
  package var urlBytes = 2_048
  package var descriptionBytes = 4_096
  /// Of one `members.add`.
  package var membersPerCall = 100
  /// Rows of one page.
  package var pageRows = 100

  package init() {}

  /// Every limit with its name on the wire, in the hello's order.
  package var named: [(name: StaticString, value: Int)] {
    [
      ("frameBytes", frameBytes), ("bodyBytes", bodyBytes), ("textBytes", textBytes),
      ("metadataBytes", metadataBytes), ("customDataBytes", customDataBytes), ("tags", tags),
      ("tagCharacters", tagCharacters), ("attachments", attachments), ("jsonDepth", jsonDepth),
      ("openThreads", openThreads), ("resumeSeconds", resumeSeconds), ("resumeEvents", resumeEvents),
      ("muidCharacters", muidCharacters), ("reactionCharacters", reactionCharacters),
      ("reactionsPerMessage", reactionsPerMessage), ("nameCharacters", nameCharacters),
      ("urlBytes", urlBytes), ("descriptionBytes", descriptionBytes), ("membersPerCall", membersPerCall),
      ("pageRows", pageRows),
    ]
  }

  package func encode(into writer: inout JSONWriter) {
    writer.beginObject()
    for (name, value) in named {
      writer.key(name)
      writer.integer(value)
    }
    writer.endObject()
  }
}
