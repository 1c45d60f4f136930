import Chat
import Foundation

/// Holds every frame that a client gets against the contract: it knows the log, what each session asked for and what
/// the world did, and nothing of the gateway's inside.
final class Oracle {
  /// What the node promises of itself in this run.
  struct Bounds {
    var outboundBytes = 0
    var heartbeatSeconds = 25
    var resumeEvents = 10_000
  }

  let model: ChatModel
  let trace: Trace
  var bounds = Bounds()
  var epoch = ""
  /// Acknowledged messages that were not yet looked up in the store.
  var acknowledged: [Int64: String] = [:]
  private(set) var events = 0
  private(set) var replayed = 0
  private(set) var hints = 0
  private(set) var resets: [String: Int] = [:]
  private(set) var resumptions = 0
  private(set) var closes: [Int: Int] = [:]
  /// Milliseconds of the run.
  var now = 0
  var unixSeconds: Int64 = 0
  var isDraining = false
  var storeFailed = false
  /// Devices' newest connections, for 4204.
  var newestOfDevice: [String: Int] = [:]

  init(model: ChatModel, trace: Trace) {
    self.model = model
    self.trace = trace
  }

  func expect(_ isTrue: Bool, _ view: ConnectionView, _ what: @autoclosure () -> String) {
    if !isTrue { trace.fail("#\(view.number) (\(view.user)): \(what())") }
  }

  // MARK: Frames

  /// A text message that came.
  func received(_ text: [UInt8], _ view: ConnectionView) {
    guard let json = (try? JSONSerialization.jsonObject(with: Data(text))) as? [String: Any] else {
      return expect(false, view, "L8: a frame is no JSON object")
    }
    if let name = json["event"] as? String {
      expect(view.phase == .live, view, "L2: \(name) before the hello")
      event(name, json, view)
    } else if let id = json["id"] as? Int64 ?? (json["id"] as? Int).map(Int64.init), let isOK = json["ok"] as? Bool {
      let data = json["data"] as? [String: Any] ?? [:]
      let code = (json["error"] as? [String: Any])?["code"] as? String ?? ""
      if id == 0 { hello(isOK, data, view) } else { reply(id, isOK, data, code, view) }
    } else {
      expect(json["ok"] as? Bool == false, view, "L3: neither event nor reply: \(json)")
    }
  }

  private func hello(_ isOK: Bool, _ data: [String: Any], _ view: ConnectionView) {
    guard isOK else { return }
    expect(view.phase == .opening, view, "L4: two hellos")
    view.phase = .live
    let seq = Int64(data["seq"] as? Int ?? -1)
    let isResumed = data["resumed"] as? Bool ?? false
    let reason = (data["reset"] as? [String: Any])?["reason"] as? String
    expect(seq >= 0 && seq <= model.head, view, "L4: the hello's seq \(seq) is not in the log")
    expect(data["uid"] as? String == view.user.text, view, "L4: the hello is for \(data["uid"] ?? "nobody")")
    expect(data["epoch"] as? String == epoch, view, "R11: the hello names another epoch")
    expect(isResumed || seq < view.token.revokedAt ?? .max, view, "R8: a token that ended opened at \(seq)")
    trace.note("#\(view.number) \(view.user) hello seq \(seq) resumed \(isResumed) reset \(reason ?? "-")")
    if isResumed {
      resumptions += 1
      guard let resume = view.resume else { return expect(false, view, "R6: resumed without a wish") }
      expect(resume.epoch == epoch && resume.seq <= model.head, view, "R6, C060: resumed from nowhere")
      expect(reason == nil, view, "R6: resumed and reset")
      view.isResumed = true
      view.start = resume.seq
      let owed = model.log[model.firstIndex(after: resume.seq)...].prefix { $0.seq <= view.headAtConnect }
        .count { need($0, view) == .must }
      expect(owed <= bounds.resumeEvents, view, "R6: resumed with \(owed) to tell")
    } else {
      if let reason { resets[reason, default: 0] += 1 }
      expect((reason != nil) == (view.resume != nil), view, "R6: neither resumed nor reset")
      if let resume = view.resume, let reason { judgeReset(reason, resume, view) }
      expect(
        seq >= view.headAtConnect, view, "L4: the hello's seq \(seq) is before the connect at \(view.headAtConnect)")
      view.start = seq
    }
    view.confirmed = view.start
    view.lastSeq = view.start
  }

  /// R6: a reset needs a reason that is true.
  private func judgeReset(_ reason: String, _ resume: (epoch: String, seq: Int64), _ view: ConnectionView) {
    switch reason {
    case "epoch_changed": expect(resume.epoch != epoch, view, "R6: epoch_changed, and it is the same")
    case "bad_position": expect(resume.seq > view.headAtConnect, view, "R6: bad_position \(resume.seq)")
    case "too_many":
      let missed = model.log[model.firstIndex(after: resume.seq)...].count
      expect(missed > bounds.resumeEvents, view, "R6: too_many, and only \(missed) happened")
    default: expect(false, view, "R6: an unknown reason \(reason)")
    }
  }

  // MARK: Events

