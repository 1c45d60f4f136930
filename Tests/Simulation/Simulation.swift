import Chat
import Foundation
import Primitives
import Store
import Wire
import Workers

@testable import Gateway

/// A whole node with its clients in one thread, from one seed: every interleaving, fault and byte count is drawn from
/// it, and the oracle judges what the clients get.
final class Simulation {
  struct Place: Hashable {
    var shard: Int
    var bits: UInt64
  }

  static let users = (0..<6).map { UserID(stored: "u\($0)") }
  static let groups = (0..<3).map { GroupID(stored: "g\($0)") }
  /// The longest frame that a run makes: above its limit a queue is by one frame at most (R7).
  static let longestFrameBytes = 24_000

  let seed: UInt64
  let dice: Dice
  let trace = Trace()
  let model: ChatModel
  let oracle: Oracle
  let faults: StoreFaults
  var settings = GatewaySettings()
  let folder: String
  private var current: SimulatedNode?
  var clients: [SimulatedClient] = []
  private(set) var views: [Place: ConnectionView] = [:]
  /// Tokens whose minting is not committed, by digest.
  var minting: [[UInt8]: (token: SimulatedToken, client: SimulatedClient, askedAt: Int)] = [:]
  var revoking: [[UInt8]: SimulatedToken] = [:]
  private(set) var now = 0
  private var connections = 0
  private var tokens = 0
  var nonces = 0
  var steps = 0
  var crashes = 0
  var drains = 0
  /// When the drain that runs is over.
  var drainEnds: Int?
  /// When the store's present trouble is over.
  var troubleEnds: Int?
  /// Nobody comes back any more.
  var isOver = false
  /// The quiet end has begun: nobody does anything by chance any more.
  var isEnding = false

