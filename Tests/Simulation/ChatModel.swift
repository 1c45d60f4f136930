import Chat
import Store

/// A request of one connection of the run.
struct RequestKey: Hashable {
  var connection: Int
  var request: Int64
}

/// What a message means to the promises, read off the log.
struct MessageFact {
  var id: Int64
  var sender: UserID
  var conversation: Conversation
  /// 0 for a root.
  var root: Int64
  var mentions: [UserID]
  var text: String
  var isAction = false
  var isDeleted = false

  func isPair(with user: UserID) -> Bool {
    if case .oneOnOne(let a, let b) = conversation { return a == user || b == user }
    return false
  }
}

/// A position of the log.
struct LogEntry: CustomStringConvertible {
  enum Body {
    case message(MessageFact)
    /// The message as it was then, and whom it no longer mentions.
    case change(MessageChange.Kind, MessageFact, formerMentions: [UserID])
    case reaction(MessageFact, String, by: UserID, isAdded: Bool)
    case subscription(user: UserID, root: Int64, conversation: Conversation, isSubscribed: Bool, isExplicit: Bool)
    case membership(group: GroupID, user: UserID, action: MembershipAction)
    case revocation
  }
  var seq: Int64
  var body: Body
  /// The request that caused it, when a session made it.
  var origin: RequestKey?

  var description: String {
    switch body {
    case .message(let message):
      "\(message.sender) in \(message.conversation.id): \(message.text.prefix(24))"
        + (message.root == 0 ? "" : " (reply to \(message.root))")
        + (message.mentions.isEmpty ? "" : " (mentions \(message.mentions.map(\.text).joined(separator: " ")))")
    case .change(let kind, let message, let former):
      "message \(message.id) \(kind.rawValue): \(message.text.prefix(24))"
        + (message.mentions.isEmpty ? "" : " (mentions \(message.mentions.map(\.text).joined(separator: " ")))")
        + (former.isEmpty ? "" : " (no longer \(former.map(\.text).joined(separator: " ")))")
    case .reaction(let message, let reaction, let user, let isAdded):
      "\(user) \(isAdded ? "reacts to" : "takes back from") message \(message.id): \(reaction)"
    case .subscription(let user, let root, _, let isSubscribed, let isExplicit):
      "\(user) \(isSubscribed ? "follows" : "leaves") thread \(root)\(isExplicit ? "" : " by itself")"
    case .membership(let group, let user, let action): "\(user) \(action.rawValue) in \(group)"
    case .revocation: "a token ends"
    }
  }
}

/// What became of a request, as committed.
struct CommittedOutcome {
  /// The message's id, 0 for other requests.
  var id: Int64
  var refusal: RefusalCode?
  /// A send that was stored before, under the same muid.
  var isRepeat: Bool
}

/// Conversations, memberships, threads and subscriptions as the clauses D, M and T tell them, fed with the log alone.
final class ChatModel {
  struct Period {
    var from: Int64
    var to: Int64?
    func contains(_ seq: Int64) -> Bool { seq >= from && seq <= to ?? .max }
  }

  private struct MuidKey: Hashable {
    var sender: UserID
    var muid: String
  }

  private struct WordKey: Hashable {
    var user: UserID
    var root: Int64
  }

  let trace: Trace
  private(set) var log: [LogEntry] = []
  private(set) var head: Int64 = 0
  private(set) var outcomes: [RequestKey: CommittedOutcome] = [:]
  /// As they are now.
  private(set) var messages: [Int64: MessageFact] = [:]
  /// As they were one after another.
  private(set) var versions: [Int64: [MessageFact]] = [:]
  /// What can be edited, deleted and replied to: no actions.
  private(set) var sent: [Int64] = []
  /// Replies of a root, ascending; no actions.
  private var replies: [Int64: [Int64]] = [:]
  /// Who reacted to a message with what.
  private var reactions: [Int64: [String: Set<UserID>]] = [:]
  /// Where a thread stood from each position on (R3).
  private(set) var progress: [Int64: [(seq: Int64, count: Int, last: Int64)]] = [:]
  private(set) var roots: [Int64] = []
  private var periods: [GroupID: [UserID: [Period]]] = [:]
  private var muids: [MuidKey: (id: Int64, text: String)] = [:]
  /// The stored words on threads; nil is "forgotten" (T9).
  private var words: [WordKey: [(seq: Int64, word: Bool?)]] = [:]
  var owner = UserID(stored: "u0")

  init(trace: Trace) { self.trace = trace }

  // MARK: Questions

  func entry(at seq: Int64) -> LogEntry? {
    let index = firstIndex(after: seq - 1)
    return index < log.count && log[index].seq == seq ? log[index] : nil
  }

