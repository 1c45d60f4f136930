internal import CSQLite
internal import Glibc

/// One SQLite connection, used by one thread. Statements keep it alive; it closes with the last of them.
final class Connection {
  enum Role: Sendable {
    case writer, reader
    /// Writes a little beside the writer: for another process (S5), or to copy its log back.
    case visitor
    /// Fills a file that nobody else knows yet.
    case copy
  }

  private let handle: OpaquePointer
  /// Written by the engine at every commit of a writer.
  private let logLength: UnsafeMutablePointer<Int32>

  /// Opens an existing database file with the store's settings.
  init(path: String, role: Role) throws(StoreFailure) {
    _ = Self.configuration
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let code = sqlite3_open_v2(path, &opened, flags, nil)
    guard code == SQLITE_OK, let handle = opened else {
      let detail = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
      sqlite3_close_v2(opened)
      throw StoreFailure(code: code, detail: detail)
    }
    self.handle = handle
    logLength = .allocate(capacity: 1)
    logLength.initialize(to: 0)
    if role == .visitor {
      // A busy writer is free for an instant between two commits: the engine's own pauses, up to 100 ms, would miss it
      // again and again.
      sqlite3_busy_handler(
        handle,
        { _, attempts in
          guard attempts < Connection.visitorAttempts else { return 0 }
          usleep(500)
          return 1
        }, nil)
    } else {
      sqlite3_busy_timeout(handle, Self.busyTimeoutMilliseconds)
    }
    for pragma in Self.pragmas(role) { try execute(pragma) }
    if role == .writer {
      sqlite3_wal_hook(
        handle,
        { length, _, _, pages in
          length?.assumingMemoryBound(to: Int32.self).pointee = pages
          return SQLITE_OK
        }, logLength)
    }
  }

  deinit {
    sqlite3_close_v2(handle)
    logLength.deallocate()
  }

  /// Made before the first connection of the process; when somebody else was first, their settings stand.
  private static let configuration: Int32 = csqlite_stop_counting_memory()

  /// How long one process waits for another's lock: schema work, the close of a last connection, and the short
  /// transactions of a visitor hold one.
  private static let busyTimeoutMilliseconds: Int32 = 5000
  /// Half a millisecond and a little more each: some fifteen seconds in all.
  private static let visitorAttempts: Int32 = 20_000

  private static func pragmas(_ role: Role) -> [String] {
    let shared = ["PRAGMA trusted_schema = OFF", "PRAGMA temp_store = MEMORY"]
    switch role {
    case .writer:
      // FULL syncs the write-ahead log at every commit (M8). The log is copied back beside the commits
      // (`Checkpointer`), never by one; what it grew beyond is given back.
      return shared + [
        "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA wal_autocheckpoint = 0",
        "PRAGMA journal_size_limit = 67108864", "PRAGMA cache_size = -32768",
      ]
    case .reader:
      return shared + ["PRAGMA query_only = ON", "PRAGMA cache_size = -8192"]
    case .visitor:
      // The log is copied back by whoever serves; a visitor holds no lock longer than its own commit.
      return shared + ["PRAGMA synchronous = FULL", "PRAGMA wal_autocheckpoint = 0"]
    case .copy:
      return shared + ["PRAGMA synchronous = FULL", "PRAGMA cache_size = -8192"]
    }
  }

  func prepare(_ sql: String) throws(StoreFailure) -> Statement {
    var prepared: OpaquePointer?
    let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard code == SQLITE_OK, let statement = prepared else { throw failure(code) }
    return Statement(handle: statement, connection: self)
  }

  /// Runs statements that have neither parameters nor rows of interest.
  func execute(_ sql: String) throws(StoreFailure) {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw failure(code) }
  }

  /// Whether a transaction is open; the engine ends one by itself after some failures.
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// Pages in the write-ahead log after this connection's last commit; for a writer.
  var logPages: Int { Int(logLength.pointee) }

  /// Copies back what the log holds, as far as no reader still needs the database as it was, and waits for nobody.
  /// What cannot be copied now stays in the log, where it is as durable; a log that only grows fills the disk in the
  /// end, and the commit that finds no room says so (S11).
  func copyLogBack() {
    _ = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
  }

  /// The integer that a pragma answers.
  func integer(_ pragma: String) throws(StoreFailure) -> Int64 {
    try prepare(pragma).first { $0.integer(0) } ?? 0
  }

  /// Copies every page of `source`, one committed moment, into this connection's database.
  func fill(from source: Connection) throws(StoreFailure) {
    guard let backup = sqlite3_backup_init(handle, "main", source.handle, "main") else {
      throw failure(sqlite3_extended_errcode(handle))
    }
    // All in one step: between steps another process's commit would make it start again.
    let code = sqlite3_backup_step(backup, -1)
    let end = sqlite3_backup_finish(backup)
    guard code == SQLITE_DONE, end == SQLITE_OK else { throw failure(code == SQLITE_DONE ? end : code) }
  }

  func failure(_ code: Int32) -> StoreFailure {
    StoreFailure(code: code, detail: String(cString: sqlite3_errmsg(handle)))
  }
}
