package import Chat

/// Everything durable, as one protocol with an embedded engine (SQLite) behind it; PostgreSQL will be a second engine.
///
/// Pattern: one writer commits batches, any number of readers read beside it. A commit returns only when the batch is
/// on stable storage (M8). Threads: a `StoreWriter` and each `StoreReader` belong to the one thread that uses them;
/// the `Store` itself may be shared. Lifecycle: open, make one writer and some readers, drop them, close.
/// Never imports: JSON, sockets, the gateway.
package protocol Store: Sendable {
  /// Random, made when the store was created (R11).
  var epoch: String { get }

  /// At most one may exist per process; it takes the store's lock.
  func makeWriter() throws(StoreFailure) -> any StoreWriter
  func makeReader() throws(StoreFailure) -> any StoreReader
}

/// What the world did wrong: disk full, I/O error, corruption, a newer schema. Nothing of the batch was kept.
package struct StoreFailure: Error, Sendable {
  package enum Kind: Sendable {
    /// Disk full or read-only: may recover by itself (S11).
    case unavailable
    /// Not a store, damaged, locked by another process, or made by a newer version: final.
    case unusable
  }
  package var kind: Kind
  /// One sentence for an operator.
  package var message: String
  /// Whether it is because another process works as the store's writer.
  package var isInUse = false
  package init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }
}

/// Who asks. Rights are judged inside the transaction (that check is the truth).
package enum Actor: Hashable, Sendable {
  case user(UserID)
  /// An admin key without `onBehalfOf` (A2): may do everything, sends as the system user `app`.
  case application

  /// The user in whose name messages are written.
  package var uid: UserID {
    switch self {
    case .user(let uid): uid
    case .application: .application
    }
  }
}

/// One change that somebody asks for.
package struct Mutation: Sendable {
  package var actor: Actor
  package var change: Change

  package init(actor: Actor, change: Change) {
    self.actor = actor
    self.change = change
  }

  package enum Change: Sendable {
    case sendMessage(OutgoingMessage)
    /// M11. An edit that changes nothing is answered with the message as it is, and nobody hears of it.
    case editMessage(MessageID, MessageEdit)
    case deleteMessage(MessageID)
    /// M12. What is already so is answered with the message, and nobody hears of it.
    case react(MessageID, String, isAdded: Bool)
    case setThreadSubscription(root: MessageID, isSubscribed: Bool)
    /// Created; an existing uid is `ERR_BAD_REQUEST` on `uid`.
    case createUser(User)
    /// Created with its owner as admin member; an existing guid is `ERR_BAD_REQUEST` on `guid`.
    case createGroup(Group)
    /// One result per uid, in order; at most 100.
    case addMembers(GroupID, [NewMember])
    case kickMember(GroupID, UserID)
    case leaveGroup(GroupID)
    /// A user token, known by its SHA-256 only (A1). `expiresAt` `.never` = no end.
    case mintToken(UserID, hash: [UInt8], expiresAt: UnixSeconds)
    case revokeToken(hash: [UInt8])
    /// An admin key, known by its SHA-256 only (A2).
    case mintKey(hash: [UInt8], scope: KeyScope, name: String)
  }
}

/// What a change led to. `events` are in seq order and stand even beside an answer that says "as it was".
package struct Outcome: Sendable {
  package var result: Result<Answer, Refusal>
  package var events: [Event]

  package init(_ result: Result<Answer, Refusal>, events: [Event] = []) {
    self.result = result
    self.events = events
  }

  package enum Answer: Sendable {
    /// The author's own view; for a repeated muid the message as it is stored now (M7).
    case message(FetchedMessage)
    /// A message that was edited, deleted or reacted to, as the caller sees it.
    case changedMessage(FetchedMessage)
    case threadSubscription(root: MessageID, isSubscribed: Bool)
    case user(User)
    case group(Group)
    case members([(uid: UserID, result: Result<Member, Refusal>)])
    case done
  }
}

