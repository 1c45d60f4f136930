import Bus
import Chat
import Foundation
import Primitives
import Store
import Telemetry
import Workers

@testable import Gateway

/// A whole node in one thread: shards, committer and reader over a real store, moved by hand and by a clock that only
/// tests move. Nothing sleeps, and whatever a shard asks for waits until `settle` (or a single step) carries it out.
final class Stage {
  final class ShardBox {
    var core: ShardCore
    init(_ core: consuming ShardCore) { self.core = core }
  }

  private(set) var shards: [ShardBox] = []
  private let mailboxes: [Mailbox<ShardMail>]
  private let committer: Committer
  private let reader: ReadWorker
  private let writer: any StoreWriter
  private let storeReader: any StoreReader
  let store: SQLiteStore
  let counters: GatewayCounters
  let readiness = Readiness()
  var settings: GatewaySettings
  private let folder: String
  private var seconds: UInt64 = 1_000
  private var nextSlot: UInt32 = 0

  init(shards count: Int = 1, settings: GatewaySettings = GatewaySettings()) throws {
    folder = NSTemporaryDirectory() + "threadcast-gateway-" + UUID().uuidString
    store = try SQLiteStore.open(folder: folder)
    _ = try DevelopmentData.write(to: store)
    self.settings = settings
    let mailboxes = (0..<count).map { _ in Mailbox<ShardMail>(limit: 65_536, wakeup: Wakeup()) }
    self.mailboxes = mailboxes
    counters = GatewayCounters(registry: MetricRegistry(), log: Log(sink: { _ in true }), shards: count)
    committer = Committer(
      shards: mailboxes, bus: InProcessBus(), node: NodeID("test"), counters: counters, readiness: readiness,
      settings: settings)
    reader = ReadWorker(shards: mailboxes, committer: committer.requests, counters: counters, settings: settings)
    writer = try store.makeWriter()
    storeReader = try store.makeReader()
    let head = try storeReader.head()
    let moment = self.moment
    for index in 0..<count {
      shards.append(
        ShardBox(
          ShardCore(
            index: index, settings: settings, epoch: store.epoch, position: head, counters: counters,
            readiness: readiness, at: moment)))
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  var moment: Moment {
    Moment(instant: Instant(nanoseconds: seconds * 1_000_000_000), unix: UnixSeconds(Clock.unixSeconds()))
  }

  /// Moves the clock and lets every deadline fire.
  func advance(seconds more: UInt64) {
    for _ in 0..<more {
      seconds += 1
      for shard in shards {
        shard.core.deadline(at: moment)
        shard.core.closeOverflowed()
      }
    }
    settle()
  }

  /// Carries out everything that waits, until nothing does.
  func settle() {
    var isBusy = true
    while isBusy {
      isBusy = stepReads()
      if stepWrites() { isBusy = true }
      if stepMail() { isBusy = true }
    }
  }

  /// Lets the reader answer what the shards have asked.
  @discardableResult func stepReads() -> Bool {
    var asked: [ReadRequest] = []
    for shard in shards { asked += shard.core.takeReads() }
    reader.work(on: asked, with: storeReader)
    return !asked.isEmpty
  }

  /// Commits what the shards and the reader have passed on, as one batch.
  @discardableResult func stepWrites() -> Bool {
    var requests: [WriteRequest] = []
    for shard in shards { requests += shard.core.takeWrites() }
    var passedOn: [WriteRequest] = []
    committer.requests.drain(into: &passedOn)
    requests += passedOn
    committer.work(on: requests, with: writer)
    return !requests.isEmpty
  }

  /// Delivers the shards' mail; what is published on one shard goes to the others.
  @discardableResult func stepMail() -> Bool {
    var isBusy = false
    for (index, shard) in shards.enumerated() {
      var mail: [ShardMail] = []
      mailboxes[index].drain(into: &mail)
      for message in mail { shard.core.mail(message, at: moment) }
      for message in shard.core.takePublications() {
        for other in mailboxes.indices where other != index { mailboxes[other].post(message) }
      }
      shard.core.closeOverflowed()
      if !mail.isEmpty { isBusy = true }
    }
    return isBusy
  }

  func post(_ mail: ShardMail, toShard index: Int = 0) { mailboxes[index].post(mail) }

  /// Commits changes as the application would, outside every session.
  func apply(_ changes: Mutation.Change..., by actor: Actor = .application) {
    let nowhere = ReplyAddress(shard: 0, connection: .none, form: .http)
    committer.work(
      on: changes.map { WriteRequest(mutation: Mutation(actor: actor, change: $0), replyTo: nowhere) }, with: writer)
  }

  func makeHandle() -> Handle {
    defer { nextSlot += 1 }
    return Handle(index: nextSlot, generation: 1)
  }
}
