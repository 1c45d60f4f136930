package import Bus
import Chat
import Primitives
package import Reactor
package import Store
package import Telemetry
import Workers

/// A running gateway: its threads in order, its mailboxes, its drain.
///
/// Built from the ground up (readers, committer, loops) and stopped from the top down, so that nobody ever posts to a
/// thread that is gone. Confined to the thread that makes it, but for the mailboxes.
package final class Node {
  private let counters: GatewayCounters
  private let readiness = Readiness()
  private let bus: any Bus
  private let id: NodeID
  private let mailboxes: [Mailbox<ShardMail>]
  private let committer: Committer
  private let readers: [ReadWorker]
  private var readerThreads: [WorkerThread] = []
  private var committerThread: WorkerThread?
  private var loops: [LoopThread] = []

  /// How many threads of each kind.
  package struct Shape: Sendable {
    /// Event loops: one a core.
    package var loops: Int
    /// Threads that read the store.
    package var readers: Int
    package init(loops: Int, readers: Int) {
      precondition(loops > 0 && readers > 0, "a node has at least one loop and one reader")
      self.loops = loops
      self.readers = readers
    }
  }

  /// Starts every thread. The writer and the readers are made here and handed to their threads.
  /// - Parameter listeners: opened for `shape.loops` loops.
  /// - Throws: when the store cannot be opened for reading or writing.
  package init(
    store: any Store, listeners: [ListenerGroup], shape: Shape, settings: GatewaySettings, bus: any Bus,
    registry: MetricRegistry, log: Log
  ) throws(StoreFailure) {
    let counters = GatewayCounters(registry: registry, log: log, shards: shape.loops)
    self.counters = counters
    self.bus = bus
    id = NodeID(RandomID.make())
    let controls = (0..<shape.loops).map { _ in LoopControl() }
    let mailboxes = controls.map { Mailbox<ShardMail>(limit: 1 << 16, wakeup: $0.wakeup) }
    self.mailboxes = mailboxes
    let readiness = self.readiness
    let committer = Committer(
      shards: mailboxes, bus: bus, node: id, counters: counters, readiness: readiness, settings: settings)
    self.committer = committer
    let readers = (0..<shape.readers).map { _ in
      ReadWorker(shards: mailboxes, committer: committer.requests, counters: counters, settings: settings)
    }
    self.readers = readers

    let writer = try store.makeWriter()
    let position = try store.makeReader().head()
    for (number, worker) in readers.enumerated() {
      let reader = try store.makeReader()
      readerThreads.append(WorkerThread.start(name: "tc-read-\(number)") { worker.run(reader) })
    }
    committerThread = WorkerThread.start(name: "tc-commit") { committer.run(writer) }

    let isEncrypted = listeners.map { $0.tls != nil }
    let epoch = store.epoch
    for number in 0..<shape.loops {
      let surroundings = Shard.Surroundings(
        mailbox: mailboxes[number], committer: committer.requests, reader: readers[number % readers.count].requests,
        peers: mailboxes.indices.filter { $0 != number }.map { mailboxes[$0] })
      let loopMetrics = LoopMetrics()
      loopMetrics.register(in: registry)
      loops.append(
        LoopThread(
          name: "tc-loop-\(number)", listeners: listeners, loop: number, control: controls[number],
          metrics: loopMetrics, log: log
        ) { loop in
          let core = ShardCore(
            index: number, settings: settings, epoch: epoch, position: position, counters: counters,
            readiness: readiness, at: Moment(instant: loop.now, unix: UnixSeconds(Clock.unixSeconds())))
          return Shard(core: core, loop: loop, surroundings: surroundings, isEncrypted: isEncrypted)
        })
    }
    registerDepths(in: registry)
    let receivers = mailboxes
    bus.join(id) { batch in
      let steps = [
        CommittedStep(
          deliveries: batch.events.map { .init(event: $0.event, text: $0.text, excluded: nil) }, replyTo: nil,
          reply: nil)
      ]
      let mail = ShardMail.committed(CommittedBatch(steps: steps, head: batch.head))
      // A node that cannot keep up loses a hint, and finds the hole in the log.
      for mailbox in receivers { mailbox.post(mail) }
    }
  }

  /// How full the mailboxes are, and whether the node is ready: looked at when scraped.
  private func registerDepths(in registry: MetricRegistry) {
    let depths = "threadcast_mailbox_messages"
    let limits = "threadcast_mailbox_limit_messages"
    let help = "Messages that wait in the mailboxes of a kind of thread."
    let limitHelp = "Messages that may wait in the mailboxes of a kind of thread."
    func register<Message>(_ name: String, _ mailboxes: [Mailbox<Message>]) {
      registry.gauge(depths, help: help, labels: [("mailbox", name)]) {
        Double(mailboxes.reduce(0) { $0 + $1.count })
      }
      registry.gauge(limits, help: limitHelp, labels: [("mailbox", name)]) {
        Double(mailboxes.reduce(0) { $0 + $1.limit })
      }
    }
    register("committer", [committer.requests])
    register("readers", readers.map(\.requests))
    register("shards", mailboxes)
    let readiness = readiness
    registry.gauge("threadcast_ready", help: "1 while the node accepts and commits, else 0.") {
      readiness.isReady ? 1 : 0
    }
    registry.gauge("threadcast_store_working", help: "1 while the store commits, else 0.") {
      readiness.isStoreWorking ? 1 : 0
    }
  }

  /// Makes every shard go by new settings (S7); each changes between two turns, and what it is in the middle of is
  /// finished under the old ones. What belongs to threads and queues (`writerQueue`, `readerQueue`, `batchSize`) stays.
  package func reload(_ settings: GatewaySettings) {
    for mailbox in mailboxes {
      while mailbox.post(.reload(settings)) == .full { Backoff.pauseMilliseconds(1) }
    }
  }

  /// Whether the node accepts and commits (S10).
  package var isReady: Bool { readiness.isReady }

  /// Sessions that are live now.
  package var sessionCount: Int64 { counters.sessions.value }

  /// Sends every session away and stops every thread (S7). What the committer has taken in is committed first.
  /// - Parameter seconds: how long sessions get to go in order.
  package func drainAndStop(seconds: Int) {
    readiness.setDraining()
    bus.leave(id)
    for mailbox in mailboxes { mailbox.post(.drain(seconds: seconds)) }
    let deadline = Clock.now().advanced(bySeconds: UInt64(max(seconds, 0)))
    while counters.connections.value > 0, Clock.now() < deadline { Backoff.pauseMilliseconds(10) }
    for loop in loops { loop.stopAndJoin() }
    for reader in readers { reader.stop() }
    for thread in readerThreads { thread.join() }
    committer.stop()
    committerThread?.join()
  }
}
