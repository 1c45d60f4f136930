package import Chat
package import Primitives
package import Store
package import Wire

/// Where an answer goes: a connection of a shard, by handle, so that an answer to a dead connection falls on the floor.
package struct ReplyAddress: Sendable {
  package enum Form: Sendable {
    /// A frame with the request's id.
    case socket(RequestID)
    /// The response to the connection's one request under way.
    case http
  }

  package var shard: Int
  package var connection: Handle
  package var form: Form
  /// When the request was read; `never` when nobody measures.
  package var receivedAt: Instant

  package init(shard: Int, connection: Handle, form: Form, receivedAt: Instant = .never) {
    self.shard = shard
    self.connection = connection
    self.form = form
    self.receivedAt = receivedAt
  }

  /// A live session, which gets no event for what it did itself (M15).
  var session: SessionAddress? {
    switch form {
    case .socket: SessionAddress(shard: shard, connection: connection)
    case .http: nil
    }
  }
}

/// One session of this node.
package struct SessionAddress: Hashable, Sendable {
  package var shard: Int
  package var connection: Handle
}

/// An answer, encoded.
package struct Reply: Sendable {
  /// The HTTP status; a frame has none and ignores it.
  package var status: Int
  /// The whole frame text or response body.
  package var bytes: [UInt8]
  /// Sent as `Retry-After` when there is one (429 and 503).
  package var retryAfterSeconds: Int?
  package var contentType: StaticString
  /// The methods that would be right (405).
  package var allow: String?
  /// The request should have been an upgrade (426).
  package var isUpgradeRequired = false

  package init(
    status: Int, bytes: [UInt8], retryAfterSeconds: Int? = nil, contentType: StaticString = "application/json"
  ) {
    self.status = status
    self.bytes = bytes
    self.retryAfterSeconds = retryAfterSeconds
    self.contentType = contentType
  }
}

/// What a request proves about its sender (L2, A2). Only digests leave the shard.
package enum Credentials: Sendable {
  case none
  case token(hash: [UInt8])
  case key(hash: [UInt8], onBehalfOf: String?)
}

/// A change for the writer.
package struct WriteRequest: Sendable {
  package var mutation: Mutation
  package var replyTo: ReplyAddress
  /// Makes the answer's body richer than the store's own (a minted token is told once, here).
  package var disclosure: Disclosure?

  package enum Disclosure: Sendable {
    case token(text: String, uid: UserID, expiresAt: UnixSeconds)
  }

  package init(mutation: Mutation, replyTo: ReplyAddress, disclosure: Disclosure? = nil) {
    self.mutation = mutation
    self.replyTo = replyTo
    self.disclosure = disclosure
  }
}

/// A question for a reader.
package struct ReadRequest: Sendable {
  package enum Question: Sendable {
    /// May this token upgrade? Answered by `.upgradeChecked`.
    case upgrade(tokenHash: [UInt8])
    /// Load the session of this token. Answered by `.sessionLoaded`.
    case session(tokenHash: [UInt8], SessionWish)
    /// A page of what a session missed, of about so many bytes at most. Answered by `.missedLoaded`.
    case missed(MissedQuery, bytes: Int)
    /// The threads that a user follows. Answered by `.followedLoaded`.
    case followed(UserID)
    /// The place of a thread that a session opens. Answered by `.threadFound`.
    case thread(MessageID, UserID)
    /// An operation of a live session.
    case operation(Operation, UserID)
    /// An operation over HTTP, whose caller is not known yet; a refusal is told only to those who may call.
    case request(OperationDefinition, Result<Operation, Refusal>, Credentials)
    case metrics
  }
  package var question: Question
  package var replyTo: ReplyAddress
  package init(_ question: Question, replyTo: ReplyAddress) {
    self.question = question
    self.replyTo = replyTo
  }
}

/// What a token turned out to be.
package enum TokenVerdict: Sendable {
  case valid(UserID)
  case expired
  case revoked
  case unknown
  /// The store did not answer.
  case unavailable
}

/// What a session's `connect` asks of the store (L4).
package struct SessionWish: Sendable {
  /// The position to resume from, when its epoch is ours.
  package var resume: Seq?
  package var replies: ReplyChoice
  package var openThreads: [MessageID]
  package var window: ResumeWindow
}

