internal import Glibc

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

  /// Takes the folder for this process; a second taker fails at once.
  func lock() throws(StoreFailure) -> FolderLock {
    let descriptor = Glibc.open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .system(.unusable, "open the lock file", lockPath) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let isTaken = errno == EWOULDBLOCK
      let failure = StoreFailure.system(.unusable, "lock", lockPath)
      close(descriptor)
      throw isTaken ? StoreFailure(.unusable, "The data folder \(path) is in use by another writer.") : failure
    }
    return FolderLock(descriptor: descriptor, path: lockPath)
  }
}

/// A taken data folder; given back when this goes, and by the kernel when the process dies.
final class FolderLock: Sendable {
  private let descriptor: Int32

  private let path: String

  fileprivate init(descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  deinit { close(descriptor) }

  /// Whether the lock file still stands under its name: it goes with its folder, deleted or moved away, and so would
  /// whatever is written from then on.
  var isInPlace: Bool {
    var held = stat()
    var named = stat()
    return fstat(descriptor, &held) == 0 && lstat(path, &named) == 0 && held.st_ino == named.st_ino
      && held.st_dev == named.st_dev
  }
}