/// What a committed batch produced.
package struct Commit: Sendable {
  /// One per mutation, in order.
  package var outcomes: [Outcome]
  /// The log's head before and after this batch; everything up to `head` is durable.
  package var previousHead: Seq
  package var head: Seq
  package init(outcomes: [Outcome], previousHead: Seq, head: Seq) {
    self.outcomes = outcomes
    self.previousHead = previousHead
    self.head = head
  }
}

/// The one writer. Not thread-safe: confined to its thread.
package protocol StoreWriter: AnyObject {
  /// Applies the batch in order in one transaction and makes it durable. A refusal stores nothing of its own mutation
  /// and leaves its neighbours alone. Throws when nothing at all was kept.
  func commit(_ batch: [Mutation], at now: UnixSeconds) throws(StoreFailure) -> Commit

  /// Housekeeping, for when a commit's answers are on their way. Short; what fails is met again by a later commit.
  func tidy()

  /// True when a commit would work now (S10). Commits a probe, so it costs as much as one.
  func isWritable() -> Bool

  /// True while the store's files are where they were opened (S10). A few system calls; nothing is written.
  func isInPlace() -> Bool
}

extension StoreWriter {
  /// An engine that needs no housekeeping.
  package func tidy() {}

  /// An engine without files is always where it was.
  package func isInPlace() -> Bool { true }
}

/// Somebody whom a token or key names.
package struct TokenHolder: Sendable {
  package enum Standing: Sendable { case valid, expired, revoked }
  package var user: User
  package var standing: Standing
  package var expiresAt: UnixSeconds
  package init(user: User, standing: Standing, expiresAt: UnixSeconds) {
    self.user = user
    self.standing = standing
    self.expiresAt = expiresAt
  }
}

/// What a session needs to know of its user, read at one moment of the log.
package struct SessionSnapshot: Sendable {
  package var user: User
  package var groups: [GroupID]
  /// Threads that the user follows by a stored word, when they were asked for (R2).
  package var followed: [ThreadPlace]
  /// Those of the threads asked for that the user can see.
  package var opened: [ThreadPlace]
  /// The log's head at which this was read.
  package var head: Seq
  package init(
    user: User, groups: [GroupID], followed: [ThreadPlace] = [], opened: [ThreadPlace] = [], head: Seq
  ) {
    self.user = user
    self.groups = groups
    self.followed = followed
    self.opened = opened
    self.head = head
  }
}

/// How far back a session may come from (R6).
package struct ResumeWindow: Hashable, Sendable {
  package var seconds: Int64
  package var events: Int
  package init(seconds: Int64 = 24 * 3600, events: Int = 10_000) {
    self.seconds = seconds
    self.events = events
  }
}

/// Whether everything since a position can be replayed (R6).
package enum ResumeVerdict: Hashable, Sendable {
  case possible
  /// The store has not come so far.
  case badPosition
  /// What was missed began longer ago than the window.
  case windowExpired
  case tooMany
}

/// A session's question for what it missed (R6), as of now: its choice of replies and its user's rights.
package struct MissedQuery: Sendable {
  package var uid: UserID
  /// The last seq that the session has.
  package var after: Seq
  package var replies: ReplyChoice
  package var openThreads: Set<MessageID>
  /// Events of one page at most.
  package var limit: Int
  /// Threads whose replies earlier pages left out (R3).
  package var unsent: Set<MessageID>
  /// The first page also looks for replies left out up to two seconds before `after`, whose hints may have been lost.
  package var isFirst: Bool
  package init(
    uid: UserID, after: Seq, replies: ReplyChoice = .all, openThreads: Set<MessageID> = [], limit: Int,
    unsent: Set<MessageID> = [], isFirst: Bool = true
  ) {
    self.uid = uid
    self.after = after
    self.replies = replies
    self.openThreads = openThreads
    self.limit = limit
    self.unsent = unsent
    self.isFirst = isFirst
  }
}