/// A session as loaded beside the log.
package struct LoadedSession: Sendable {
  package var id: SessionID
  package var snapshot: SessionSnapshot
  /// What became of the wish to resume; nil without one.
  package var verdict: ResumeVerdict?
  package var tokenHash: [UInt8]
  package var tokenExpiresAt: UnixSeconds
  package init(
    id: SessionID, snapshot: SessionSnapshot, verdict: ResumeVerdict?, tokenHash: [UInt8],
    tokenExpiresAt: UnixSeconds
  ) {
    self.id = id
    self.snapshot = snapshot
    self.verdict = verdict
    self.tokenHash = tokenHash
    self.tokenExpiresAt = tokenExpiresAt
  }
}

/// One mutation's consequences, in the order in which sessions must see them: its events, then the reply to its sender.
package struct CommittedStep: Sendable {
  package struct Delivery: Sendable {
    package var event: Event
    /// The whole frame text, written once for everybody (R5).
    package var text: [UInt8]
    /// The session that caused it and does not get it (M15).
    package var excluded: SessionAddress?
  }
  package var deliveries: [Delivery]
  package var replyTo: ReplyAddress?
  package var reply: Reply?
}

/// A durable batch as every shard of the node hears of it. Shared, never changed.
package final class CommittedBatch: Sendable {
  package let steps: [CommittedStep]
  package let head: Seq
  /// When the commit was durable; `never` when it was another node's.
  package let committedAt: Instant
  package init(steps: [CommittedStep], head: Seq, committedAt: Instant = .never) {
    self.steps = steps
    self.head = head
    self.committedAt = committedAt
  }
}

/// A page of a replay, encoded: whole frame texts.
package struct MissedTexts: Sendable {
  package var events: [(seq: Seq, text: [UInt8])]
  package var through: Seq
  package var hasMore: Bool
  package var unsent: Set<MessageID>
  package var hints: [(place: ThreadPlace, asOf: Seq, text: [UInt8])]
}

/// An ephemeral event (R9), for the sessions of a conversation's other people on every shard. Shared, never changed.
package final class EphemeralEvent: Sendable {
  package let conversation: Conversation
  package let sender: UserID
  package let text: [UInt8]
  package init(conversation: Conversation, sender: UserID, text: [UInt8]) {
    self.conversation = conversation
    self.sender = sender
    self.text = text
  }
}

/// A device whose session is replaced when it connects again (4204).
package struct DeviceKey: Hashable, Sendable {
  package var user: UserID
  package var device: String
}

/// Bytes published on `/pub`, for the other shards' `/sub`.
package final class PublishedMessage: Sendable {
  package let bytes: [UInt8]
  package let isText: Bool
  package init(bytes: [UInt8], isText: Bool) {
    self.bytes = bytes
    self.isText = isText
  }
}

/// What other threads tell a shard.
package enum ShardMail: Sendable {
  case committed(CommittedBatch)
  case reply(ReplyAddress, Reply)
  case upgradeChecked(ReplyAddress, TokenVerdict)
  case sessionLoaded(ReplyAddress, Result<LoadedSession, TokenRefusal>)
  /// Nil when the store did not answer.
  case missedLoaded(ReplyAddress, MissedTexts?)
  case followedLoaded(ReplyAddress, Result<SessionSnapshot, Refusal>)
  case threadFound(ReplyAddress, MessageID, Result<ThreadPlace, Refusal>)
  case ephemeral(EphemeralEvent)
  /// A session of the device opened elsewhere as the node's `ordinal`-th: older ones end.
  case deviceOpened(DeviceKey, ordinal: UInt64)
  case published(PublishedMessage)
  /// Close every session with 4000 and refuse new ones (S7).
  case drain(seconds: Int)
  /// Go by these settings from now on (S7).
  case reload(GatewaySettings)
}

/// Why no session came of a token.
package struct TokenRefusal: Error, Sendable {
  package var verdict: TokenVerdict
  package init(_ verdict: TokenVerdict) { self.verdict = verdict }
}
