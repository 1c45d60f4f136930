import Chat
import Store

/// What the world does to the store during a run.
final class StoreFaults {
  let dice: Dice
  /// Simulated time, in place of the wall clock that the committer and the readers look at.
  var unixSeconds: Int64 = 0
  /// Of a thousand commits and reads, so many fail.
  var failingCommits = 0
  var failingReads = 0
  /// A whole outage.
  var isDown = false
  /// The process dies with the next commit: before it is durable, or after.
  var crash: Crash?
  enum Crash { case beforeCommit, afterCommit }
  var hasCrashed = false
  /// Called before each commit, also those that fail, with the number of its changes.
  var committing: (Int) -> Void = { _ in }
  /// Called after each commit, with what is durable now.
  var committed: ([Mutation], Commit) -> Void = { _, _ in }
  /// Called where another thread may run: between a commit and its mail, between a read and its answer.
  var interleave: () -> Void = {}

  init(dice: Dice) { self.dice = dice }

  func failure() -> StoreFailure { StoreFailure(.unavailable, "simulated: the disk is full") }

  func mayRead() throws(StoreFailure) {
    if hasCrashed || isDown || dice.chance(failingReads) { throw failure() }
  }
}

/// A store whose disk fails when the seed says so, with simulated time and the threads' interleavings.
final class FaultyStore {
  let inner: SQLiteStore
  let faults: StoreFaults

  init(_ inner: SQLiteStore, faults: StoreFaults) {
    self.inner = inner
    self.faults = faults
  }

  var epoch: String { inner.epoch }
  func makeWriter() throws(StoreFailure) -> any StoreWriter { FaultyWriter(try inner.makeWriter(), faults) }
  func makeReader() throws(StoreFailure) -> any StoreReader { FaultyReader(try inner.makeReader(), faults) }
}

private final class FaultyWriter: StoreWriter {
  private let inner: any StoreWriter
  private let faults: StoreFaults

  init(_ inner: any StoreWriter, _ faults: StoreFaults) {
    self.inner = inner
    self.faults = faults
  }

  func commit(_ batch: [Mutation], at now: UnixSeconds) throws(StoreFailure) -> Commit {
    faults.committing(batch.count)
    if faults.hasCrashed || faults.isDown || faults.dice.chance(faults.failingCommits) { throw faults.failure() }
    if faults.crash == .beforeCommit {
      faults.hasCrashed = true
      throw faults.failure()
    }
    let commit = try inner.commit(batch, at: UnixSeconds(faults.unixSeconds))
    faults.committed(batch, commit)
    if faults.crash == .afterCommit {
      faults.hasCrashed = true
      throw faults.failure()
    }
    faults.interleave()
    return commit
  }

  func tidy() { inner.tidy() }

  func isWritable() -> Bool { !faults.isDown && inner.isWritable() }
}

private final class FaultyReader: StoreReader {
  private let inner: any StoreReader
  private let faults: StoreFaults

  init(_ inner: any StoreReader, _ faults: StoreFaults) {
    self.inner = inner
    self.faults = faults
  }

  private func read<Value>(_ body: () throws(StoreFailure) -> Value) throws(StoreFailure) -> Value {
    try faults.mayRead()
    let value = try body()
    faults.interleave()
    return value
  }

  func head() throws(StoreFailure) -> Seq { try read { () throws(StoreFailure) in try inner.head() } }

  func tokenHolder(hash: [UInt8], now: UnixSeconds) throws(StoreFailure) -> TokenHolder? {
    try read { () throws(StoreFailure) in
      try inner.tokenHolder(hash: hash, now: UnixSeconds(faults.unixSeconds))
    }
  }

  func keyScope(hash: [UInt8]) throws(StoreFailure) -> KeyScope? {
    try read { () throws(StoreFailure) in try inner.keyScope(hash: hash) }
  }

  func user(_ uid: UserID) throws(StoreFailure) -> User? {
    try read { () throws(StoreFailure) in try inner.user(uid) }
  }

  func session(_ uid: UserID, openThreads: [MessageID], withFollowed: Bool) throws(StoreFailure) -> SessionSnapshot? {
    try read { () throws(StoreFailure) in
      try inner.session(uid, openThreads: openThreads, withFollowed: withFollowed)
    }
  }

  func resumption(of uid: UserID, after: Seq, window: ResumeWindow, now: UnixSeconds) throws(StoreFailure)
    -> ResumeVerdict
  {
    try read { () throws(StoreFailure) in
      try inner.resumption(of: uid, after: after, window: window, now: UnixSeconds(faults.unixSeconds))
    }
  }

  func missed(_ query: MissedQuery) throws(StoreFailure) -> MissedPage? {
    try read { () throws(StoreFailure) in try inner.missed(query) }
  }

  func thread(_ root: MessageID, actor: Actor) throws(StoreFailure) -> Result<ThreadPlace, Refusal> {
    try read { () throws(StoreFailure) in try inner.thread(root, actor: actor) }
  }

  func group(_ guid: GroupID, actor: Actor) throws(StoreFailure) -> Result<Group, Refusal> {
    try read { () throws(StoreFailure) in try inner.group(guid, actor: actor) }
  }

  func members(of guid: GroupID, after: UserID?, limit: Int, actor: Actor) throws(StoreFailure)
    -> Result<(rows: [Member], hasMore: Bool), Refusal>
  {
    try read { () throws(StoreFailure) in try inner.members(of: guid, after: after, limit: limit, actor: actor) }
  }

  func message(_ id: MessageID, actor: Actor) throws(StoreFailure) -> Result<FetchedMessage, Refusal> {
    try read { () throws(StoreFailure) in try inner.message(id, actor: actor) }
  }

  func reactions(
    to id: MessageID, reaction: String?, after: Seq, limit: Int, actor: Actor
  ) throws(StoreFailure) -> Result<ReactionPage, Refusal> {
    try read { () throws(StoreFailure) in
      try inner.reactions(to: id, reaction: reaction, after: after, limit: limit, actor: actor)
    }
  }

  func messages(_ query: MessageQuery, actor: Actor) throws(StoreFailure) -> Result<MessagePage, Refusal> {
    try read { () throws(StoreFailure) in try inner.messages(query, actor: actor) }
  }
}
