import Chat
import Glibc
package import Primitives
package import Reactor
import Store
import Telemetry
import Wire
package import Workers

/// Drives one `ShardCore` with one event loop: passes on what happened, and at the end of a turn carries out what the
/// core wants: mail to the workers in one post each, then one write for every dirty socket.
///
/// Made on its loop's thread and confined to it.
package final class Shard: LoopHandler {
  /// Everything a shard shares with the rest of the node.
  package struct Surroundings: Sendable {
    package var mailbox: Mailbox<ShardMail>
    package var committer: Mailbox<WriteRequest>
    /// The reader that this shard asks.
    package var reader: Mailbox<ReadRequest>
    /// The other shards, for what is published on `/pub`.
    package var peers: [Mailbox<ShardMail>]

    package init(
      mailbox: Mailbox<ShardMail>, committer: Mailbox<WriteRequest>, reader: Mailbox<ReadRequest>,
      peers: [Mailbox<ShardMail>]
    ) {
      self.mailbox = mailbox
      self.committer = committer
      self.reader = reader
      self.peers = peers
    }
  }

  /// Slices of one write; more wait for the next.
  private static let slicesPerWrite = 256

  private var core: ShardCore
  /// The loop keeps its handler alive, not the other way round, and every call here comes from it.
  private unowned(unsafe) let loop: EventLoop
  private let surroundings: Surroundings
  /// Which listeners speak TLS.
  private let isEncrypted: [Bool]
  private var inbox: [ShardMail] = []
  private var dirty: [UInt32] = []
  /// Batches fanned out in this turn, to be measured once they are written.
  private var written: [CommittedBatch] = []
  private var pacer = FlushPacer()
  /// The clocks as read in the turn of its instant.
  private var lastMoment = Moment(instant: Instant(nanoseconds: 0), unix: UnixSeconds(0))
  private let slices = UnsafeMutableBufferPointer<iovec>.allocate(capacity: slicesPerWrite)

  package init(core: consuming ShardCore, loop: EventLoop, surroundings: Surroundings, isEncrypted: [Bool]) {
    self.core = core
    self.loop = loop
    self.surroundings = surroundings
    self.isEncrypted = isEncrypted
  }

  deinit { slices.deallocate() }

  private var moment: Moment {
    if lastMoment.instant != loop.now {
      lastMoment = Moment(instant: loop.now, unix: UnixSeconds(Clock.unixSeconds()))
    }
    return lastMoment
  }

  package func admits(_ peer: PeerAddress) -> Bool { core.hasRoom }

  package func opened(_ connection: Handle, listener: Int, peer: PeerAddress) {
    core.opened(connection, isEncrypted: isEncrypted[listener], at: moment)
  }

  package func received(_ connection: Handle, _ bytes: UnsafeMutableRawBufferPointer) {
    core.received(connection, bytes, at: moment)
    carryOutIntents()
  }

  package func writable(_ connection: Handle) { core.writable(connection, at: moment) }

  package func closed(_ connection: Handle, _ cause: CloseCause) { core.closed(connection, at: moment) }

  package func mail() {
    inbox.removeAll(keepingCapacity: true)
    surroundings.mailbox.drain(into: &inbox)
    let moment = moment
    for mail in inbox {
      core.mail(mail, at: moment)
      if case .committed(let batch) = mail { measureFanOut(batch) }
    }
    inbox.removeAll(keepingCapacity: true)
    carryOutIntents()
  }

  package func deadline(now: Instant) {
    core.deadline(at: moment)
    carryOutIntents()
  }

  package func nextDeadline() -> Instant { min(core.nextDeadline(), pacer.deadline) }

  package func endTurn(now: Instant) {
    core.closeOverflowed()
    postRequests()
    carryOutIntents()
    flush()
    // A replay goes on when its last page has left.
    if !core.replaying.isEmpty { postRequests() }
    carryOutIntents()
    measureEndToEnd()
    core.metrics.queuedBytes.set(Int64(core.outlets.queuedBytes))
  }

  private func measureFanOut(_ batch: CommittedBatch) {
    guard batch.committedAt != .never else { return }
    core.metrics.fanOut.record(Clock.now().nanoseconds(since: batch.committedAt))
    written.append(batch)
  }

  /// What was queued in this turn has just been written, unless a hold lasts. A change without events has nobody to reach.
  private func measureEndToEnd() {
    guard !written.isEmpty, !pacer.isHolding else { return }
    let now = Clock.now()
    for batch in written {
      for step in batch.steps where !step.deliveries.isEmpty {
        guard let receivedAt = step.replyTo?.receivedAt, receivedAt != .never else { continue }
        core.metrics.endToEnd.record(now.nanoseconds(since: receivedAt))
      }
    }
    written.removeAll(keepingCapacity: true)
  }

  private func carryOutIntents() {
    guard !core.intents.isEmpty else { return }
    let intents = core.takeIntents()
    for intent in intents {
      switch intent {
      case .pauseReading(let handle): loop.pauseReading(handle)
      case .resumeReading(let handle): loop.resumeReading(handle)
      case .close(let handle): loop.close(handle, .graceful)
      case .abort(let handle): loop.close(handle, .abort)
      }
    }
  }

  /// One post a turn to each worker. A full queue refuses: nothing waits without a limit.
  private func postRequests() {
    if !core.writes.isEmpty {
      let writes = core.takeWrites()
      if surroundings.committer.post(contentsOf: writes) == .full { core.refuseOverloaded(writes) }
    }
    let reads = core.takeReads()
    if !reads.isEmpty {
      if surroundings.reader.post(contentsOf: reads) == .full { core.refuseOverloaded(reads) }
    }
    if !core.publications.isEmpty {
      for mail in core.takePublications() {
        // Ephemeral events and the benchmark endpoint: a shard that cannot take more misses them, as a slow reader would.
        for peer in surroundings.peers { peer.post(mail) }
      }
    }
  }

  /// One write for each dirty socket, now or when the pacer says so; what does not fit waits until the socket has room.
  private func flush() {
    guard core.outlets.hasDirty else { return }
    let frames = core.outlets.framesQueued
    guard pacer.shouldFlush(at: loop.now, frames: frames, bytes: core.outlets.bytesMade) else { return }
    core.outlets.takeDirty(into: &dirty)
    for slot in dirty { flush(slot) }
    pacer.flushed(turnBegan: loop.now, now: Clock.now(), frames: frames, writes: dirty.count)
  }

  private func flush(_ slot: UInt32) {
    while true {
      switch core.outlets.gather(slot, into: slices) {
      case .empty(let isClosing):
        if isClosing { loop.close(core.outlets.handle(ofSlot: slot), .graceful) }
        return
      case .slices(let count, let bytes):
        let handle = core.outlets.handle(ofSlot: slot)
        switch loop.write(handle, UnsafeBufferPointer(rebasing: slices[..<count])) {
        case .complete: core.outlets.wrote(slot, byteCount: bytes)
        case .partial(let taken):
          if taken > 0 { core.outlets.wrote(slot, byteCount: taken) }
          core.outlets.block(slot)
          return
        case .failed:
          core.outlets.close(handle)
          return
        }
      }
    }
  }
}