  private func event(_ name: String, _ json: [String: Any], _ view: ConnectionView) {
    events += 1
    let data = json["data"] as? [String: Any] ?? [:]
    switch name {
    case "heartbeat": heartbeat(Int64(json["seq"] as? Int ?? -1), view)
    case "thread.updated": hint(data, view)
    case "message", "message.edited", "message.deleted", "reaction.added", "reaction.removed", "thread.subscription",
      "group.member":
      durable(name, Int64(json["seq"] as? Int ?? -1), data, view)
    default: expect(false, view, "L6: an unasked event \(name)")
    }
  }

  private func durable(_ name: String, _ seq: Int64, _ data: [String: Any], _ view: ConnectionView) {
    trace.note("#\(view.number) \(view.user) < \(name) \(seq)")
    guard let entry = model.entry(at: seq) else {
      return expect(false, view, "M8: \(name) \(seq) is not in the log")
    }
    expect(seq > view.lastSeq, view, "R4: \(name) \(seq) after \(view.lastSeq)")
    expect(matches(entry, name, data, view), view, "R5: \(name) \(seq) does not say what was committed")
    noGap(upTo: seq - 1, view)
    if need(entry, view) == .mustNot { expect(false, view, "R1, R2, M15: \(name) \(seq) is not for this session") }
    if view.isResumed, seq <= view.replayEnd { replayed += 1 }
    view.received.insert(seq)
    view.lastSeq = seq
    view.confirmed = seq
    view.settle(at: seq)
    switch entry.body {
    case .message(let message), .change(_, let message, _), .reaction(let message, _, _, _):
      view.lastOfConversation[message.conversation] = seq
    default: break
    }
  }

  private func matches(_ entry: LogEntry, _ name: String, _ data: [String: Any], _ view: ConnectionView) -> Bool {
    switch entry.body {
    case .message(let message):
      name == "message" && isCopy(data, of: message, at: entry.seq, view)
    case .change(let kind, let message, _):
      name == "message.\(kind.rawValue)" && isCopy(data, of: message, at: entry.seq, view)
    case .reaction(let message, let reaction, let user, let isAdded):
      name == (isAdded ? "reaction.added" : "reaction.removed") && data["messageId"] as? Int == Int(message.id)
        && data["reaction"] as? String == reaction && data["uid"] as? String == user.text
        && data["conversationId"] as? String == message.conversation.id
        && data["parentMessageId"] as? Int == Int(message.root)
    case .subscription(_, let root, _, let isSubscribed, _):
      name == "thread.subscription" && data["parentMessageId"] as? Int == Int(root)
        && data["threadSubscribed"] as? Bool == isSubscribed
    case .membership(let group, let user, let action):
      name == "group.member" && data["guid"] as? String == group.text && data["uid"] as? String == user.text
        && data["action"] as? String == action.rawValue
    case .revocation: false
    }
  }

  /// The message as it was then; in a replay as it was then or later (R6).
  private func isCopy(_ data: [String: Any], of message: MessageFact, at seq: Int64, _ view: ConnectionView) -> Bool {
    let versions = model.versions[message.id]?.map(\.text) ?? []
    let isReplayed = view.isResumed && seq <= view.replayEnd
    let texts = isReplayed ? versions[(versions.firstIndex(of: message.text) ?? 0)...] : [message.text]
    return data["id"] as? Int == Int(message.id) && (data["text"] as? String).map(texts.contains) == true
      && data["senderUid"] as? String == message.sender.text && data["parentMessageId"] as? Int == Int(message.root)
      && data["conversationId"] as? String == message.conversation.id
      && (data["category"] as? String == "action") == message.isAction
  }

  /// L5: everything up to `seq` that concerns the session has been sent.
  private func heartbeat(_ seq: Int64, _ view: ConnectionView) {
    trace.note("#\(view.number) < heartbeat \(seq)")
    expect(seq >= view.lastSeq && seq <= model.head, view, "L5: heartbeat \(seq) after \(view.lastSeq)")
    noGap(upTo: seq, view)
    view.confirmed = max(view.confirmed, seq)
    view.settle(at: seq + 1)
  }

  /// R6, C063: what lies between what was told before and this must not have been owed.
  private func noGap(upTo seq: Int64, _ view: ConnectionView) {
    var index = model.firstIndex(after: view.confirmed)
    while index < model.log.count, model.log[index].seq <= seq {
      let entry = model.log[index]
      if need(entry, view) == .must {
        expect(false, view, "R1, R4, R6: \(entry.seq) never came: \(entry); the next is \(seq + 1)")
      }
      index += 1
    }
  }

  // MARK: Hints (R3)

