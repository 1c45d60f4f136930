package import Bus
import Chat
import Primitives
package import Store
import Telemetry
import Wire
package import Workers

/// The thread that owns the store's writer: group commit without a timer.
///
/// Everything that waited while the last commit ran becomes the next batch. Only after the commit is durable are events
/// encoded and mailed to every shard, each mutation's reply behind its events (M8). When a commit fails, every request
/// of its batch is refused with `ERR_STORE_UNAVAILABLE` and nothing of it exists.
package final class Committer: Sendable {
  package let requests: Mailbox<WriteRequest>
  private let shards: [Mailbox<ShardMail>]
  private let bus: any Bus
  private let node: NodeID
  private let counters: GatewayCounters
  private let readiness: Readiness
  private let batchSize: Int

  package init(
    shards: [Mailbox<ShardMail>], bus: any Bus, node: NodeID, counters: GatewayCounters, readiness: Readiness,
    settings: GatewaySettings
  ) {
    self.shards = shards
    self.bus = bus
    self.node = node
    self.counters = counters
    self.readiness = readiness
    batchSize = settings.batchSize
    requests = Mailbox(limit: settings.writerQueue, wakeup: Wakeup())
  }

  /// Refuses what comes from now on to nobody: call when no shard posts any more. What waits is still committed.
  package func stop() { requests.finish() }

  /// The thread's body. Returns after `stop`, when nothing waits.
  package func run(_ writer: any StoreWriter) {
    var waiting: [WriteRequest] = []
    var quietSeconds = 0
    while true {
      waiting.removeAll(keepingCapacity: true)
      let deadline = Clock.now().advanced(bySeconds: 1)
      if requests.wait(until: deadline, drainingInto: &waiting) {
        work(on: waiting, with: writer)
        quietSeconds = 0
      } else if requests.isFinished {
        return
      } else {
        quietSeconds += 1
        look(at: writer, quietSeconds: quietSeconds)
      }
    }
  }

  /// How many quiet seconds pass between two probes of a store that works.
  static let probeSeconds = 10

  /// After a second without requests: is the store still there, and does one that failed work again (S10, S11)? A store
  /// that works is only looked at, and proven by a commit every ten seconds; one that does not is tried each time.
  func look(at writer: any StoreWriter, quietSeconds: Int) {
    let before = readiness.isStoreWorking
    let isProof = !before || quietSeconds % Self.probeSeconds == 0
    let works = writer.isInPlace() && (!isProof || writer.isWritable())
    guard works != before else { return }
    readiness.setStoreWorks(works)
    if works {
      counters.log.info("store_recovered")
    } else {
      counters.log.error(
        "store_failed", ["reason": .text(writer.isInPlace() ? "a commit fails" : "its files are gone")])
    }
  }

  /// Commits requests in order, a batch at a time, and mails what came of each.
  func work(on requests: [WriteRequest], with writer: any StoreWriter) {
    var start = 0
    while start < requests.count {
      let end = min(start + batchSize, requests.count)
      commit(Array(requests[start..<end]), writer)
      start = end
    }
  }

  private func commit(_ batch: [WriteRequest], _ writer: any StoreWriter) {
    let begun = Clock.now()
    let commit: Commit
    do throws(StoreFailure) {
      commit = try writer.commit(batch.map(\.mutation), at: UnixSeconds(Clock.unixSeconds()))
    } catch {
      readiness.setStoreWorks(false)
      counters.failedCommits.increment()
      counters.log.error("commit_failed", ["reason": .text(error.message), "requests": .integer(Int64(batch.count))])
      return refuse(batch)
    }
    readiness.setStoreWorks(true)
    let committedAt = Clock.now()
    counters.commitSeconds.record(committedAt.nanoseconds(since: begun))
    counters.batchChanges.record(UInt64(batch.count))
    publish(batch, commit, committedAt)
    writer.tidy()
  }

  private func refuse(_ batch: [WriteRequest]) {
    let refusal = Refusal(.storeUnavailable)
    for request in batch {
      let reply = Reply.make(for: request.replyTo.form, .failure(refusal))
      post(.reply(request.replyTo, reply), to: request.replyTo.shard)
    }
  }

  private func publish(_ batch: [WriteRequest], _ commit: Commit, _ committedAt: Instant) {
    var steps: [CommittedStep] = []
    steps.reserveCapacity(batch.count)
    var encoded: [EventBatch.EncodedEvent] = []
    for (request, outcome) in zip(batch, commit.outcomes) {
      var deliveries: [CommittedStep.Delivery] = []
      for event in outcome.events {
        let text = EventEncoder.encode(event) ?? []
        encoded.append(.init(event: event, text: text))
        deliveries.append(.init(event: event, text: text, excluded: excludedSession(event, request)))
      }
      counters.count(outcome)
      let reply = Reply.make(
        for: request.replyTo.form, outcome.answer(disclosing: request.disclosure))
      steps.append(CommittedStep(deliveries: deliveries, replyTo: request.replyTo, reply: reply))
    }
    let mail = ShardMail.committed(CommittedBatch(steps: steps, head: commit.head, committedAt: committedAt))
    for shard in shards.indices { post(mail, to: shard) }
    if !encoded.isEmpty {
      bus.publish(EventBatch(events: encoded, previousHead: commit.previousHead, head: commit.head), from: node)
    }
  }

  /// M15, T15: the session that acted hears nothing of its own act; of an automatic subscription it does.
  private func excludedSession(_ event: Event, _ request: WriteRequest) -> SessionAddress? {
    switch event.body {
    case .message, .messageChanged, .reaction, .groupMember: return request.replyTo.session
    case .threadSubscription(let change): return change.cause == .explicit ? request.replyTo.session : nil
    case .tokensRevoked: return nil
    }
  }

  /// A shard drains its mailbox every turn; its limit is above what the bounded queues before it can produce.
  private func post(_ mail: ShardMail, to shard: Int) {
    while shards[shard].post(mail) == .full { Backoff.pauseMilliseconds(1) }
  }
}
