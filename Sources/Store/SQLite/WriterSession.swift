internal import Chat

/// What a log row is about.
enum LogKind: Int64 {
  case message = 1
  case threadSubscription = 2
  case groupMember = 3
  case tokensRevoked = 4
  case messageEdited = 5
  case messageDeleted = 6
  case reactionAdded = 7
  case reactionRemoved = 8
}

/// One writing connection with its statements, memory and position; thrown away when the connection is beyond help.
final class WriterSession {
  let connection: Connection
  let directory: Directory
  let viewers: ViewerStates
  let statements: WriterStatements
  /// The last position handed out; ahead of the store only inside a transaction.
  private(set) var head: Seq
  private var sweep = MUIDSweep()

  init(connection: Connection) throws(StoreFailure) {
    self.connection = connection
    directory = try Directory(connection: connection)
    viewers = try ViewerStates(connection: connection, directory: directory)
    statements = try WriterStatements(connection: connection)
    head = try Self.storedHead(connection)
  }

  static func storedHead(_ connection: Connection) throws(StoreFailure) -> Seq {
    Seq(try connection.integer("SELECT seq FROM log ORDER BY seq DESC LIMIT 1"))
  }

  /// Takes the next position for a happening and writes its row (M1).
  func append(
    _ kind: LogKind, at now: UnixSeconds, conversation: Int64? = nil, user: Int64? = nil, message: Int64? = nil,
    payload: [UInt8]? = nil
  ) throws(StoreFailure) -> Seq {
    precondition(head < .maximum, "The log has run out of positions.")
    let seq = Seq(head.value + 1)
    try statements.logRow.bind(seq.value).bind(kind.rawValue).bind(now.value).bind(conversation).bind(user)
      .bind(message).bind(payload).run()
    head = seq
    return seq
  }

  /// Applies the batch in one transaction. After a failure nothing of it is there, in the store or in memory.
  func commit(_ batch: [Mutation], at now: UnixSeconds) throws(StoreFailure) -> Commit {
    let previousHead = head
    let outcomes: [Outcome] = try transaction { () throws(StoreFailure) in
      var outcomes: [Outcome] = []
      outcomes.reserveCapacity(batch.count)
      for mutation in batch { outcomes.append(try apply(mutation, at: now)) }
      try sweep.run(statements, at: now)
      return outcomes
    }
    return Commit(outcomes: outcomes, previousHead: previousHead, head: head)
  }

  /// Commits something that needs the disk, and room on it, and leaves nothing behind (S10).
  func probe() throws(StoreFailure) {
    try transaction { () throws(StoreFailure) in
      try statements.countProbe.run()
      try statements.takeRoom.run()
      try statements.giveRoomBack.run()
    }
  }

  private func transaction<Value>(_ body: () throws(StoreFailure) -> Value) throws(StoreFailure) -> Value {
    let previousHead = head
    do throws(StoreFailure) {
      try statements.begin.run()
      let value = try body()
      try statements.commit.run()
      return value
    } catch {
      head = previousHead
      directory.forget()
      // After some failures the engine has rolled back by itself. If it cannot now, the caller sees `isInTransaction`
      // and opens the store anew.
      if connection.isInTransaction { try statements.rollback.run() }
      throw error
    }
  }

  private func apply(_ mutation: Mutation, at now: UnixSeconds) throws(StoreFailure) -> Outcome {
    guard let row = try directory.user(mutation.actor.uid) else { return Outcome(.failure(Refusal(.notLoggedIn))) }
    let caller = Caller(row: row, isApplication: mutation.actor == .application)
    switch mutation.change {
    case .sendMessage(let message):
      return try SendTransaction(session: self, caller: caller, now: now).run(message)
    case .editMessage(let id, let edit):
      return try ChangeTransaction(session: self, caller: caller, now: now).edit(id, edit)
    case .deleteMessage(let id):
      return try ChangeTransaction(session: self, caller: caller, now: now).delete(id)
    case .react(let id, let reaction, let isAdded):
      return try ReactionTransaction(session: self, caller: caller, now: now).run(reaction, to: id, isAdded: isAdded)
    case .setThreadSubscription(let root, let isSubscribed):
      return try SubscriptionTransaction(session: self, now: now).wish(isSubscribed, root: root, caller: caller)
    case .createUser(let user):
      return try AccountTransaction(session: self, caller: caller, now: now).create(user)
    case .createGroup(let group):
      return try MembershipTransaction(session: self, caller: caller, now: now).create(group)
    case .addMembers(let guid, let members):
      return try MembershipTransaction(session: self, caller: caller, now: now).add(members, to: guid)
    case .kickMember(let guid, let uid):
      return try MembershipTransaction(session: self, caller: caller, now: now).kick(uid, from: guid)
    case .leaveGroup(let guid):
      return try MembershipTransaction(session: self, caller: caller, now: now).leave(guid)
    case .mintToken(let uid, let hash, let expiresAt):
      return try AccountTransaction(session: self, caller: caller, now: now)
        .mintToken(for: uid, hash: hash, expiresAt: expiresAt)
    case .revokeToken(let hash):
      return try AccountTransaction(session: self, caller: caller, now: now).revokeToken(hash)
    case .mintKey(let hash, let scope, let name):
      return try AccountTransaction(session: self, caller: caller, now: now).mintKey(hash, scope: scope, name: name)
    }
  }
}

/// Deletes idempotency keys that are older than they must be kept (M7), a bounded slice at a time.
struct MUIDSweep {
  /// Keys live at least this long.
  static let keepSeconds: Int64 = 24 * 3600
  /// The most that one commit deletes: more than it can add in the long run, little enough not to be felt.
  static let slice: Int64 = 1024

  private var lastRun = UnixSeconds.never
  private var isBehind = false

  mutating func run(_ statements: WriterStatements, at now: UnixSeconds) throws(StoreFailure) {
    guard isBehind || now.value >= lastRun.value + 60 || now < lastRun else { return }
    let oldest = try statements.oldestMUIDs.bind(Self.slice).all { (message: $0.integer(0), at: $0.integer(1)) }
    let expired = oldest.prefix { $0.at < now.value - Self.keepSeconds }
    if let last = expired.last { try statements.deleteMUIDs.bind(last.message).run() }
    lastRun = now
    isBehind = expired.count == Int(Self.slice)
  }
}
