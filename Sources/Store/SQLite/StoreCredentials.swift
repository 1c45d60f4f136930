package import Chat

/// Tokens and keys of a store that another process may be serving (S5).
///
/// Sound beside the gateway's writer, which keeps the log's head and the directory in memory, because nothing here is
/// part of either: a minted token or key is one row that every reader looks up anew. Each change is one short
/// transaction that waits its turn between the gateway's commits. Revoking a token has its place in the log, so it
/// takes the folder's lock and works only while nobody serves.
package final class StoreCredentials {
  /// An admin key as `key list` shows it.
  package struct Key: Sendable, Equatable {
    /// The first twelve hexadecimal digits of its SHA-256.
    package let id: String
    package let scope: String
    package let name: String
    package let createdAt: UnixSeconds
  }

  package enum KeyRevocation: Sendable, Equatable {
    case done(Key)
    case unknown
    /// More than one key begins so.
    case ambiguous
  }

  private static let idDigits = 12

  /// The id that `keys` will show for a key of this SHA-256.
  package static func keyID(ofHash hash: [UInt8]) -> String {
    hash.prefix(idDigits / 2).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private let path: String
  private let session: WriterSession

  /// - Parameter path: the data folder, which must hold a store of this program's schema version.
  package init(folder path: String) throws(StoreFailure) {
    self.path = path
    let connection = try DataFolder(path: path).openExisting(role: .visitor)
    guard try Migration(connection: connection, steps: Schema.steps).state() == .current else {
      throw StoreFailure(.unusable, "The store in \(path) has an older schema; run threadcast migrate first.")
    }
    session = try WriterSession(connection: connection)
  }

  package func mintToken(
    for uid: UserID, hash: [UInt8], expiresAt: UnixSeconds, at now: UnixSeconds
  ) throws(StoreFailure) -> Refusal? {
    try change(.mintToken(uid, hash: hash, expiresAt: expiresAt), at: now)
  }

  package func mintKey(
    hash: [UInt8], scope: KeyScope, name: String, at now: UnixSeconds
  ) throws(StoreFailure) -> Refusal? {
    try change(.mintKey(hash: hash, scope: scope, name: name), at: now)
  }

  private func change(_ change: Mutation.Change, at now: UnixSeconds) throws(StoreFailure) -> Refusal? {
    let commit = try session.commit([Mutation(actor: .application, change: change)], at: now)
    precondition(commit.head == commit.previousHead, "What is done beside a writer has no place in the log.")
    guard case .failure(let refusal) = commit.outcomes.first?.result else { return nil }
    return refusal
  }

  /// By age, oldest first.
  package func keys() throws(StoreFailure) -> [Key] {
    try session.connection.prepare(
      "SELECT lower(hex(substr(hash, 1, 6))), scope, name, created_at FROM admin_keys ORDER BY created_at, hash"
    ).all { Key(id: $0.text(0), scope: $0.text(1), name: $0.text(2), createdAt: UnixSeconds($0.integer(3))) }
  }

  /// - Parameter id: as `keys` tells it, or the beginning of it.
  package func revokeKey(id: String) throws(StoreFailure) -> KeyRevocation {
    let id = id.lowercased()
    let isHexadecimal = id.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    guard (1...Self.idDigits).contains(id.utf8.count), isHexadecimal else { return .unknown }
    let connection = session.connection
    try connection.execute("BEGIN IMMEDIATE")
    do throws(StoreFailure) {
      let named = try keys().filter { $0.id.hasPrefix(id) }
      if let key = named.first, named.count == 1 {
        try connection.prepare("DELETE FROM admin_keys WHERE lower(hex(substr(hash, 1, 6))) = ?").bind(key.id).run()
      }
      try connection.execute("COMMIT")
      guard let key = named.first else { return .unknown }
      return named.count == 1 ? .done(key) : .ambiguous
    } catch {
      if connection.isInTransaction { try connection.execute("ROLLBACK") }
      throw error
    }
  }
}

extension SQLiteStore {
  /// Revokes a token with its place in the log. The folder's lock makes sure that no gateway serves it: a running one
  /// would neither know the new head nor close the token's sessions (A3).
  ///
  /// - Returns: false when no such token is valid.
  package static func revokeToken(hash: [UInt8], folder path: String, at now: UnixSeconds) throws(StoreFailure) -> Bool
  {
    let folder = DataFolder(path: path)
    let lock = try folder.lock()
    let connection = try folder.openExisting(role: .writer)
    guard try Migration(connection: connection, steps: Schema.steps).state() == .current else {
      throw StoreFailure(.unusable, "The store in \(path) has an older schema; run threadcast migrate first.")
    }
    let writer = try SQLiteWriter(path: folder.databasePath, lock: lock)
    let commit = try writer.commit([Mutation(actor: .application, change: .revokeToken(hash: hash))], at: now)
    return commit.head != commit.previousHead
  }

  /// Brings the store to this program's schema, a step a transaction, while nobody serves the folder (S11).
  ///
  /// - Returns: the versions before and after.
  package static func migrate(folder path: String) throws(StoreFailure) -> (from: Int, to: Int) {
    try migrate(folder: path, steps: Schema.steps)
  }

  static func migrate(folder path: String, steps: [String]) throws(StoreFailure) -> (from: Int, to: Int) {
    let folder = DataFolder(path: path)
    let connection = try folder.openExisting(role: .writer)
    let migration = Migration(connection: connection, steps: steps)
    let from = try connection.integer("PRAGMA user_version")
    if try migration.state() == .behind {
      let lock = try folder.lock()
      defer { withExtendedLifetime(lock) {} }
      if try migration.state() == .behind { try migration.run() }
    }
    return (from: Int(from), to: Int(try connection.integer("PRAGMA user_version")))
  }
}
