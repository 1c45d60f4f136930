import Chat
import Store
import Testing

extension UserID {
  static let ann = UserID(stored: "ann")
  static let bob = UserID(stored: "bob")
  static let cyd = UserID(stored: "cyd")
  /// Known, but in no group.
  static let dan = UserID(stored: "dan")
}

extension GroupID {
  /// Public; Ann owns it, Bob and Cyd are participants.
  static let team = GroupID(stored: "team")
}

/// A fresh store with four users and a group, one writer and one reader.
final class World {
  let folder: TemporaryFolder
  let store: any Store
  let writer: any StoreWriter
  let reader: any StoreReader
  /// The time that the next commit gets.
  var now = UnixSeconds(1_772_000_000)

  init(_ engine: StoreEngine) throws {
    folder = try TemporaryFolder()
    store = try engine.open(folder.path + "/data")
    writer = try store.makeWriter()
    reader = try store.makeReader()
    for uid in [UserID.ann, .bob, .cyd, .dan] {
      try must(.application, .createUser(User(uid: uid, name: "Name of \(uid)")))
    }
    try must(.user(.ann), .createGroup(Group(guid: .team, name: "Team", owner: .ann)))
    try must(
      .user(.ann),
      .addMembers(.team, [NewMember(uid: .bob, scope: .participant), NewMember(uid: .cyd, scope: .participant)]))
  }

  // MARK: Changes

  func apply(_ actor: Actor, _ change: Mutation.Change) throws -> Outcome {
    let commit = try writer.commit([Mutation(actor: actor, change: change)], at: now)
    return try #require(commit.outcomes.first)
  }

  /// A change that has to be admitted.
  @discardableResult func must(_ actor: Actor, _ change: Mutation.Change) throws -> Outcome {
    let outcome = try apply(actor, change)
    _ = try outcome.result.get()
    return outcome
  }

  /// The refusal of a change that must not be admitted and must store nothing.
  func refusal(_ actor: Actor, _ change: Mutation.Change) throws -> Refusal {
    let before = try reader.head()
    let outcome = try apply(actor, change)
    #expect(outcome.events.isEmpty)
    #expect(try reader.head() == before)
    guard case .failure(let refusal) = outcome.result else {
      throw Unexpected(what: "admitted: \(outcome.result)")
    }
    return refusal
  }

  struct Unexpected: Error { let what: String }

  // MARK: Sending

  func outgoing(
    _ text: String, to receiver: Receiver = .group(.team), parent: MessageID? = nil, quoted: MessageID? = nil,
    muid: String = ""
  ) -> OutgoingMessage {
    OutgoingMessage(receiver: receiver, content: .text(text), parent: parent, quoted: quoted, muid: muid)
  }

  /// Sends a text that has to be admitted.
  @discardableResult func send(
    _ sender: UserID, _ text: String, to receiver: Receiver = .group(.team), parent: MessageID? = nil,
    quoted: MessageID? = nil, muid: String = ""
  ) throws -> Message {
    try sendFully(sender, text, to: receiver, parent: parent, quoted: quoted, muid: muid).fetched.message
  }

  func sendFully(
    _ sender: UserID, _ text: String, to receiver: Receiver = .group(.team), parent: MessageID? = nil,
    quoted: MessageID? = nil, muid: String = ""
  ) throws -> (fetched: FetchedMessage, events: [Event]) {
    let message = outgoing(text, to: receiver, parent: parent, quoted: quoted, muid: muid)
    let outcome = try apply(.user(sender), .sendMessage(message))
    guard case .message(let fetched) = try outcome.result.get() else { throw Unexpected(what: "not a message") }
    return (fetched, outcome.events)
  }

  func subscribe(_ uid: UserID, _ root: MessageID, _ isSubscribed: Bool = true) throws -> [Event] {
    try must(.user(uid), .setThreadSubscription(root: root, isSubscribed: isSubscribed)).events
  }

  // MARK: Reading

  func fetch(_ id: MessageID, by uid: UserID) throws -> FetchedMessage {
    try reader.message(id, actor: .user(uid)).get()
  }

  func isSubscribed(_ uid: UserID, _ root: MessageID) throws -> Bool {
    try fetch(root, by: uid).viewer.threadSubscribed
  }

  func ids(_ query: MessageQuery, by uid: UserID) throws -> [Int64] {
    try reader.messages(query, actor: .user(uid)).get().rows.map(\.message.id.value)
  }
}

extension Outcome {
  var refusal: Refusal? {
    if case .failure(let refusal) = result { refusal } else { nil }
  }

  var fetched: FetchedMessage? {
    if case .success(.message(let fetched)) = result { fetched } else { nil }
  }
}

/// The subscription changes among events, as text: "14 bob on reply".
func subscriptionChanges(_ events: [Event]) -> [String] {
  events.compactMap { event in
    guard case .threadSubscription(let change) = event.body else { return nil }
    return "\(event.seq.value) \(change.user) \(change.isSubscribed ? "on" : "off") \(change.cause.rawValue)"
  }
}