  /// The place of the first entry above `seq`.
  func firstIndex(after seq: Int64) -> Int {
    var low = 0
    var high = log.count
    while low < high {
      let middle = (low + high) / 2
      if log[middle].seq > seq { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// The membership that `seq` lies in, its own first and last event included.
  func period(of user: UserID, in group: GroupID, at seq: Int64) -> Period? {
    periods[group]?[user]?.last { $0.contains(seq) }
  }

  func isMember(_ user: UserID, of group: GroupID) -> Bool { period(of: user, in: group, at: .max) != nil }

  /// Where the user's last membership ended; nil while it lasts, `.min` when there was none.
  func lastEnd(of user: UserID, in group: GroupID) -> Int64? {
    guard let last = periods[group]?[user]?.last else { return .min }
    return last.to
  }

  func isParticipant(_ user: UserID, of conversation: Conversation) -> Bool {
    switch conversation {
    case .oneOnOne(let a, let b): a == user || b == user
    case .group(let group): isMember(user, of: group)
    }
  }

  /// T5, T9: whether the user follows the thread once everything up to `seq` has happened.
  func isSubscribed(_ user: UserID, to root: Int64, upTo seq: Int64 = .max) -> Bool {
    if let last = words[WordKey(user: user, root: root)]?.last(where: { $0.seq <= seq }) {
      if let word = last.word { return word }
    }
    guard let message = messages[root], message.sender == user else { return false }
    guard case .group(let group) = message.conversation else { return true }
    // The membership at `seq`, not one that ends there.
    let joined = periods[group]?[user]?.last { $0.from <= seq }
    guard let joined, joined.to.map({ $0 > seq }) ?? true else { return false }
    return root > joined.from
  }

  /// Whether it was so at any time, and at all times, of the window.
  func subscription(_ user: UserID, to root: Int64, from: Int64, to: Int64) -> (ever: Bool, always: Bool) {
    var states = [isSubscribed(user, to: root, upTo: from)]
    let changes = words[WordKey(user: user, root: root)]?.filter { $0.seq > from && $0.seq <= to } ?? []
    for change in changes { states.append(isSubscribed(user, to: root, upTo: change.seq)) }
    states.append(isSubscribed(user, to: root, upTo: to))
    return (states.contains(true), !states.contains(false))
  }

  // MARK: The log grows

  /// Takes in a durable batch, and holds it against the rules.
  func committed(_ batch: [Mutation], _ commit: Commit, origins: [RequestKey?]) {
    if commit.previousHead.value < head { trace.fail("M1: the log went back from \(head)") }
    if commit.outcomes.count != batch.count {
      trace.fail("a batch of \(batch.count) has \(commit.outcomes.count) outcomes")
    }
    for (index, (mutation, outcome)) in zip(batch, commit.outcomes).enumerated() {
      let origin = index < origins.count ? origins[index] : nil
      judge(mutation, outcome, origin)
      for event in outcome.events { append(event, origin) }
    }
    head = max(head, commit.head.value)
  }

  private func append(_ event: Event, _ origin: RequestKey?) {
    let seq = event.seq.value
    if seq <= log.last?.seq ?? 0 { trace.fail("M1: seq \(seq) after \(log.last?.seq ?? 0)") }
    let body: LogEntry.Body
    switch event.body {
    case .message(let message):
      let fact = Self.fact(message)
      if fact.id != seq { trace.fail("M1: message \(fact.id) has seq \(seq)") }
      remember(fact)
      if !fact.isAction {
        sent.append(fact.id)
        if fact.root == 0 {
          roots.append(fact.id)
        } else {
          replies[fact.root, default: []].append(fact.id)
          progress(of: fact.root, at: seq)
        }
      }
      if !message.muid.isEmpty { muids[MuidKey(sender: fact.sender, muid: message.muid)] = (fact.id, fact.text) }
      body = .message(fact)
    case .messageChanged(let change):
      let fact = Self.fact(change.message)
      remember(fact)
      if fact.root != 0 { progress(of: fact.root, at: seq) }
      body = .change(change.kind, fact, formerMentions: change.formerMentions)
    case .reaction(let change):
      let fact = Self.fact(change.message)
      let user = change.user.uid
      if change.isAdded {
        reactions[fact.id, default: [:]][change.reaction, default: []].insert(user)
      } else {
        reactions[fact.id]?[change.reaction]?.remove(user)
      }
      let counts = Dictionary(uniqueKeysWithValues: change.message.reactions.map { ($0.reaction, $0.count) })
      let expected = reactions[fact.id]?.mapValues(\.count).filter { $0.value > 0 } ?? [:]
      expect(counts == expected, "M12: message \(fact.id) counts \(counts), not \(expected)")
      body = .reaction(fact, change.reaction, by: user, isAdded: change.isAdded)
    case .threadSubscription(let change):
      words[WordKey(user: change.user, root: change.root.value), default: []].append((seq, change.isSubscribed))
      body = .subscription(
        user: change.user, root: change.root.value, conversation: change.conversation,
        isSubscribed: change.isSubscribed, isExplicit: change.cause == .explicit)
    case .groupMember(let change):
      membership(change, at: seq)
      body = .membership(group: change.group.guid, user: change.user.uid, action: change.action)
    case .tokensRevoked:
      body = .revocation
    }
    let entry = LogEntry(seq: seq, body: body, origin: origin)
    log.append(entry)
    trace.note("log \(seq) by \(origin.map { "#\($0.connection)" } ?? "-"): \(entry)")
  }

  private static func fact(_ message: Message) -> MessageFact {
    var fact = MessageFact(
      id: message.id.value, sender: message.sender.uid, conversation: message.conversation,
      root: message.parent?.value ?? 0, mentions: message.mentions.map(\.uid), text: "")
    switch message.content {
    case .text(let text): fact.text = text
    case .action: fact.isAction = true
    case .deleted: fact.isDeleted = true
    case .media, .custom: break
    }
    return fact
  }

  private func remember(_ fact: MessageFact) {
    messages[fact.id] = fact
    versions[fact.id, default: []].append(fact)
  }

  private func progress(of root: Int64, at seq: Int64) {
    let left = replies[root]?.filter { messages[$0]?.isDeleted == false } ?? []
    progress[root, default: []].append((seq, left.count, left.last ?? 0))
  }

  private func membership(_ change: MembershipChange, at seq: Int64) {
    let group = change.group.guid
    let user = change.user.uid
    if change.action.isMemberAfter == true {
      periods[group, default: [:]][user, default: []].append(Period(from: seq, to: nil))
    } else if change.action.isMemberAfter == false {
      guard let last = periods[group]?[user]?.indices.last else {
        return trace.fail("D8: \(user) left unjoined \(group)")
      }
      periods[group]?[user]?[last].to = seq
      for root in roots where messages[root]?.conversation == .group(group) {
        let key = WordKey(user: user, root: root)
        if words[key] != nil { words[key]?.append((seq, nil)) }
      }
    }
  }

  // MARK: The rules

  private func judge(_ mutation: Mutation, _ outcome: Outcome, _ origin: RequestKey?) {
    var refusal: RefusalCode?
    if case .failure(let refused) = outcome.result { refusal = refused.code }
    var summary = CommittedOutcome(id: 0, refusal: refusal, isRepeat: false)
    switch mutation.change {
    case .sendMessage(let message):
      if case .success(.message(let fetched)) = outcome.result { summary.id = fetched.message.id.value }
      summary.isRepeat = judgeSend(message, by: mutation.actor.uid, outcome, summary)
    case .setThreadSubscription(let root, let isSubscribed):
      let user = mutation.actor.uid
      let isAllowed = messages[root.value].map { canHead($0) && isParticipant(user, of: $0.conversation) } ?? false
      expect(isAllowed == (refusal == nil), "T8: subscribing \(user) to \(root.value): \(outcome.result)")
      let changes = isAllowed && self.isSubscribed(user, to: root.value) != isSubscribed
      expect(outcome.events.count == (changes ? 1 : 0), "T15: \(outcome.events.count) events of a subscription")
    case .editMessage(let id, let edit): judgeChange(id, edit, by: mutation.actor.uid, outcome)
    case .deleteMessage(let id): judgeChange(id, nil, by: mutation.actor.uid, outcome)
    case .react(let id, let reaction, let isAdded):
      let user = mutation.actor.uid
      let isAllowed =
        messages[id.value].map { !$0.isAction && !$0.isDeleted && isParticipant(user, of: $0.conversation) } ?? false
      let isThere = reactions[id.value]?[reaction]?.contains(user) ?? false
      expect(isAllowed == (refusal == nil), "M12: \(user) reacting to \(id.value): \(outcome.result)")
      expect(
        outcome.events.count == (isAllowed && isThere != isAdded ? 1 : 0),
        "M12: \(outcome.events.count) events of a reaction")
    case .addMembers(let group, let members):
      let isAllowed = mutation.actor == .application || mutation.actor.uid == owner && isMember(owner, of: group)
      let new = members.filter { !isMember($0.uid, of: group) }.count
      expect(outcome.events.count == (isAllowed ? new : 0), "D5: \(outcome.events.count) events of adding \(new)")
    case .kickMember(let group, let user):
      let mayKick = mutation.actor == .application || mutation.actor.uid == owner
      let isAllowed = mayKick && user != owner && isMember(user, of: group)
      expect(outcome.events.count == (isAllowed ? 1 : 0), "D5: \(outcome.events.count) events of kicking \(user)")
    case .leaveGroup(let group):
      let user = mutation.actor.uid
      let isAllowed = user != owner && isMember(user, of: group)
      expect(outcome.events.count == (isAllowed ? 1 : 0), "D5: \(outcome.events.count) events of \(user) leaving")
    default: break
    }
    if let origin {
      expect(outcomes[origin] == nil, "a request was committed twice")
      outcomes[origin] = summary
    }
  }

  /// M7, T2, T4, T5. Returns whether it was a repeat.
  private func judgeSend(_ message: OutgoingMessage, by sender: UserID, _ outcome: Outcome, _ summary: CommittedOutcome)
    -> Bool
  {
    let text = if case .text(let text) = message.content { text } else { "" }
    if !message.muid.isEmpty, let known = muids[MuidKey(sender: sender, muid: message.muid)] {
      expect(outcome.events.isEmpty, "M7: a repeated muid has events")
      if known.text == text {
        expect(summary.id == known.id, "M7: a repeated muid answers \(summary.id), not \(known.id)")
      } else {
        expect(summary.refusal == .muidConflict, "M7: another content under one muid: \(outcome.result)")
      }
      return true
    }
    let conversation = Conversation(from: sender, to: message.receiver)
    var isAllowed = isParticipant(sender, of: conversation)
    if let parent = message.parent {
      let root = messages[parent.value]
      isAllowed = isAllowed && root.map(canHead) == true && root?.conversation == conversation
    }
    expect(
      isAllowed == (summary.refusal == nil), "T2, D5: a send of \(sender) to \(conversation.id): \(outcome.result)")
    guard isAllowed else { return false }
    guard case .message(let sent)? = outcome.events.first?.body else {
      trace.fail("M1: a send without its message")
      return false
    }
    expect(sent.id.value == summary.id, "M1: the answer names \(summary.id), the event \(sent.id.value)")
    let root = message.parent?.value ?? sent.id.value
    var followers = sent.mentions.map(\.uid)
    if message.parent != nil { followers.append(sender) }
    let isAuthored: (UserID) -> Bool = { message.parent == nil && $0 == sender }
    let new = Set(followers.filter { !self.isSubscribed($0, to: root) && !isAuthored($0) }.map(\.text))
    let told = outcome.events.dropFirst().compactMap { event -> String? in
      guard case .threadSubscription(let change) = event.body, change.isSubscribed else { return nil }
      return change.user.text
    }
    expect(Set(told) == new && told.count == new.count, "T4: \(told.sorted()) follow, not \(new.sorted())")
    return false
  }

  /// T1, T10.
  private func canHead(_ message: MessageFact) -> Bool { message.root == 0 && !message.isAction && !message.isDeleted }

  /// M11, M9, T4. `edit` nil is a deletion.
  private func judgeChange(_ id: MessageID, _ edit: MessageEdit?, by user: UserID, _ outcome: Outcome) {
    var isAllowed = false
    if let message = messages[id.value], !message.isAction, !message.isDeleted {
      var isModerator = false
      if case .group = message.conversation { isModerator = user == owner }
      isAllowed = isParticipant(user, of: message.conversation) && (message.sender == user || isModerator)
    }
    guard isAllowed, let before = messages[id.value] else {
      return expect(outcome.events.isEmpty, "M11: \(user) changed message \(id.value)")
    }
    if let edit, edit.text == before.text {
      return expect(outcome.events.isEmpty, "M11: an edit to the same has events")
    }
    guard outcome.events.count >= 2, case .message(let action) = outcome.events[0].body,
      case .messageChanged(let change) = outcome.events[1].body
    else { return trace.fail("M11, M1: the change of \(id.value) has no action and change: \(outcome.result)") }
    expect(
      action.content == .action(change.kind.rawValue, by: user, on: .message(id))
        && action.parent?.value ?? 0 == before.root,
      "M11: the action of \(id.value) is \(action.content)")
    expect(change.message.id == id && (change.kind == .deleted) == (edit == nil), "M11: another change: \(change.kind)")
    let now = change.message.mentions.map(\.uid)
    expect(change.formerMentions == before.mentions.filter { !now.contains($0) }, "R2: former \(change.formerMentions)")
    let root = before.root == 0 ? before.id : before.root
    let isOpen = edit != nil && messages[root]?.isDeleted == false
    let new = Set(
      now.filter { isOpen && !before.mentions.contains($0) && !self.isSubscribed($0, to: root) }.map(\.text))
    let told = outcome.events.dropFirst(2).compactMap { event -> String? in
      guard case .threadSubscription(let change) = event.body, change.isSubscribed else { return nil }
      return change.user.text
    }
    expect(Set(told) == new && told.count == new.count, "T4: by an edit \(told.sorted()) follow, not \(new.sorted())")
  }

  private func expect(_ isTrue: Bool, _ what: @autoclosure () -> String) {
    if !isTrue { trace.fail(what()) }
  }
}
