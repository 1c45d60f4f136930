package import Chat
package import JSON

/// What an operation answers with: encoded the same for both doors, a list as an array with its paging in `meta`.
package enum Answer: Sendable {
  /// `{}`.
  case done
  case hello(Hello)
  case message(FetchedMessage)
  /// `meta {hasMore, nextId}`; `nextId` is null when there are no rows.
  case messages(MessagePage)
  /// Rows `{reaction, uid, user, reactedAt}`, `meta {hasMore, nextAfter}`; `nextAfter` is null when there are no rows.
  case reactions(ReactionPage)
  /// `{parentMessageId, threadSubscribed}`.
  case threadSubscription(root: MessageID, isSubscribed: Bool)
  /// `{replies, foreground}` as they are now.
  case sessionChoice(ReplyChoice, isForeground: Bool)
  /// `{parentMessageId, open}`.
  case openThread(MessageID, isOpen: Bool)
  case user(User)
  case group(Group)
  /// `meta {hasMore, nextUid}`; `nextUid` is the last row's, to go on after, null when there are no rows.
  case members(rows: [Member], hasMore: Bool)
  /// One of `{uid, ok: true, member}` or `{uid, ok: false, error}` for each uid asked for.
  case memberResults([(uid: UserID, result: Result<Member, Refusal>)])
  /// `{uid, token, expiresAt}`; `expiresAt` 0 means without end. The only time that the token is seen.
  case token(String, uid: UserID, expiresAt: UnixSeconds)

  package func encodeData(into writer: inout JSONWriter) {
    switch self {
    case .done:
      writer.beginObject()
      writer.endObject()
    case .hello(let hello):
      hello.encode(into: &writer)
    case .message(let fetched):
      MessageEncoder.encode(fetched, into: &writer)
    case .messages(let page):
      writer.beginArray()
      for row in page.rows { MessageEncoder.encode(row, into: &writer) }
      writer.endArray()
    case .reactions(let page):
      writer.beginArray()
      for row in page.rows {
        writer.beginObject()
        writer.member("reaction", row.reaction)
        writer.member("uid", row.user.uid.text)
        writer.key("user")
        PeopleEncoder.encode(row.user, into: &writer)
        writer.member("reactedAt", row.reactedAt)
        writer.endObject()
      }
      writer.endArray()
    case .threadSubscription(let root, let isSubscribed):
      writer.beginObject()
      writer.member("parentMessageId", root.value)
      writer.member("threadSubscribed", isSubscribed)
      writer.endObject()
    case .sessionChoice(let replies, let isForeground):
      writer.beginObject()
      writer.member("replies", replies.rawValue)
      writer.member("foreground", isForeground)
      writer.endObject()
    case .openThread(let root, let isOpen):
      writer.beginObject()
      writer.member("parentMessageId", root.value)
      writer.member("open", isOpen)
      writer.endObject()
    case .user(let user):
      PeopleEncoder.encode(user, into: &writer)
    case .group(let group):
      PeopleEncoder.encode(group, into: &writer)
    case .members(let rows, _):
      writer.beginArray()
      for row in rows { PeopleEncoder.encode(row, into: &writer) }
      writer.endArray()
    case .memberResults(let results):
      writer.beginArray()
      for (uid, result) in results {
        writer.beginObject()
        writer.member("uid", uid.text)
        switch result {
        case .success(let member):
          writer.member("ok", true)
          writer.key("member")
          PeopleEncoder.encode(member, into: &writer)
        case .failure(let refusal):
          writer.member("ok", false)
          writer.key("error")
          ReplyEncoder.encode(refusal, into: &writer)
        }
        writer.endObject()
      }
      writer.endArray()
    case .token(let token, let uid, let expiresAt):
      writer.beginObject()
      writer.member("uid", uid.text)
      writer.member("token", token)
      writer.member("expiresAt", expiresAt)
      writer.endObject()
    }
  }

  /// Writes `"meta": {…}` into the open object, for the answers that have one.
  func encodeMeta(into writer: inout JSONWriter) {
    switch self {
    case .messages(let page):
      writer.key("meta")
      writer.beginObject()
      writer.member("hasMore", page.hasMore)
      writer.key("nextId")
      if let next = page.nextID { writer.integer(next.value) } else { writer.null() }
      writer.endObject()
    case .reactions(let page):
      writer.key("meta")
      writer.beginObject()
      writer.member("hasMore", page.hasMore)
      writer.key("nextAfter")
      if let last = page.rows.last { writer.integer(last.seq.value) } else { writer.null() }
      writer.endObject()
    case .members(let rows, let hasMore):
      writer.key("meta")
      writer.beginObject()
      writer.member("hasMore", hasMore)
      writer.key("nextUid")
      if let last = rows.last { writer.string(last.user.uid.text) } else { writer.null() }
      writer.endObject()
    default:
      break
    }
  }
}

/// The answer to `connect` (L4).
package struct Hello: Hashable, Sendable {
  /// Why the missed events do not follow.
  package enum ResetReason: String, Hashable, Sendable, CaseIterable {
    case windowExpired = "window_expired"
    case tooMany = "too_many"
    case epochChanged = "epoch_changed"
    case badPosition = "bad_position"
  }

  package enum Resumption: Hashable, Sendable {
    /// The client gave no position.
    case fresh
    case resumed
    case reset(ResetReason)
  }

  package var sessionID: String
  package var user: User
  package var epoch: String
  package var seq: Seq
  package var resumption: Resumption
  package var heartbeatSeconds: Int
  package var serverTime: UnixSeconds
  package var limits: Limits
  package var version: String

  package init(
    sessionID: String, user: User, epoch: String, seq: Seq, resumption: Resumption, heartbeatSeconds: Int,
    serverTime: UnixSeconds, limits: Limits, version: String
  ) {
    self.sessionID = sessionID
    self.user = user
    self.epoch = epoch
    self.seq = seq
    self.resumption = resumption
    self.heartbeatSeconds = heartbeatSeconds
    self.serverTime = serverTime
    self.limits = limits
    self.version = version
  }

  package func encode(into writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("sessionId", sessionID)
    writer.member("uid", user.uid.text)
    writer.key("user")
    PeopleEncoder.encode(user, into: &writer)
    writer.member("epoch", epoch)
    writer.member("seq", seq.value)
    writer.member("resumed", resumption == .resumed)
    if case .reset(let reason) = resumption {
      writer.key("reset")
      writer.beginObject()
      writer.member("reason", reason.rawValue)
      writer.endObject()
    }
    writer.member("heartbeatSeconds", heartbeatSeconds)
    writer.member("serverTime", serverTime)
    writer.key("limits")
    limits.encode(into: &writer)
    writer.member("version", version)
    writer.endObject()
  }
}