  init(seed: UInt64) throws {
    self.seed = seed
    dice = Dice(seed: seed)
    let trace = self.trace
    model = ChatModel(trace: trace)
    oracle = Oracle(model: model, trace: trace)
    faults = StoreFaults(dice: dice)
    let base = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
    folder = "\(base)/threadcast-simulation-\(ProcessInfo.processInfo.processIdentifier)-seed-\(seed)"
    settings.outboundBytes = dice.pick([6_000, 20_000, 100_000]) ?? 0
    settings.heartbeatSeconds = dice.from(3...8)
    settings.connectSeconds = dice.from(2...5)
    settings.batchSize = dice.from(1...12)
    settings.requestsInFlight = dice.from(2...16)
    settings.queuedBeforeHello = dice.from(1...8)
    settings.writerQueue = dice.chance(200) ? 6 : 1_000
    settings.readerQueue = dice.chance(200) ? 6 : 1_000
    settings.closeSeconds = 2
    settings.compressionThresholdBytes = 2_000
    settings.replayPageEvents = dice.from(1...16)
    settings.limits.resumeEvents = dice.chance(200) ? dice.from(5...40) : 10_000
    oracle.bounds = .init(
      outboundBytes: settings.outboundBytes, heartbeatSeconds: settings.heartbeatSeconds,
      resumeEvents: settings.limits.resumeEvents)
    // A queue that is this short refuses as a store in trouble does.
    oracle.storeFailed = settings.readerQueue < 100
    faults.unixSeconds = Self.unixOrigin
    let model = self.model
    faults.committed = { model.committed($0, $1, origins: []) }
    current = try SimulatedNode(
      folder: folder, settings: settings, faults: faults, dice: dice, moment: Self.moment(at: 0),
      prepare: Self.furnish)
    oracle.epoch = node.store.epoch
    furnishClients()
    wire()
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  var node: SimulatedNode {
    guard let current else { preconditionFailure("between two lives of the node nobody asks for it") }
    return current
  }

  // MARK: The world at the beginning

  private static func furnish(_ writer: any StoreWriter) throws {
    var changes: [Mutation.Change] = users.map { .createUser(User(uid: $0, name: $0.text)) }
    for (index, group) in groups.enumerated() {
      changes.append(
        .createGroup(Group(guid: group, name: "G", type: index == 2 ? .private : .public, owner: users[0])))
      let members = users.dropFirst().prefix(index == 0 ? 5 : 3)
      changes.append(.addMembers(group, members.map { NewMember(uid: $0, scope: .participant) }))
    }
    for (index, user) in users.enumerated() {
      for way in 0..<2 {
        changes.append(.mintToken(user, hash: Secret.digest("first-\(index)-\(way)"), expiresAt: .never))
      }
    }
    _ = try writer.commit(changes.map { Mutation(actor: .application, change: $0) }, at: UnixSeconds(unixOrigin))
  }

  private func furnishClients() {
    let count = dice.from(4...9)
    for number in 0..<count {
      // The first users have two devices each, so that a user's other sessions are there to be told.
      let user = number < 4 ? number / 2 : dice.below(Self.users.count)
      // Some share a token, and lose it together.
      let text = "first-\(user)-\(number % 2)"
      let shared = clients.first { $0.token.text == text }?.token
      let client = SimulatedClient(
        number: number, token: shared ?? SimulatedToken(text: text, uid: Self.users[user], expiresAt: 0),
        device: dice.chance(400) ? "d\(number)" : nil, dice: dice, oracle: oracle)
      client.choice = dice.chance(450) ? .all : dice.pick(ConnectionView.ReplyWish.allCases) ?? .all
      clients.append(client)
    }
  }

  /// Lets the node's hooks reach the run.
  private func wire() {
    faults.committed = { [unowned self] batch, commit in
      model.committed(batch, commit, origins: node.committing.map { origin(of: $0) })
      for (mutation, outcome) in zip(batch, commit.outcomes) { settle(mutation, outcome) }
    }
    faults.interleave = { [unowned self] in
      guard dice.chance(400) else { return }
      node.inside { for _ in 0..<dice.from(1...4) { breathe() } }
    }
    for loop in node.loops {
      loop.handedOver = { [unowned self] requests in
        for request in requests {
          if let key = origin(of: request) { views[place(request)]?.handedOver.insert(key.request) }
        }
      }
      loop.inspect = { [unowned self] in inspect($0) }
    }
  }

  private func place(_ request: WriteRequest) -> Place {
    Place(shard: request.replyTo.shard, bits: request.replyTo.connection.bits)
  }

  private func origin(of request: WriteRequest) -> RequestKey? {
    guard case .socket(let name) = request.replyTo.form, case .integer(let id) = name, let view = views[place(request)]
    else { return nil }
    return RequestKey(connection: view.number, request: id)
  }

  /// Tokens begin and end with their commits.
  private func settle(_ mutation: Mutation, _ outcome: Outcome) {
    guard case .success = outcome.result else { return }
    switch mutation.change {
    case .mintToken(_, let hash, _):
      guard let minted = minting.removeValue(forKey: hash) else { return }
      minted.client.token = minted.token
      minted.client.needsToken = false
    case .revokeToken(let hash): revoking.removeValue(forKey: hash)?.revokedAt = model.head
    default: break
    }
  }

  /// Another thread runs for a moment while one is between two of its steps.
  private func breathe() {
    switch dice.weighted([3, 4, 3]) {
    case 0: node.runReader(dice.below(2))
    case 1: node.runCommitter()
    default: turn(node.loops[dice.below(2)])
    }
  }

  /// A shard's queues before the turn's writes: nothing is beyond its limit (R7, L2).
  private func inspect(_ loop: SimulatedLoop) {
    for socket in loop.openSockets where socket.isOpened {
      let queued = loop.core.outlets.queuedBytes(socket.handle)
      if !socket.isSealed {
        // A queue that was full at the end of a turn is closed in the next, when some of it has left.
        socket.peakQueuedBytes = max(socket.lastQueuedBytes, queued)
        socket.lastQueuedBytes = queued
        socket.isSealed = loop.core.outlets.isSealed(socket.handle)
      }
      if queued > settings.outboundBytes + settings.outboundBytes / 2 + Self.longestFrameBytes {
        trace.fail("R7: \(queued) bytes wait for #\(socket.number), the limit is \(settings.outboundBytes)")
      }
      guard let connection = loop.core.connection(socket.handle) else { continue }
      if connection.phase == .live, connection.replay == nil,
        let view = views[Place(shard: loop.index, bits: socket.handle.bits)], view.isResumed, view.replayEnd == .max
      {
        view.replayEnd = model.head
      }
      if connection.requestsInFlight > settings.requestsInFlight || connection.requestsInFlight < 0 {
        trace.fail("\(connection.requestsInFlight) requests of #\(socket.number) are under way")
      }
      if connection.waitingOperations.count > settings.queuedBeforeHello {
        trace.fail("L2: \(connection.waitingOperations.count) operations of #\(socket.number) wait for the hello")
      }
    }
  }

  // MARK: Time

  static let unixOrigin: Int64 = 1_800_000_000

  static func moment(at milliseconds: Int) -> Moment {
    Moment(
      instant: Instant(nanoseconds: UInt64(1_000_000 + milliseconds) * 1_000_000),
      unix: UnixSeconds(unixOrigin + Int64(milliseconds / 1000)))
  }

  var moment: Moment { Self.moment(at: now) }

  func advance(milliseconds: Int) {
    now += milliseconds
    trace.now = now
    oracle.now = now
    oracle.unixSeconds = moment.unix.value
    faults.unixSeconds = moment.unix.value
  }

  // MARK: Parts of a step

  func turn(_ loop: SimulatedLoop, eagerness: Int = 700) {
    loop.turn(at: moment, eagerness: eagerness, readsMail: eagerness == 1000 || dice.chance(600))
  }

  func connect(_ client: SimulatedClient) {
    let loop = node.loops[dice.below(2)]
    connections += 1
    client.connect(
      to: loop, number: connections, capacity: dice.pick([300, 2_000, 20_000]) ?? 0, deflate: dice.chance(250))
    guard let socket = client.socket, let view = client.view else { return }
    guard !isEnding else {
      views[Place(shard: loop.index, bits: socket.handle.bits)] = view
      return
    }
    // A membership that changes while its session opens (C065, C125).
    if dice.chance(200) { changeMembership(of: client.token.uid) }
    if dice.chance(60) { revoke(client) }
    views[Place(shard: loop.index, bits: socket.handle.bits)] = view
  }

  /// Something the application asks for, outside every session.
  func post(_ change: Mutation.Change) {
    node.committer.requests.post(
      WriteRequest(
        mutation: Mutation(actor: .application, change: change),
        replyTo: ReplyAddress(shard: dice.below(2), connection: .none, form: .http)))
  }

  func mint(for client: SimulatedClient, seconds: Int64?) {
    tokens += 1
    let token = SimulatedToken(
      text: "token-\(tokens)", uid: client.token.uid, expiresAt: seconds.map { moment.unix.value + $0 } ?? 0)
    let hash = Secret.digest(token.text)
    minting[hash] = (token, client, now)
    post(.mintToken(token.uid, hash: hash, expiresAt: UnixSeconds(token.expiresAt)))
  }

  // MARK: Lives of the node

  /// Everything in memory is gone; what is durable is found again.
  func crash() throws {
    trace.note("-- the node dies")
    crashes += 1
    for client in clients { client.nodeDied() }
    try restart()
  }

  /// A new node over the same store.
  func restart() throws {
    views = [:]
    minting = [:]
    revoking = [:]
    drainEnds = nil
    oracle.isDraining = false
    calm()
    faults.interleave = {}
    // The lock of the old store goes with its node.
    current = nil
    current = try SimulatedNode(
      folder: folder, settings: settings, faults: faults, dice: dice, moment: moment)
    try oracle.judgeStore(node)
    wire()
  }

  /// The store works again.
  func calm() {
    faults.hasCrashed = false
    faults.crash = nil
    faults.isDown = false
    faults.failingCommits = 0
    faults.failingReads = 0
    troubleEnds = nil
  }
}
