import Chat
import Primitives
import Store
import Telemetry
import Workers

@testable import Gateway

/// What people do, and what happens to them.
extension Simulation {
  func act(_ client: SimulatedClient) {
    guard client.isConnected else {
      guard now >= client.backAt else { return }
      if client.needsToken {
        // The request may be lost with the store's trouble: then it is made again.
        let isAsked = minting.contains { $0.value.client === client && $0.value.askedAt > now - 1_000 }
        if !isAsked { mint(for: client, seconds: dice.chance(300) ? Int64(dice.from(3...20)) : nil) }
        return
      }
      return connect(client)
    }
    guard client.isLive else {
      if client.view?.phase == .opening, dice.chance(150) { say(client) }
      if dice.chance(30) { client.leave(dice.pick(SimulatedClient.Ending.allCases) ?? .reset) }
      return
    }
    switch dice.weighted([50, 12, 30, 5, 5, 5, 4, 5, 4, 4, 7, 7, 4, 5, 5, 8, 5, 9, 2]) {
    case 0: for _ in 0..<(dice.chance(60) ? 12 : 1) { say(client) }
    case 1: for send in client.unacknowledged.prefix(dice.from(1...4)) { client.send(send) }
    case 2: say(client, replying: true)
    case 3: thread("thread.subscribe", client, .write)
    case 4: thread("thread.unsubscribe", client, .write)
    case 5: openThread(client)
    case 6: closeThread(client)
    case 7: choose(client)
    case 8: client.request("ping", "{}", .ping)
    case 9: client.request("messages.list", #"{"guid":"\#(group().text)","limit":3}"#, .read)
    case 10: member("members.add", client)
    case 11: member("members.kick", client)
    case 12: client.request("groups.leave", #"{"guid":"\#(group().text)"}"#, .write)
    case 13: client.leave(dice.pick(SimulatedClient.Ending.allCases) ?? .reset)
    case 14: client.isStalled.toggle()
    case 15: change(client, isDeletion: false)
    case 16: change(client, isDeletion: true)
    case 17: react(client)
    default: client.request("messages.list", #"{"limit":0}"#, .read)
    }
  }

  private func group() -> GroupID { Self.groups[dice.below(Self.groups.count)] }
  private func person() -> UserID { Self.users[dice.below(Self.users.count)] }

  /// A send, mostly under a muid; sometimes one that was used for something else.
  private func say(_ client: SimulatedClient, replying: Bool = false) {
    nonces += 1
    var text = "m\(nonces)"
    if dice.chance(200) { text += " <@uid:\(person().text)>" }
    if dice.chance(100) { text += " " + String(repeating: "long words ", count: dice.from(50...400)) }
    var receiver = dice.chance(650) ? ("group", group().text) : ("user", person().text)
    var parent = ""
    if replying {
      guard let root = root(for: client) else { return }
      switch root.conversation {
      case .group(let group): receiver = ("group", group.text)
      case .oneOnOne(let a, let b): receiver = ("user", (a == client.token.uid ? b : a).text)
      }
      parent = #","parentMessageId":\#(root.id)"#
    }
    let isConflict = dice.chance(15) && !client.unacknowledged.isEmpty
    let muid = isConflict ? client.unacknowledged[0].muid : dice.chance(750) ? "k\(nonces)" : ""
    let data =
      #"{"receiverType":"\#(receiver.0)","receiverUid":"\#(receiver.1)","text":"\#(text)","muid":"\#(muid)"\#(parent)}"#
    let send = SimulatedClient.Unacknowledged(muid: muid, text: text, data: data)
    if !muid.isEmpty, !isConflict { client.unacknowledged.append(send) }
    client.send(send)
  }

  /// Edits or deletes one of the latest messages, mostly one of the client's own.
  private func change(_ client: SimulatedClient, isDeletion: Bool) {
    let latest = model.sent.suffix(40).compactMap { model.messages[$0] }
    let own = latest.filter { $0.sender == client.token.uid && !$0.isDeleted }
    guard let message = dice.pick(dice.chance(850) ? own : latest) else { return }
    if isDeletion {
      client.request("message.delete", #"{"id":\#(message.id)}"#, .write)
      return
    }
    nonces += 1
    var text = "e\(nonces)"
    if dice.chance(300) { text += " <@uid:\(person().text)>" }
    client.request("message.edit", #"{"id":\#(message.id),"text":"\#(text)"}"#, .write)
  }

  private func react(_ client: SimulatedClient) {
    guard let message = dice.pick(model.sent.suffix(12)), let reaction = dice.pick(["👍", "🎉", ":ok:"]) else { return }
    let op = dice.chance(700) ? "reaction.add" : "reaction.remove"
    client.request(op, #"{"id":\#(message),"emoji":"\#(reaction)"}"#, .write)
  }

  /// One of the latest roots, mostly one that the user can see.
  private func root(for client: SimulatedClient) -> MessageFact? {
    let latest = model.roots.suffix(8).compactMap { model.messages[$0] }
    let visible = latest.filter { model.isParticipant(client.token.uid, of: $0.conversation) }
    return dice.pick(dice.chance(950) ? visible : latest)
  }

  private func thread(_ op: String, _ client: SimulatedClient, _ kind: ConnectionView.Request) {
    guard let root = root(for: client) else { return }
    client.request(op, #"{"parentMessageId":\#(root.id)}"#, kind)
  }

  private func openThread(_ client: SimulatedClient) {
    guard let root = root(for: client), let view = client.view else { return }
    change(client, view, .opened(root.id), "thread.open", #"{"parentMessageId":\#(root.id)}"#)
    client.openThreads = (client.openThreads + [root.id]).suffix(5)
  }

  private func closeThread(_ client: SimulatedClient) {
    guard let root = dice.pick(client.openThreads), let view = client.view else { return }
    change(client, view, .closed(root), "thread.close", #"{"parentMessageId":\#(root)}"#)
    client.openThreads.removeAll { $0 == root }
  }

  private func choose(_ client: SimulatedClient) {
    guard let view = client.view, let choice = dice.pick(ConnectionView.ReplyWish.allCases) else { return }
    change(client, view, .choice(choice), "session.update", #"{"replies":"\#(choice.rawValue)"}"#)
    client.choice = choice
  }

  private func change(
    _ client: SimulatedClient, _ view: ConnectionView, _ kind: ConnectionView.Change.Kind, _ op: String, _ data: String
  ) {
    let id = client.request(op, data, .change)
    view.changes.append(ConnectionView.Change(kind: kind, request: id, sentAt: view.lastSeq))
  }

  /// The owner adds and kicks; others try.
  private func member(_ op: String, _ client: SimulatedClient) {
    let group = group()
    let person = person()
    if client.token.uid == model.owner || dice.chance(100) {
      let who = op == "members.add" ? #""members":[{"uid":"\#(person.text)"}]"# : #""uid":"\#(person.text)""#
      client.request(op, #"{"guid":"\#(group.text)",\#(who)}"#, .write)
    } else {
      changeMembership(of: person)
    }
  }

  /// The application adds or kicks, whichever changes something.
  func changeMembership(of person: UserID) {
    let group = group()
    let new = NewMember(uid: person, scope: .participant)
    post(model.isMember(person, of: group) ? .kickMember(group, person) : .addMembers(group, [new]))
  }

  // MARK: Misfortunes

  func strike() throws {
    switch dice.weighted([20, 20, 12, 8, 8, 10, 10]) {
    case 0: trouble { self.faults.failingCommits = 300 }
    case 1: trouble { self.faults.failingReads = 200 }
    case 2: trouble { self.faults.isDown = true }
    case 3: try crash()
    case 4: faults.crash = dice.chance(500) ? .beforeCommit : .afterCommit
    case 5: revoke(clients[dice.below(clients.count)])
    default: if drainEnds == nil, dice.chance(600) { drain() }
    }
  }

  private func trouble(_ begin: () -> Void) {
    guard faults.crash == nil else { return }
    begin()
    oracle.storeFailed = true
    troubleEnds = now + dice.from(50...2_500)
    trace.note("-- the store has trouble")
  }

  func revoke(_ client: SimulatedClient) {
    guard client.token.revokedAt == nil else { return }
    trace.note("-- the token of client \(client.number) is revoked")
    let hash = Secret.digest(client.token.text)
    revoking[hash] = client.token
    post(.revokeToken(hash: hash))
  }

  private func drain() {
    trace.note("-- the node drains")
    drains += 1
    oracle.isDraining = true
    for client in clients { client.view?.sawDrain = true }
    node.readiness.setDraining()
    for loop in node.loops { loop.surroundings.mailbox.post(.drain(seconds: 2)) }
    drainEnds = now + 2_000
  }

  /// As `Node.drainAndStop`: loops first, then readers, then the committer with what it has taken in.
  func endDrain() throws {
    for loop in node.loops { loop.stop(at: moment) }
    judgeEmpty("a drain")
    for reader in 0..<2 { node.runReader(reader) }
    node.runCommitter()
    trace.note("-- the node stops")
    for client in clients { client.nodeDied() }
    try restart()
  }

  /// When no connection is left, nothing of any is.
  func judgeEmpty(_ when: String) {
    for loop in node.loops {
      var core = [
        "frames": loop.core.outlets.liveFrames, "bytes": loop.core.outlets.queuedBytes,
        "sessions": loop.core.routes.sessionCount, "timers": loop.core.timers.count,
        "connections": loop.core.connectionCount,
        "devices": loop.core.slotOfDevice.count, "places": loop.core.routes.isEmpty ? 0 : 1,
      ]
      if isOver {
        // These take a moment more, and the loop that stops does not wait for it.
        core["hints"] = loop.core.hints.count
        core["replays"] = loop.core.replaying.count
      }
      for (name, count) in core.sorted(by: { $0.key < $1.key }) where count != 0 {
        trace.fail("after \(when) shard \(loop.index) still has \(count) \(name)")
      }
    }
    if node.counters.sessions.value != 0 {
      trace.fail("after \(when) the gauge counts \(node.counters.sessions.value)")
    }
  }
}
