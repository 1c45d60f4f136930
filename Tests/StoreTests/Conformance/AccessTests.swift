import Chat
import Store
import Testing

@Suite("A1, A2, R11 · Tokens, keys, the epoch")
struct AccessTests {
  private static let hash = [UInt8](repeating: 7, count: 32)
  private static let otherHash = [UInt8](0..<32)

  @Test(arguments: StoreEngine.all)
  func A1_aTokenNamesItsUser(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let end = UnixSeconds(world.now.value + 60)
    #expect(try world.reader.tokenHolder(hash: Self.hash, now: world.now) == nil)
    try world.must(.application, .mintToken(.ann, hash: Self.hash, expiresAt: end))
    try world.must(.application, .mintToken(.bob, hash: Self.otherHash, expiresAt: .never))
    let holder = try #require(try world.reader.tokenHolder(hash: Self.hash, now: world.now))
    #expect(holder.user.uid == .ann)
    #expect(holder.standing == .valid)
    #expect(holder.expiresAt == end)
    let justBefore = UnixSeconds(end.value - 1)
    #expect(try world.reader.tokenHolder(hash: Self.hash, now: justBefore)?.standing == .valid)
    #expect(try world.reader.tokenHolder(hash: Self.hash, now: end)?.standing == .expired)
    let farAway = UnixSeconds(9_999_999_999)
    #expect(try world.reader.tokenHolder(hash: Self.otherHash, now: farAway)?.standing == .valid)
    #expect(try world.reader.tokenHolder(hash: Array(Self.hash.dropLast()), now: world.now) == nil)
  }

  @Test(arguments: StoreEngine.all)
  func A1_onlyTheApplicationMints(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let mint = Mutation.Change.mintToken(.ann, hash: Self.hash, expiresAt: .never)
    #expect(try world.refusal(.user(.ann), mint).code == .noAccess)
    let key = Mutation.Change.mintKey(hash: Self.hash, scope: .fullAccess, name: "k")
    #expect(try world.refusal(.user(.ann), key).code == .noAccess)
    let nobody = UserID(stored: "nobody")
    #expect(
      try world.refusal(.application, .mintToken(nobody, hash: Self.hash, expiresAt: .never)).code == .uidNotFound)
    #expect(try world.reader.tokenHolder(hash: Self.hash, now: world.now) == nil)
  }

  @Test(arguments: StoreEngine.all)
  func A1_aHashBelongsToOneUserForGood(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let end = UnixSeconds(world.now.value + 60)
    try world.must(.application, .mintToken(.ann, hash: Self.hash, expiresAt: .never))
    try world.must(.application, .mintToken(.ann, hash: Self.hash, expiresAt: end))
    #expect(try world.reader.tokenHolder(hash: Self.hash, now: world.now)?.expiresAt == end)
    let stolen = Mutation.Change.mintToken(.bob, hash: Self.hash, expiresAt: .never)
    #expect(try world.refusal(.application, stolen).details == [.field("token")])
    try world.must(.application, .revokeToken(hash: Self.hash))
    let revived = Mutation.Change.mintToken(.ann, hash: Self.hash, expiresAt: .never)
    #expect(try world.refusal(.application, revived).details == [.field("token")])
  }

  @Test(arguments: StoreEngine.all)
  func R8_revokingIsAnEventOnce(_ engine: StoreEngine) throws {
    let world = try World(engine)
    try world.must(.application, .mintToken(.ann, hash: Self.hash, expiresAt: .never))
    let head = try world.reader.head().value
    // Somebody else's attempt does nothing and tells nothing.
    #expect(try world.must(.user(.bob), .revokeToken(hash: Self.hash)).events.isEmpty)
    #expect(try world.reader.tokenHolder(hash: Self.hash, now: world.now)?.standing == .valid)
    let events = try world.must(.user(.ann), .revokeToken(hash: Self.hash)).events
    #expect(events == [Event(seq: Seq(head + 1), body: .tokensRevoked(.ann, tokenHash: Self.hash))])
    #expect(try world.reader.tokenHolder(hash: Self.hash, now: world.now)?.standing == .revoked)
    #expect(try world.must(.application, .revokeToken(hash: Self.hash)).events.isEmpty)
    #expect(try world.must(.application, .revokeToken(hash: Self.otherHash)).events.isEmpty)
  }

  @Test(arguments: StoreEngine.all)
  func A2_aKeyHasAScope(_ engine: StoreEngine) throws {
    let world = try World(engine)
    #expect(try world.reader.keyScope(hash: Self.hash) == nil)
    try world.must(.application, .mintKey(hash: Self.hash, scope: .authOnly, name: "k"))
    try world.must(.application, .mintKey(hash: Self.otherHash, scope: .fullAccess, name: "other"))
    #expect(try world.reader.keyScope(hash: Self.hash) == .authOnly)
    #expect(try world.reader.keyScope(hash: Self.otherHash) == .fullAccess)
    try world.must(.application, .mintKey(hash: Self.hash, scope: .fullAccess, name: "k"))
    #expect(try world.reader.keyScope(hash: Self.hash) == .fullAccess)
  }

  @Test(arguments: StoreEngine.all)
  func A2_theSystemUserIsThereFromTheStart(_ engine: StoreEngine) throws {
    let folder = try TemporaryFolder()
    let reader = try engine.open(folder.path + "/data").makeReader()
    #expect(try reader.user(.application)?.uid == .application)
    #expect(try reader.head() == .none)
  }

  @Test(arguments: StoreEngine.all)
  func R11_theEpochIsTheStoresOwn(_ engine: StoreEngine) throws {
    let folder = try TemporaryFolder()
    let a = try engine.open(folder.path + "/a").epoch
    let b = try engine.open(folder.path + "/b").epoch
    #expect(a != b)
    #expect(a.count == 32)
    #expect(try engine.open(folder.path + "/a").epoch == a)
  }

  @Test(arguments: StoreEngine.all)
  func S10_aWorkingStoreIsWritableAndProbingTakesNoPosition(_ engine: StoreEngine) throws {
    let world = try World(engine)
    let head = try world.reader.head()
    #expect(world.writer.isWritable())
    #expect(world.writer.isWritable())
    #expect(try world.reader.head() == head)
    #expect(try world.send(.ann, "next").id.value == head.value + 1)
  }
}
