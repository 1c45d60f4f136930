import Chat
import Foundation
import Store
import Testing

@testable import Store

@Suite("S5 · Tokens and keys beside a writer")
struct StoreCredentialsTests {
  private static let now = UnixSeconds(1_772_000_000)

  private func folder(_ world: World) -> String { world.folder.path + "/data" }

  @Test func S5_A1_aTokenIsMintedWhileAWriterIsOpen() throws {
    let world = try World(.sqlite)
    try world.send(.ann, "before")
    let head = try world.reader.head()
    let credentials = try StoreCredentials(folder: folder(world))
    #expect(try credentials.mintToken(for: .ann, hash: [1, 2], expiresAt: UnixSeconds(9), at: Self.now) == nil)
    let holder = try #require(try world.reader.tokenHolder(hash: [1, 2], now: UnixSeconds(8)))
    #expect(holder.user.uid == .ann && holder.standing == .valid && holder.expiresAt == UnixSeconds(9))
    // The writer goes on where it was.
    #expect(try world.reader.head() == head)
    #expect(try world.send(.ann, "after").id.value == head.value + 1)
  }

  @Test func S5_A1_refusalsOfMinting() throws {
    let world = try World(.sqlite)
    let credentials = try StoreCredentials(folder: folder(world))
    let nobody = UserID(stored: "nobody")
    #expect(try credentials.mintToken(for: nobody, hash: [1], expiresAt: .never, at: Self.now)?.code == .uidNotFound)
    let refused = try credentials.mintToken(for: .application, hash: [1], expiresAt: .never, at: Self.now)
    #expect(refused?.code == .badRequest && refused?.details == [.field("uid")])
    #expect(try world.reader.tokenHolder(hash: [1], now: Self.now) == nil)
  }

  @Test func A2_theSystemUserHasNoTokens() throws {
    let world = try World(.sqlite)
    let refusal = try world.refusal(.application, .mintToken(.application, hash: [7], expiresAt: .never))
    #expect(refusal.code == .badRequest && refusal.message == "The system user has no tokens.")
  }

  @Test func S5_A2_keysAreMintedListedAndRevoked() throws {
    let world = try World(.sqlite)
    let credentials = try StoreCredentials(folder: folder(world))
    let first: [UInt8] = [0x0A, 0xBC, 0xDE, 0xF0, 0x12, 0x34, 0xFF]
    let second: [UInt8] = [0x0A, 0xBC, 0xDE, 0xF0, 0x12, 0x35, 0x00]
    #expect(try credentials.mintKey(hash: first, scope: .fullAccess, name: "backend", at: Self.now) == nil)
    #expect(try credentials.mintKey(hash: second, scope: .authOnly, name: "", at: UnixSeconds(1_772_000_001)) == nil)
    #expect(try world.reader.keyScope(hash: first) == .fullAccess)
    #expect(StoreCredentials.keyID(ofHash: first) == "0abcdef01234")
    #expect(
      try credentials.keys() == [
        .init(id: "0abcdef01234", scope: "fullAccess", name: "backend", createdAt: Self.now),
        .init(id: "0abcdef01235", scope: "authOnly", name: "", createdAt: UnixSeconds(1_772_000_001)),
      ])
    #expect(try credentials.revokeKey(id: "0abc") == .ambiguous)
    #expect(try credentials.revokeKey(id: "ff") == .unknown)
    for id in ["", "'", "0abcdef012345", "%"] { #expect(try credentials.revokeKey(id: id) == .unknown) }
    #expect(
      try credentials.revokeKey(id: "0ABCDEF01235")
        == .done(.init(id: "0abcdef01235", scope: "authOnly", name: "", createdAt: UnixSeconds(1_772_000_001))))
    #expect(try world.reader.keyScope(hash: second) == nil)
    #expect(try world.reader.keyScope(hash: first) == .fullAccess)
  }

  /// Whatever the writer does in between, every mint and every send is there.
  @Test func S5_mintsAndSendsAtOnceLoseNothing() async throws {
    let world = try World(.sqlite)
    let path = folder(world)
    let minting = Task.detached {
      for number in 0..<60 {
        let hash = [UInt8](repeating: UInt8(number), count: 32)
        let refusal = try StoreCredentials(folder: path).mintToken(
          for: .bob, hash: hash, expiresAt: .never, at: Self.now)
        #expect(refusal == nil)
      }
    }
    var sent: [Int64] = []
    for number in 0..<400 { sent.append(try world.send(.ann, "\(number)").id.value) }
    try await minting.value
    sent.append(try world.send(.ann, "last").id.value)
    let first = try #require(sent.first)
    #expect(sent == Array(first..<first + 401))
    for number in 0..<60 {
      let hash = [UInt8](repeating: UInt8(number), count: 32)
      #expect(try world.reader.tokenHolder(hash: hash, now: Self.now)?.user.uid == .bob)
    }
  }

  @Test func A3_S5_revokingATokenNeedsTheFolderForItself() throws {
    var world: World? = try World(.sqlite)
    let kept = try #require(world?.folder)
    defer { withExtendedLifetime(kept) {} }
    let path = kept.path + "/data"
    try world?.must(.application, .mintToken(.ann, hash: [5], expiresAt: .never))
    do {
      _ = try SQLiteStore.revokeToken(hash: [5], folder: path, at: Self.now)
      Issue.record("A writer holds the folder.")
    } catch {
      #expect(error.isInUse && error.message == "The data folder \(path) is in use by another writer.")
    }
    world = nil
    #expect(try SQLiteStore.revokeToken(hash: [5], folder: path, at: Self.now))
    #expect(try !SQLiteStore.revokeToken(hash: [5], folder: path, at: Self.now))
    #expect(try !SQLiteStore.revokeToken(hash: [6], folder: path, at: Self.now))
    let reader = try SQLiteStore.open(folder: path).makeReader()
    #expect(try reader.tokenHolder(hash: [5], now: Self.now)?.standing == .revoked)
  }

  @Test func S5_aFolderWithoutAStoreIsNotMadeIntoOne() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/nowhere"
    let expected = "There is no store in \(path): check --data; threadcast serve makes a new one."
    func message(_ body: () throws -> Void) -> String? {
      do {
        try body()
        return nil
      } catch { return (error as? StoreFailure)?.message }
    }
    #expect(message { _ = try StoreCredentials(folder: path) } == expected)
    #expect(message { _ = try SQLiteStore.migrate(folder: path) } == expected)
    #expect(message { _ = try Backup(folder: path).write(to: folder.path + "/copy", overwrites: false) } == expected)
    #expect(message { _ = try SQLiteStore.revokeToken(hash: [1], folder: path, at: Self.now) } != nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }
}
