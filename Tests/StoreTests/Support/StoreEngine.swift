import Foundation
import Store
import Testing

/// An engine under the conformance suite: every test of it runs over each of `all`.
struct StoreEngine: Sendable, CustomTestStringConvertible {
  let name: String
  /// Opens the store in the folder, which exists and is the test's own.
  let open: @Sendable (String) throws -> any Store

  var testDescription: String { name }

  static let sqlite = StoreEngine(name: "SQLite") { try SQLiteStore.open(folder: $0) }

  static let all = [sqlite]
}

/// A folder that goes when its last user goes.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "threadcast-store-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      Issue.record("The folder \(path) stays behind: \(error)")
    }
  }
}
