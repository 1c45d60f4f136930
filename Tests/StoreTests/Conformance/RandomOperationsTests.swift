import Chat
import Store
import Testing

/// The same numbers from the same seed, everywhere (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// What the clauses say, kept in the plainest way: lists that are counted anew for every question.
private struct Model {
  struct Sent {
    let id: Int64
    let author: UserID
    let root: Int64?
    var isAction = false
    var isDeleted = false
    /// As the text says, whoever is there.
    var mentioned: [UserID] = []
  }

  var messages: [Sent] = []
  /// Who is in, and since which position.
  var members: [UserID: Int64] = [:]
  var everMembers: Set<UserID> = []
  /// The admitted sends, to be repeated.
  var admitted: [Mutation] = []
  var muids: Set<String> = []
  /// The last word of a user on a thread.
  var words: [UserID: [Int64: Bool]] = [:]

  func author(_ root: Int64) -> UserID? { messages.first { $0.id == root }?.author }

  func find(_ id: Int64) -> Sent? { messages.first { $0.id == id } }

  func replyCount(_ root: Int64) -> Int { messages.count { $0.root == root && !$0.isAction && !$0.isDeleted } }

  mutating func change(_ id: Int64, _ body: (inout Sent) -> Void) {
    if let index = messages.firstIndex(where: { $0.id == id }) { body(&messages[index]) }
  }

  func isSubscribed(_ uid: UserID, _ root: Int64) -> Bool {
    if let word = words[uid]?[root] { return word }
    return author(root) == uid && root > (members[uid] ?? .max)
  }

  func unread(_ uid: UserID, _ root: Int64) -> Int {
    guard isSubscribed(uid, root), find(root)?.isDeleted == false else { return 0 }
    return messages.count {
      $0.root == root && $0.author != uid && $0.id > (members[uid] ?? .max) && !$0.isAction && !$0.isDeleted
    }
  }

  /// Returns whether the state is another one now.
  mutating func say(_ uid: UserID, _ root: Int64, _ isSubscribed: Bool) -> Bool {
    let before = self.isSubscribed(uid, root)
    words[uid, default: [:]][root] = isSubscribed
    return before != isSubscribed
  }
}

@Suite("C109, M14, T4–T9 · Random operations")
struct RandomOperationsTests {
  private static let people: [UserID] = [.ann, .bob, .cyd, .dan]

  @Test(arguments: StoreEngine.all, [1, 2, 3] as [UInt64])
  func C109_countersEqualARecount(_ engine: StoreEngine, _ seed: UInt64) throws {
    let world = try World(engine)
    var generator = SeededGenerator(state: seed)
    var model = Model()
    model.members = [.ann: 1, .bob: 2, .cyd: 3]
    model.everMembers = [.ann, .bob, .cyd]
    for round in 0..<90 {
      let count = Int.random(in: 1...40, using: &generator)
      var batch: [Mutation] = []
      var texts: [[UserID]] = []
      let head = try world.reader.head().value
      for number in 0..<count {
        let (mutation, mentioned) = self.mutation(world, model, "\(round) \(number)", &generator)
        batch.append(mutation)
        texts.append(mentioned)
      }
      let commit = try world.writer.commit(batch, at: world.now)
      #expect(commit.previousHead.value == head)
      var position = head
      for (index, outcome) in commit.outcomes.enumerated() {
        let events = expected(batch[index], mentioned: texts[index], &model, position: &position)
        #expect(events == summary(outcome), "seed \(seed), round \(round), \(batch[index])")
      }
      #expect(commit.head.value == position)
      if round % 6 == 5 { try check(world, model, "seed \(seed), round \(round)") }
    }
    #expect(model.messages.count > 250)
  }

