import Bus
import Chat
import Primitives
import Store
import Telemetry
import Workers

@testable import Gateway

/// A node's life from the opening of its store to its crash or its drain: two shards, a committer and readers, each run
/// by hand where its thread would run.
final class SimulatedNode {
  let store: FaultyStore
  let loops: [SimulatedLoop]
  let committer: Committer
  let readiness = Readiness()
  let counters: GatewayCounters
  private let readers: [(worker: ReadWorker, reader: any StoreReader)]
  private let writer: any StoreWriter
  private let faults: StoreFaults
  /// The requests that the committer is working on, and how far it is.
  private var inWork: [WriteRequest] = []
  private var begun = 0
  /// The changes of the commit that runs.
  private(set) var committing: [WriteRequest] = []
  private var busyReader: Int?
  /// Another thread may run inside of one, but not inside of that again.
  private(set) var isInside = false

  init(
    folder: String, settings: GatewaySettings, faults: StoreFaults, dice: Dice, moment: Moment,
    prepare: (any StoreWriter) throws -> Void = { _ in }
  ) throws {
    self.faults = faults
    let store = FaultyStore(try SQLiteStore.open(folder: folder), faults: faults)
    self.store = store
    writer = try store.makeWriter()
    try prepare(writer)
    let mailboxes = (0..<2).map { _ in Mailbox<ShardMail>(limit: 65_536, wakeup: Wakeup()) }
    let counters = GatewayCounters(registry: MetricRegistry(), log: Log(sink: { _ in true }), shards: 2)
    self.counters = counters
    let committer = Committer(
      shards: mailboxes, bus: InProcessBus(), node: NodeID("simulated"), counters: counters, readiness: readiness,
      settings: settings)
    self.committer = committer
    var readers: [(worker: ReadWorker, reader: any StoreReader)] = []
    for _ in 0..<2 {
      let worker = ReadWorker(
        shards: mailboxes, committer: committer.requests, counters: counters, settings: settings)
      readers.append((worker, try store.makeReader()))
    }
    self.readers = readers
    let position = try store.makeReader().head()
    let readiness = self.readiness
    loops = (0..<2).map { index in
      SimulatedLoop(
        index: index,
        core: ShardCore(
          index: index, settings: settings, epoch: store.epoch, position: position, counters: counters,
          readiness: readiness, at: moment),
        surroundings: .init(
          mailbox: mailboxes[index], committer: committer.requests, reader: readers[index].worker.requests,
          peers: [mailboxes[1 - index]]),
        dice: dice)
    }
    faults.committing = { [unowned self] count in begin(count) }
  }

  private func begin(_ count: Int) {
    committing = Array(inWork[begun..<min(begun + count, inWork.count)])
    begun += count
  }

  /// The committer's thread wakes up.
  @discardableResult func runCommitter() -> Bool {
    guard inWork.isEmpty else { return false }
    var requests: [WriteRequest] = []
    committer.requests.drain(into: &requests)
    guard !requests.isEmpty else { return false }
    inWork = requests
    begun = 0
    committer.work(on: requests, with: writer)
    committing = []
    inWork = []
    return true
  }

  /// A reader's thread wakes up.
  @discardableResult func runReader(_ index: Int) -> Bool {
    guard busyReader != index else { return false }
    let outer = busyReader
    busyReader = index
    defer { busyReader = outer }
    var questions: [ReadRequest] = []
    readers[index].worker.requests.drain(into: &questions)
    readers[index].worker.work(on: questions, with: readers[index].reader)
    return !questions.isEmpty
  }

  /// Runs `body` where one thread has paused, unless one is paused already.
  func inside(_ body: () -> Void) {
    guard !isInside else { return }
    isInside = true
    body()
    isInside = false
  }

  /// The committer looks whether a store that failed works again, as it does every quiet second.
  func probe() {
    if !readiness.isStoreWorking { readiness.setStoreWorks(writer.isWritable()) }
  }

  /// A question past every fault, for the judge.
  func look<Value>(_ body: (any StoreReader) throws -> Value) throws -> Value { try body(store.inner.makeReader()) }
}
