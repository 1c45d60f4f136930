internal import CSQLite
internal import Glibc

extension StoreFailure {
  /// What an SQLite result code means for an operator (S11).
  ///
  /// - Parameters:
  ///   - code: an extended result code other than OK, ROW, DONE.
  ///   - detail: the engine's own words.
  init(code: Int32, detail: String) {
    switch code & 0xff {
    case SQLITE_FULL: self.init(.unavailable, "The disk that holds the store is full.")
    case SQLITE_READONLY: self.init(.unavailable, "The store cannot be written: \(detail).")
    case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
      self.init(.unavailable, "The store's files cannot be read or written: \(detail) (code \(code)).")
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL, SQLITE_NOMEM, SQLITE_INTERRUPT:
      self.init(.unavailable, "The store did not answer: \(detail) (code \(code)).")
    case SQLITE_CORRUPT, SQLITE_FORMAT: self.init(.unusable, "The store is damaged: \(detail).")
    case SQLITE_NOTADB: self.init(.unusable, "The file is not a store.")
    default: self.init(.unusable, "The store refused a statement: \(detail) (code \(code)).")
    }
  }

  /// A system call on the store's folder that failed with the present `errno`.
  static func system(_ kind: Kind, _ what: String, _ path: String) -> StoreFailure {
    let reason = String(cString: strerror(errno))
    return StoreFailure(kind, "Cannot \(what) \(path): \(reason).")
  }

  /// A row points to one that is not there.
  static func damaged(_ what: String) -> StoreFailure {
    StoreFailure(.unusable, "The store is damaged: \(what).")
  }
}
