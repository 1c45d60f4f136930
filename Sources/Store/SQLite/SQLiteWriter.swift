internal import Chat
internal import Glibc
internal import Workers

/// The embedded store's one writer. A failed commit leaves nothing behind and the next one starts afresh; when the
/// connection itself is beyond help it is opened anew.
final class SQLiteWriter: StoreWriter {
  private let path: String
  private let lock: FolderLock
  /// Nil after a failure that its connection did not survive.
  private(set) var session: WriterSession?
  private var upkeep = LogUpkeep()
  private let checkpointer: Checkpointer
  private let checkpointerThread: WorkerThread

  init(path: String, lock: FolderLock) throws(StoreFailure) {
    self.path = path
    self.lock = lock
    let checkpointer = Checkpointer(path: path)
    self.checkpointer = checkpointer
    session = try WriterSession(connection: Connection(path: path, role: .writer))
    checkpointerThread = WorkerThread.start(name: "tc-checkpoint") { checkpointer.run() }
  }

  deinit {
    checkpointer.stop()
    checkpointerThread.join()
  }

  func commit(_ batch: [Mutation], at now: UnixSeconds) throws(StoreFailure) -> Commit {
    try using { session throws(StoreFailure) in try session.commit(batch, at: now) }
  }

  func tidy() {
    guard let session else { return }
    switch upkeep.step(length: session.connection.logPages, hasRun: checkpointer.takeHasRun()) {
    case .nothing: break
    case .ask: checkpointer.ask()
    case .copyRest: session.connection.copyLogBack()
    }
  }

  func isWritable() -> Bool {
    do throws(StoreFailure) {
      try using { session throws(StoreFailure) in try session.probe() }
      // A probe is a commit too: months of nothing else would grow the log.
      tidy()
      return true
    } catch {
      // What exactly is wrong is told by the commit that meets it.
      return false
    }
  }

  func isInPlace() -> Bool { lock.isInPlace && access(path, F_OK) == 0 }

  private func using<Value>(_ body: (WriterSession) throws(StoreFailure) -> Value) throws(StoreFailure) -> Value {
    // An open file takes writes after it was deleted; nobody would ever find them (M8, S11).
    guard isInPlace() else {
      throw StoreFailure(
        .unavailable,
        "The store at \(path) was deleted or moved while in use; put it back, or restart on a whole folder.")
    }
    let session: WriterSession
    if let open = self.session {
      session = open
    } else {
      session = try WriterSession(connection: Connection(path: path, role: .writer))
      self.session = session
    }
    do throws(StoreFailure) {
      return try body(session)
    } catch {
      if session.connection.isInTransaction { self.session = nil }
      throw error
    }
  }
}