  private func hint(_ data: [String: Any], _ view: ConnectionView) {
    let root = Int64(data["parentMessageId"] as? Int ?? 0)
    let last = Int64(data["lastReplyId"] as? Int ?? 0)
    let count = data["replyCount"] as? Int ?? -1
    hints += 1
    trace.note("#\(view.number) < hint \(root): \(count) replies, last \(last)")
    // A deletion may bring back what was: the hint says the earliest that it can, and at rest the latest.
    let states = model.progress[root]?.filter { $0.count == count && $0.last == last } ?? []
    guard let message = model.messages[root], let latest = states.last else {
      return expect(false, view, "R3: a hint of what never was: \(data)")
    }
    let earliest = states.first { $0.seq >= view.hints[root]?.asOf ?? 0 }
    if view.choice == .all, view.changes.isEmpty {
      expect(false, view, "R3: a hint to a session that gets every reply")
    }
    expect(mayHear(of: message.conversation, view), view, "R8: a hint of a group that the user has left")
    if let earlier = view.hints[root] {
      expect(earliest != nil, view, "R3: a hint went back")
      expect(now - earlier.notBefore >= 1000, view, "R3: two hints of \(root) within \(now - earlier.notBefore) ms")
    }
    // A resumed session's first hint of a thread is the resume's own, and keeps no second free.
    let isResumes = view.isResumed && view.hints[root] == nil
    view.hints[root] = (earliest?.seq ?? 0, latest.seq, isResumes ? .min / 2 : view.emptyAt)
  }

  /// Whether an unnumbered event of the conversation may come now: in stream order, the end of a membership is final.
  private func mayHear(of conversation: Conversation, _ view: ConnectionView) -> Bool {
    switch conversation {
    case .oneOnOne(let a, let b): a == view.user || b == view.user
    case .group(let group): model.lastEnd(of: view.user, in: group).map { $0 > view.lastSeq } ?? true
    }
  }

  // MARK: Replies

  private func reply(_ id: Int64, _ isOK: Bool, _ data: [String: Any], _ code: String, _ view: ConnectionView) {
    guard let request = view.pending.removeValue(forKey: id) else {
      return expect(false, view, "L3: a reply to no request: \(id) \(code)")
    }
    trace.note("#\(view.number) \(view.user) < reply \(id) \(isOK ? "ok" : code)")
    let outcome = model.outcomes[RequestKey(connection: view.number, request: id)]
    switch request {
    case .send(_, let text):
      judgeWrite(outcome, isOK, code, view)
      guard isOK, let outcome else { return }
      let message = Int64(data["id"] as? Int ?? 0)
      expect(message == outcome.id, view, "M8: acknowledged as \(message), stored as \(outcome.id)")
      acknowledged[message] = text
      if !outcome.isRepeat, let conversation = model.messages[message]?.conversation {
        let last = view.lastOfConversation[conversation] ?? 0
        expect(last <= message, view, "L3: the reply to \(message) comes after \(last)")
      }
    case .write: judgeWrite(outcome, isOK, code, view)
    case .change:
      guard let index = view.changes.firstIndex(where: { $0.request == id }) else { return }
      if isOK { view.changes[index].isAnswered = true } else { view.changes.remove(at: index) }
    case .read: break
    case .ping: expect(isOK, view, "L7: a ping failed: \(code)")
    }
  }

  /// M8: success means committed, "unavailable" means surely not, any other refusal was decided in the transaction.
  private func judgeWrite(_ outcome: CommittedOutcome?, _ isOK: Bool, _ code: String, _ view: ConnectionView) {
    if isOK {
      expect(outcome != nil && outcome?.refusal == nil, view, "M8: acknowledged, and not committed")
    } else if code == RefusalCode.storeUnavailable.rawValue || code == RefusalCode.overloaded.rawValue {
      expect(outcome == nil, view, "M8: refused as \(code), and committed")
    } else {
      expect(
        outcome?.refusal?.rawValue == code, view, "M8: refused as \(code), decided \(outcome?.refusal?.rawValue ?? "-")"
      )
    }
  }

  // MARK: Ends

  func closed(_ code: Int, _ view: ConnectionView, peakQueuedBytes: Int) {
    closes[code, default: 0] += 1
    trace.note("#\(view.number) \(view.user) closed \(code)")
    switch code {
    case 4000:
      expect(view.sawDrain || storeFailed, view, "S7: sent away, and nothing drains")
      let owed = !view.sawDrain ? [] : view.handedOver.filter { view.pending[$0] != nil }
      expect(owed.isEmpty, view, "S7, C054: sent away with \(owed.sorted()) unanswered")
    case 4001:
      expect(peakQueuedBytes >= bounds.outboundBytes, view, "R7: 4001 at \(peakQueuedBytes) of \(bounds.outboundBytes)")
    case 4002: expect(now >= bounds.heartbeatSeconds * 900, view, "L5: a pong missed too early")
    case 4101:
      expect(view.token.expiresAt != 0 && view.token.expiresAt <= unixSeconds, view, "A1: expired too early")
    case 4102: expect(storeFailed, view, "4102 and the store works")
    case 4200: expect(view.phase == .opening, view, "L2: a live session is unauthenticated")
    case 4201: expect(view.token.revokedAt != nil, view, "R8: a token ended that nobody revoked")
    case 4204:
      expect(
        view.device.map { newestOfDevice[$0] != view.number } ?? false, view, "4204: the device did not come again")
    case 1008: expect(view.phase == .opening, view, "1008 without a reason")
    case 1000, 1001: break
    default: expect(false, view, "an unforeseen close \(code)")
    }
  }
}
