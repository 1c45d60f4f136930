import CLinux
import Glibc
import Primitives
import Reactor
import Workers

/// A handler that queues bytes for each connection, flushes them at the end of a turn, writes everything it hears into
/// a journal and runs what a test posts.
final class RigHandler: LoopHandler {
  typealias Job = @Sendable (RigHandler) -> Void

  unowned let loop: EventLoop
  private let journal: Journal
  private let jobs: Mailbox<Job>
  private let echoes: Bool
  private var batch: [Job] = []
  private var queues: [Handle: [UInt8]] = [:]
  private var stalled: Set<Handle> = []
  /// Closed gracefully once its queue is empty.
  private var closing: Set<Handle> = []
  var admitting = true
  var alarm = Instant.never
  /// Runs on every chunk before it is echoed.
  var onReceive: ((RigHandler, Handle) -> Void)?

  init(loop: EventLoop, journal: Journal, jobs: Mailbox<Job>, echoes: Bool) {
    self.loop = loop
    self.journal = journal
    self.jobs = jobs
    self.echoes = echoes
  }

  func queue(_ bytes: [UInt8], to handle: Handle) { queues[handle, default: []].append(contentsOf: bytes) }

  func closeWhenFlushed(_ handle: Handle) { closing.insert(handle) }

  func admits(_ peer: PeerAddress) -> Bool { admitting }

  func abandoned(_ peer: PeerAddress) { journal.record(.abandoned) }

  func opened(_ connection: Handle, listener: Int, peer: PeerAddress) {
    queues[connection] = []
    journal.record(.opened(connection, listener: listener))
  }

  func received(_ connection: Handle, _ bytes: UnsafeMutableRawBufferPointer) {
    journal.record(.received(connection, Array(bytes)))
    if echoes { queue(Array(bytes), to: connection) }
    onReceive?(self, connection)
  }

  func writable(_ connection: Handle) {
    stalled.remove(connection)
    journal.record(.writable(connection))
    flush(connection)
  }

  func closed(_ connection: Handle, _ cause: CloseCause) {
    queues[connection] = nil
    stalled.remove(connection)
    journal.record(.closed(connection, cause))
  }

  func mail() {
    jobs.drain(into: &batch)
    for job in batch { job(self) }
    batch.removeAll(keepingCapacity: true)
  }

  func deadline(now: Instant) {
    alarm = .never
    journal.record(.deadline)
  }

  func nextDeadline() -> Instant { alarm }

  func endTurn(now: Instant) {
    for handle in Array(queues.keys) where !stalled.contains(handle) { flush(handle) }
  }

  /// Writes in uneven slices, so that boundaries of slices, records and short writes do not fall together.
  private func flush(_ handle: Handle) {
    guard let bytes = queues[handle] else { return }
    if !bytes.isEmpty {
      let outcome = bytes.withUnsafeBytes { all in
        var slices: [iovec] = []
        var at = 0
        var length = 1
        while at < all.count, slices.count < 1500 {
          let count = min(length, all.count - at)
          slices.append(
            iovec(iov_base: UnsafeMutableRawPointer(mutating: all.baseAddress.map { $0 + at }), iov_len: count))
          at += count
          length = length % 40_000 * 3 + 1
        }
        let given = at
        let outcome = slices.withUnsafeBufferPointer { loop.write(handle, $0) }
        return outcome == .complete && given < all.count ? WriteOutcome.partial(given) : outcome
      }
      switch outcome {
      case .complete: queues[handle] = []
      case .partial(let count):
        queues[handle] = Array(bytes[count...])
        stalled.insert(handle)
      case .failed:
        queues[handle] = nil
        return
      }
    }
    if queues[handle]?.isEmpty == true, closing.remove(handle) != nil { loop.close(handle, .graceful) }
  }
}

/// One loop on its thread with a journal and a mailbox for jobs.
final class Rig: Sendable {
  let journal = Journal()
  let control = LoopControl()
  let jobs: Mailbox<RigHandler.Job>
  let thread: LoopThread
  let groups: [ListenerGroup]

  init(_ groups: [ListenerGroup], configuration: LoopConfiguration = LoopConfiguration(), echoes: Bool = false) {
    self.groups = groups
    let jobs = Mailbox<RigHandler.Job>(limit: 10_000, wakeup: control.wakeup)
    let journal = journal
    self.jobs = jobs
    thread = LoopThread(name: "rig", configuration: configuration, listeners: groups, control: control) {
      RigHandler(loop: $0, journal: journal, jobs: jobs, echoes: echoes)
    }
  }

  /// A rig on a port of its own on 127.0.0.1.
  convenience init(
    tls: TLSContext? = nil, configuration: LoopConfiguration = LoopConfiguration(), echoes: Bool = false
  ) throws {
    let group = try ListenerGroup(
      opening: .tcp(host: "127.0.0.1", port: 0), loops: 1, tls: tls.map { TLSContextSlot($0) })
    self.init([group], configuration: configuration, echoes: echoes)
  }

  var port: UInt16 {
    if case .tcp(_, let port) = groups[0].address { return port }
    return 0
  }

  var metrics: LoopMetrics { thread.metrics }

  func onLoop(_ job: @escaping RigHandler.Job) { jobs.post(job) }

  func stop() { thread.stopAndJoin() }
}
