internal import CSQLite
internal import Glibc

/// A copy of a store in one file, made while the store may be in use (S5).
///
/// The copy is one committed moment. It is made under another name, checked, given an epoch of its own (R11) so that
/// nobody resumes against it as if it were the original, and put in place whole.
package struct Backup {
  /// What was written.
  package struct Summary: Sendable, Equatable {
    package let file: String
    package let bytes: Int64
    /// The copy's own epoch.
    package let epoch: String
    /// The log's head in the copy.
    package let head: Int64
    package let schemaVersion: Int
  }

  private let folder: DataFolder

  package init(folder path: String) { folder = DataFolder(path: path) }

  /// Copies the store to `file`.
  ///
  /// - Parameter overwrites: whether a file that is there may be replaced.
  package func write(to file: String, overwrites: Bool) throws(StoreFailure) -> Summary {
    let directory = Self.directory(of: file)
    try refuseDataFolder(directory)
    // Said early, and once more by the system when the copy is put in place.
    if !overwrites, access(file, F_OK) == 0 { throw Self.isThere(file) }
    let source = try folder.openExisting(role: .reader)
    let version = try source.integer("PRAGMA user_version")
    // Throws for a file that is not ours, or is newer. An older one may well be copied: that comes before a migration.
    _ = try Migration(connection: source, steps: Schema.steps).state()

    let partial = "\(file).partial-\(getpid())"
    let descriptor = open(partial, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .system(.unavailable, "make", partial) }
    var isInPlace = false
    defer {
      close(descriptor)
      if !isInPlace { unlink(partial) }
      unlink("\(partial)-journal")
    }
    let (epoch, head) = try Self.copy(source, to: partial)
    guard fsync(descriptor) == 0 else { throw .system(.unavailable, "write", partial) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system(.unavailable, "read", partial) }
    try Self.putInPlace(partial, file, overwrites: overwrites)
    isInPlace = true
    try Self.synchronize(directory)
    return Summary(
      file: file, bytes: Int64(status.st_size), epoch: epoch, head: head, schemaVersion: Int(version))
  }

  /// Gives the finished copy its name at one stroke.
  private static func putInPlace(_ partial: String, _ file: String, overwrites: Bool) throws(StoreFailure) {
    // A link never replaces anything; where a file system has none, the early look has to do.
    if !overwrites {
      if link(partial, file) == 0 {
        unlink(partial)
        return
      }
      if errno == EEXIST { throw isThere(file) }
      guard errno == EPERM || errno == EOPNOTSUPP else { throw .system(.unavailable, "put the copy in place at", file) }
    }
    guard rename(partial, file) == 0 else { throw .system(.unavailable, "put the copy in place at", file) }
  }

  private static func isThere(_ file: String) -> StoreFailure {
    StoreFailure(.unavailable, "\(file) is there already; choose another name, or replace it with --force.")
  }

  private static func directory(of file: String) -> String {
    guard let slash = file.lastIndex(of: "/") else { return "." }
    return slash == file.startIndex ? "/" : String(file[..<slash])
  }

  /// A copy inside the data folder could take the place of the store, and would be lost with it.
  private func refuseDataFolder(_ directory: String) throws(StoreFailure) {
    var here = stat()
    var data = stat()
    guard stat(directory, &here) == 0 else { throw .system(.unavailable, "write into", directory) }
    guard stat(folder.path, &data) == 0 else { return }
    if here.st_dev == data.st_dev, here.st_ino == data.st_ino {
      throw StoreFailure(.unavailable, "A backup does not belong into the data folder \(folder.path); choose another.")
    }
  }

  /// Fills the empty file at `path` and finishes it: one file without a write-ahead log.
  private static func copy(_ source: Connection, to path: String) throws(StoreFailure) -> (epoch: String, head: Int64) {
    let copy = try Connection(path: path, role: .copy)
    try copy.fill(from: source)
    // The pages say that there is a write-ahead log; a copy has none to be lost.
    let mode = try copy.prepare("PRAGMA journal_mode = DELETE").first { $0.text(0) }
    guard mode == "delete" else { throw StoreFailure(.unavailable, "The copy could not be closed into one file.") }
    let verdict = try copy.prepare("PRAGMA quick_check(1)").first { $0.text(0) }
    guard verdict == "ok" else { throw .damaged(verdict ?? "the check says nothing") }
    let epoch = SQLiteStore.newEpoch()
    try copy.prepare("UPDATE meta SET epoch = ?").bind(epoch).run()
    guard try copy.prepare("SELECT epoch FROM meta").first({ $0.text(0) }) == epoch else {
      throw .damaged("it has no epoch")
    }
    return (epoch, try copy.integer("SELECT seq FROM log ORDER BY seq DESC LIMIT 1"))
  }

  /// Makes the new name last.
  private static func synchronize(_ directory: String) throws(StoreFailure) {
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(.unavailable, "open", directory) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .system(.unavailable, "write", directory) }
  }
}