/// A piece of what a session missed.
package struct MissedPage: Sendable {
  /// In seq order; a message as it is stored now.
  package var events: [Event]
  /// Everything up to here that concerns the session is in this page and those before it.
  package var through: Seq
  /// More follows after `through`.
  package var hasMore: Bool
  /// Threads whose replies the session's choice left out so far.
  package var unsent: Set<MessageID>
  /// Their state, on the last page (R3).
  package var hints: [ThreadProgress]
  package init(
    events: [Event], through: Seq, hasMore: Bool, unsent: Set<MessageID> = [], hints: [ThreadProgress] = []
  ) {
    self.events = events
    self.through = through
    self.hasMore = hasMore
    self.unsent = unsent
    self.hints = hints
  }
}

/// Reads beside the writer; each call sees one consistent moment. Not thread-safe: confined to its thread.
/// An `.application` actor sees everything; its viewer state is that of the system user.
package protocol StoreReader: AnyObject {
  func head() throws(StoreFailure) -> Seq
  /// Nil when the hash is unknown or its user is deactivated (D7). `now` decides `expired`.
  func tokenHolder(hash: [UInt8], now: UnixSeconds) throws(StoreFailure) -> TokenHolder?
  func keyScope(hash: [UInt8]) throws(StoreFailure) -> KeyScope?
  /// Nil when there is no such user or the user is deactivated.
  func user(_ uid: UserID) throws(StoreFailure) -> User?
  /// Nil when there is no such user. `openThreads` that are no roots in the user's sight are left out.
  func session(_ uid: UserID, openThreads: [MessageID], withFollowed: Bool) throws(StoreFailure) -> SessionSnapshot?
  /// R6.
  func resumption(of uid: UserID, after: Seq, window: ResumeWindow, now: UnixSeconds) throws(StoreFailure)
    -> ResumeVerdict
  /// R6. Nil when there is no such user.
  func missed(_ query: MissedQuery) throws(StoreFailure) -> MissedPage?
  /// The conversation of a thread; refusals as for listing its replies.
  func thread(_ root: MessageID, actor: Actor) throws(StoreFailure) -> Result<ThreadPlace, Refusal>
  /// `ERR_GUID_NOT_FOUND`; a private group is not found for those outside.
  func group(_ guid: GroupID, actor: Actor) throws(StoreFailure) -> Result<Group, Refusal>
  /// Ascending by uid, after `after`; `ERR_GUID_NOT_FOUND`, `ERR_GROUP_NOT_JOINED`.
  func members(of guid: GroupID, after: UserID?, limit: Int, actor: Actor) throws(StoreFailure)
    -> Result<(rows: [Member], hasMore: Bool), Refusal>
  /// `ERR_MESSAGE_ID_NOT_FOUND`; `ERR_MESSAGE_NO_ACCESS` only for a caller who once was a participant (T2).
  func message(_ id: MessageID, actor: Actor) throws(StoreFailure) -> Result<FetchedMessage, Refusal>
  /// Who reacted, with this or with anything, ascending after a position. Refusals as for reading the message;
  /// a deleted one is `ERR_MESSAGE_ID_NOT_FOUND`, an action `ERR_MESSAGE_ACTION_NOT_ALLOWED`.
  func reactions(to id: MessageID, reaction: String?, after: Seq, limit: Int, actor: Actor) throws(StoreFailure)
    -> Result<ReactionPage, Refusal>
  /// `ERR_UID_NOT_FOUND`, `ERR_GUID_NOT_FOUND`, `ERR_GROUP_NOT_JOINED`, and for a thread as `message(_:actor:)`;
  /// a reply's id is `ERR_INVALID_PARENT_MESSAGE_ID` with `rootMessageID`.
  func messages(_ query: MessageQuery, actor: Actor) throws(StoreFailure) -> Result<MessagePage, Refusal>
}
