internal import Glibc

/// Something of the store's that other users could have reached.
package struct WideRights: Sendable, Equatable {
  package let path: String
  /// In octal digits, `755`, as it was found.
  package let mode: String
  /// False when it belongs to another user, or is a folder that holds other things too.
  package let isTightened: Bool
}

/// The folder that holds one store, readable by its owner alone (S12).
struct DataFolder: Sendable {
  let path: String

  var databasePath: String { "\(path)/threadcast.sqlite" }
  private var lockPath: String { "\(path)/threadcast.lock" }

  /// Makes the folder and an empty database file where they are missing. The engine gives its side files the rights of
  /// the database file, so this one file decides for all.
  func create() throws(StoreFailure) {
    try createFolder(path)
    let descriptor = Glibc.open(databasePath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .system(.unusable, "open the store", databasePath) }
    close(descriptor)
  }

  private func createFolder(_ path: String) throws(StoreFailure) {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    if errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex {
      try createFolder(String(path[..<slash]))
      if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    }
    throw .system(.unusable, "make the data folder", path)
  }

  /// Opens the store that is there: a slip in a command's path must not make a new one.
  func openExisting(role: Connection.Role) throws(StoreFailure) -> Connection {
    guard access(databasePath, F_OK) == 0 else {
      guard errno == ENOENT || errno == ENOTDIR else { throw .system(.unusable, "open the store", databasePath) }
      throw StoreFailure(.unusable, "There is no store in \(path): check --data; threadcast serve makes a new one.")
    }
    return try Connection(path: databasePath, role: role)
  }

  /// Takes the rights of other users away where they have some (S12). The store's own files always; the folder only
  /// when it holds nothing else, since it may be somebody's home.
  func tighten() -> [WideRights] {
    let files = ["threadcast.sqlite", "threadcast.sqlite-wal", "threadcast.sqlite-shm", "threadcast.lock"]
    var findings = files.compactMap { tighten("\(path)/\($0)", to: 0o600, ifAllowed: true) }
    if let finding = tighten(path, to: 0o700, ifAllowed: holdsOnly(files)) { findings.insert(finding, at: 0) }
    return findings
  }

  private func tighten(_ path: String, to wanted: mode_t, ifAllowed isAllowed: Bool) -> WideRights? {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFLNK, status.st_mode & 0o077 != 0 else { return nil }
    let isTightened = isAllowed && chmod(path, wanted) == 0
    return WideRights(path: path, mode: String(status.st_mode & 0o7777, radix: 8), isTightened: isTightened)
  }

  private func holdsOnly(_ files: [String]) -> Bool {
    guard let folder = opendir(path) else { return false }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { start in
        start.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != "..", !files.contains(name) { return false }
    }
    return true
  }

  /// Takes the folder for this process; a second taker fails at once.
  func lock() throws(StoreFailure) -> FolderLock {
    let descriptor = Glibc.open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .system(.unusable, "open the lock file", lockPath) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let isTaken = errno == EWOULDBLOCK
      let failure = StoreFailure.system(.unusable, "lock", lockPath)
      close(descriptor)
      guard isTaken else { throw failure }
      var inUse = StoreFailure(.unusable, "The data folder \(path) is in use by another writer.")
      inUse.isInUse = true
      throw inUse
    }
    return FolderLock(descriptor: descriptor)
  }
}

/// A taken data folder; given back when this goes, and by the kernel when the process dies.
final class FolderLock: Sendable {
  private let descriptor: Int32

  fileprivate init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Whether the lock file still has a name: it goes with its folder, and so would whatever is written from then on.
  var isInPlace: Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_nlink > 0
  }
}
