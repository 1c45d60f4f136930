package import Chat
import JSON

/// Whole frames of events (L3, L6), encoded once for everybody who gets them (R5).
package enum EventEncoder {
  /// `{"event", "seq", "data"}`; nil for a happening that no client hears of (a revocation).
  package static func encode(_ event: Event) -> [UInt8]? {
    var writer = JSONWriter(reservingBytes: 1_024)
    writer.beginObject()
    switch event.body {
    case .message(let message):
      begin("message", event.seq, &writer)
      MessageEncoder.encode(message, into: &writer)
    case .messageChanged(let change):
      begin(change.kind == .edited ? "message.edited" : "message.deleted", event.seq, &writer)
      MessageEncoder.encode(change.message, into: &writer)
    case .reaction(let change):
      begin(change.isAdded ? "reaction.added" : "reaction.removed", event.seq, &writer)
      encode(change, into: &writer)
    case .threadSubscription(let change):
      begin("thread.subscription", event.seq, &writer)
      encode(change, into: &writer)
    case .groupMember(let change):
      begin("group.member", event.seq, &writer)
      encode(change, into: &writer)
    case .tokensRevoked:
      return nil
    }
    writer.endObject()
    return writer.take()
  }

  /// `{"event":"thread.updated","data":{parentMessageId, replyCount, lastReplyId, lastReplyAt}}` (R3);
  /// the last two are 0 when every reply is deleted.
  package static func threadUpdated(_ progress: ThreadProgress) -> [UInt8] {
    var writer = JSONWriter(reservingBytes: 160)
    writer.beginObject()
    writer.member("event", "thread.updated")
    writer.key("data")
    writer.beginObject()
    writer.member("parentMessageId", progress.root.value)
    writer.member("replyCount", progress.replyCount)
    writer.member("lastReplyId", progress.lastReply?.value ?? 0)
    writer.member("lastReplyAt", progress.lastReplyAt)
    writer.endObject()
    writer.endObject()
    return writer.take()
  }

  /// `{"event":"typing","data":{senderUid, receiverUid, receiverType, parentMessageId, typing}}` (R9);
  /// `parentMessageId` is 0 outside threads.
  package static func typing(_ notice: TypingNotice, by sender: UserID) -> [UInt8] {
    var writer = JSONWriter(reservingBytes: 192)
    writer.beginObject()
    writer.member("event", "typing")
    writer.key("data")
    writer.beginObject()
    writer.member("senderUid", sender.text)
    writer.member("receiverUid", notice.receiver.identifier)
    switch notice.receiver {
    case .user: writer.member("receiverType", "user")
    case .group: writer.member("receiverType", "group")
    }
    writer.member("parentMessageId", notice.thread?.value ?? 0)
    writer.member("typing", notice.isTyping)
    writer.endObject()
    writer.endObject()
    return writer.take()
  }

  /// `{"event":"heartbeat","seq":N}` (L5).
  package static func heartbeat(_ seq: Seq) -> [UInt8] {
    var writer = JSONWriter(reservingBytes: 48)
    writer.beginObject()
    writer.member("event", "heartbeat")
    writer.member("seq", seq.value)
    writer.endObject()
    return writer.take()
  }

  private static func begin(_ name: String, _ seq: Seq, _ writer: inout JSONWriter) {
    writer.member("event", name)
    writer.member("seq", seq.value)
    writer.key("data")
  }

  /// `{messageId, conversationId, parentMessageId, reaction, uid, user, reactedAt, reactions}`: who did what, and what
  /// the message's reactions are now. `reactedAt` of a removal is when it was removed.
  private static func encode(_ change: ReactionChange, into writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("messageId", change.message.id.value)
    writer.member("conversationId", change.message.conversation.id)
    writer.member("parentMessageId", change.message.parent?.value ?? 0)
    writer.member("reaction", change.reaction)
    writer.member("uid", change.user.uid.text)
    writer.key("user")
    PeopleEncoder.encode(change.user, into: &writer)
    writer.member("reactedAt", change.at)
    MessageEncoder.reactions(of: change.message, into: &writer)
    writer.endObject()
  }

  /// T15: `{parentMessageId, conversationId, threadSubscribed, cause}`.
  private static func encode(_ change: SubscriptionChange, into writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("parentMessageId", change.root.value)
    writer.member("conversationId", change.conversation.id)
    writer.member("threadSubscribed", change.isSubscribed)
    writer.member("cause", change.cause.rawValue)
    writer.endObject()
  }

  /// `{action, guid, uid, scope, actorUid, group, user}`; `actorUid` is empty when the person acted alone.
  private static func encode(_ change: MembershipChange, into writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("action", change.action.rawValue)
    writer.member("guid", change.group.guid.text)
    writer.member("uid", change.user.uid.text)
    writer.member("scope", change.scope.rawValue)
    writer.member("actorUid", change.actor?.text ?? "")
    writer.key("group")
    PeopleEncoder.encode(change.group, into: &writer)
    writer.key("user")
    PeopleEncoder.encode(change.user, into: &writer)
    writer.endObject()
  }
}