  private func mutation(
    _ world: World, _ model: Model, _ text: String, _ generator: inout SeededGenerator
  ) -> (Mutation, [UserID]) {
    let uid = Self.people[Int.random(in: 0..<4, using: &generator)]
    let known = model.messages.filter { $0.root == nil || $0.id % 8 == 0 }
    let any = known.randomElement(using: &generator).map { MessageID($0.id) }
    switch Int.random(in: 0..<20, using: &generator) {
    case 0: return (Mutation(actor: .user(uid), change: .leaveGroup(.team)), [])
    case 1:
      let added = Self.people[Int.random(in: 0..<4, using: &generator)]
      let member = NewMember(uid: added, scope: .participant)
      return (Mutation(actor: .user(.ann), change: .addMembers(.team, [member])), [])
    case 2: return (Mutation(actor: .user(.ann), change: .kickMember(.team, uid)), [])
    case 3...6 where any != nil:
      let root = any ?? MessageID(1)
      let wish = Bool.random(using: &generator)
      return (Mutation(actor: .user(uid), change: .setThreadSubscription(root: root, isSubscribed: wish)), [])
    case 8 where any != nil:
      return (Mutation(actor: .user(uid), change: .deleteMessage(any ?? MessageID(1))), [])
    case 9...10 where any != nil:
      let mentioned = Self.people.filter { _ in Int.random(in: 0..<4, using: &generator) == 0 }
      let tokens = mentioned.map { " <@uid:\($0)>" }.joined()
      return (
        Mutation(actor: .user(uid), change: .editMessage(any ?? MessageID(1), MessageEdit(text: text + tokens))),
        mentioned
      )
    case 7 where !model.admitted.isEmpty:
      let repeated = model.admitted[Int.random(in: 0..<model.admitted.count, using: &generator)]
      return (repeated, [])
    default:
      let mentioned = Self.people.filter { _ in Int.random(in: 0..<8, using: &generator) == 0 }
      let tokens = mentioned.map { " <@uid:\($0)>" }.joined()
      let parent = Int.random(in: 0..<4, using: &generator) == 0 ? nil : any
      let message = world.outgoing(text + tokens, parent: parent, muid: text)
      return (Mutation(actor: .user(uid), change: .sendMessage(message)), mentioned)
    }
  }

  /// What an outcome must say, as text; moves the model.
  private func expected(
    _ mutation: Mutation, mentioned: [UserID], _ model: inout Model, position: inout Int64
  ) -> [String] {
    let uid = mutation.actor.uid
    switch mutation.change {
    case .leaveGroup:
      guard model.members[uid] != nil else { return ["ERR_GROUP_NOT_JOINED"] }
      if uid == .ann { return ["ERR_GROUP_NO_CLEARANCE"] }
      return leave(uid, &model, &position)
    case .kickMember(_, let target):
      guard model.members[target] != nil else { return ["ERR_GROUP_NOT_JOINED"] }
      if target == .ann { return ["ERR_GROUP_NO_CLEARANCE"] }
      return leave(target, &model, &position)
    case .addMembers(_, let members):
      guard let added = members.first?.uid, model.members[added] == nil else { return [] }
      position += 1
      model.members[added] = position
      model.everMembers.insert(added)
      return ["\(position) member \(added)"]
    case .setThreadSubscription(let id, let isSubscribed):
      guard model.members[uid] != nil else { return [model.everMembers.contains(uid) ? "no access" : "unseen"] }
      guard let sent = model.find(id.value), !sent.isDeleted else { return ["unseen"] }
      guard sent.root == nil, !sent.isAction else { return ["ERR_INVALID_PARENT_MESSAGE_ID"] }
      guard model.say(uid, id.value, isSubscribed) else { return [] }
      position += 1
      return ["\(position) \(uid) \(isSubscribed)"]
    case .sendMessage(let message):
      if model.muids.contains(message.muid) { return [] }
      guard model.members[uid] != nil else { return ["ERR_GROUP_NOT_JOINED"] }
      if let parent = message.parent, let root = model.find(parent.value) {
        if root.isDeleted { return ["ERR_MESSAGE_NOT_FOUND"] }
        if root.root != nil || root.isAction { return ["ERR_WRONG_MESSAGE_THREAD"] }
      }
      model.muids.insert(message.muid)
      model.admitted.append(mutation)
      return send(uid, root: message.parent?.value, mentioned, &model, &position)
    case .editMessage(let id, _): return change(id.value, by: uid, mentioned, &model, &position)
    case .deleteMessage(let id): return change(id.value, by: uid, nil, &model, &position)
    default:
      return ["not among these operations"]
    }
  }

  private func leave(_ uid: UserID, _ model: inout Model, _ position: inout Int64) -> [String] {
    position += 1
    model.members[uid] = nil
    model.words[uid] = nil
    return ["\(position) member \(uid)"]
  }

  private func send(
    _ uid: UserID, root: Int64?, _ mentioned: [UserID], _ model: inout Model, _ position: inout Int64
  ) -> [String] {
    position += 1
    let id = position
    var events = ["\(id) message"]
    model.messages.append(
      Model.Sent(id: id, author: uid, root: root, mentioned: mentioned.filter { model.members[$0] != nil }))
    let followers = (root == nil ? [] : [uid]) + mentioned.filter { $0 != uid && model.members[$0] != nil }
    for follower in followers where !model.isSubscribed(follower, root ?? id) {
      _ = model.say(follower, root ?? id, true)
      position += 1
      events.append("\(position) \(follower) true")
    }
    return events
  }

  /// `mentioned` nil is a deletion.
  private func change(
    _ id: Int64, by uid: UserID, _ mentioned: [UserID]?, _ model: inout Model, _ position: inout Int64
  ) -> [String] {
    guard model.members[uid] != nil else { return [model.everMembers.contains(uid) ? "no access" : "unseen"] }
    guard let sent = model.find(id), !sent.isDeleted else { return ["unseen"] }
    if sent.isAction { return ["ERR_MESSAGE_ACTION_NOT_ALLOWED"] }
    guard sent.author == uid || uid == .ann else { return ["ERR_MESSAGE_NOT_A_SENDER"] }
    position += 2
    model.messages.append(Model.Sent(id: position - 1, author: uid, root: sent.root, isAction: true))
    var events = ["\(position - 1) message", "\(position) \(mentioned == nil ? "deleted" : "edited") \(id)"]
    let present = (mentioned ?? []).filter { model.members[$0] != nil }
    model.change(id) { message in
      message.isDeleted = mentioned == nil
      message.mentioned = present
    }
    let root = sent.root ?? id
    guard model.find(root)?.isDeleted == false else { return events }
    for person in present where !sent.mentioned.contains(person) && !model.isSubscribed(person, root) {
      _ = model.say(person, root, true)
      position += 1
      events.append("\(position) \(person) true")
    }
    return events
  }

  private func summary(_ outcome: Outcome) -> [String] {
    if let refusal = outcome.refusal {
      switch refusal.code {
      case .messageNoAccess: return ["no access"]
      case .messageIDNotFound: return ["unseen"]
      default: return [refusal.code.rawValue]
      }
    }
    return outcome.events.map { event in
      switch event.body {
      case .message(let message): "\(message.id.value) message"
      case .messageChanged(let change): "\(event.seq.value) \(change.kind.rawValue) \(change.message.id.value)"
      case .reaction(let change): "\(event.seq.value) \(change.reaction)"
      case .threadSubscription(let change): "\(event.seq.value) \(change.user) \(change.isSubscribed)"
      case .groupMember(let change): "\(event.seq.value) member \(change.user.uid)"
      case .tokensRevoked: "\(event.seq.value) revoked"
      }
    }
  }

  /// Every message as each member sees it.
  private func check(_ world: World, _ model: Model, _ place: Comment) throws {
    for uid in model.members.keys {
      var rows: [FetchedMessage] = []
      var query = MessageQuery(place: .group(.team), direction: .after, limit: 100)
      while true {
        let page = try world.reader.messages(query, actor: .user(uid)).get()
        rows += page.rows
        query.edge = page.nextID
        guard page.hasMore else { break }
      }
      #expect(rows.map(\.message.id.value) == model.messages.map(\.id), place)
      for (row, sent) in zip(rows, model.messages) {
        let root = sent.root ?? sent.id
        #expect(row.message.replyCount == (sent.root == nil ? model.replyCount(sent.id) : 0), place)
        #expect(row.viewer.threadSubscribed == model.isSubscribed(uid, root), place)
        #expect(row.viewer.unreadRepliesCount == model.unread(uid, root), place)
      }
    }
  }
}
