import Chat
import Glibc
import Primitives
import Workers

@testable import Gateway

/// One shard and its event loop, a turn at a time: the order of calls is that of `EventLoop` and `Shard`, the sockets
/// and the clock are simulated.
final class SimulatedLoop {
  /// Where a loop's requests go.
  struct Surroundings {
    var mailbox: Mailbox<ShardMail>
    var committer: Mailbox<WriteRequest>
    var reader: Mailbox<ReadRequest>
    var peers: [Mailbox<ShardMail>]
  }

  /// `EventLoop` waits so long for the peer's end after its own.
  static let lingerMilliseconds: UInt64 = 2000

  let index: Int
  var core: ShardCore
  let surroundings: Surroundings
  private let dice: Dice
  private(set) var sockets: [SimulatedSocket?] = []
  private var generations: [UInt32] = []
  private var free: [Int] = []
  private var ended: [SimulatedSocket] = []
  private let slices = UnsafeMutableBufferPointer<iovec>.allocate(capacity: 8)
  private var inbox: [ShardMail] = []
  private var dirty: [UInt32] = []
  /// Told of requests that the committer has taken in.
  var handedOver: ([WriteRequest]) -> Void = { _ in }
  /// Looks at the shard when its queues are longest: before the writes of a turn.
  var inspect: (SimulatedLoop) -> Void = { _ in }

  init(index: Int, core: consuming ShardCore, surroundings: Surroundings, dice: Dice) {
    self.index = index
    self.core = core
    self.surroundings = surroundings
    self.dice = dice
  }

  deinit { slices.deallocate() }

  var openSockets: [SimulatedSocket] { sockets.compactMap { $0 } }

  func socket(_ handle: Handle) -> SimulatedSocket? {
    guard Int(handle.index) < sockets.count, let socket = sockets[Int(handle.index)], socket.handle == handle else {
      return nil
    }
    return socket
  }

  /// A client's connection; the loop opens it in its next turn. Slots are used again as soon as they are free.
  func connect(number: Int, capacity: Int) -> SimulatedSocket {
    let slot: Int
    if let last = free.popLast() {
      slot = last
    } else {
      slot = sockets.count
      sockets.append(nil)
      generations.append(0)
    }
    generations[slot] += generations[slot] % 2 == 0 ? 1 : 2
    let socket = SimulatedSocket(
      handle: Handle(index: UInt32(slot), generation: generations[slot]), number: number, capacity: capacity)
    sockets[slot] = socket
    return socket
  }

  // MARK: A turn

  /// - Parameters:
  ///   - eagerness: of a thousand ready sockets, so many are served in this turn.
  ///   - readsMail: whether the wake-up is seen in this turn.
  func turn(at moment: Moment, eagerness: Int, readsMail: Bool) {
    let mailFirst = dice.chance(500)
    if readsMail, mailFirst { readMail(moment) }
    for socket in dice.shuffled(openSockets) where dice.chance(eagerness) { serve(socket, moment) }
    if readsMail, !mailFirst { readMail(moment) }
    for socket in openSockets where socket.state == .lingering && socket.lingerEnds <= moment.instant {
      finish(socket)
    }
    if core.nextDeadline() <= moment.instant {
      core.deadline(at: moment)
      carryOutIntents(moment)
    }
    reportEnded(moment)
    core.closeOverflowed()
    postRequests()
    carryOutIntents(moment)
    inspect(self)
    flush()
    if !core.replaying.isEmpty { postRequests() }
    carryOutIntents(moment)
  }

  private func readMail(_ moment: Moment) {
    surroundings.mailbox.drain(into: &inbox)
    for mail in inbox { core.mail(mail, at: moment) }
    inbox.removeAll(keepingCapacity: true)
    carryOutIntents(moment)
  }

  private func serve(_ socket: SimulatedSocket, _ moment: Moment) {
    guard socket.state != .dead else { return }
    if !socket.isOpened {
      socket.isOpened = true
      core.opened(socket.handle, isEncrypted: false, at: moment)
      return
    }
    if socket.wantsWrite, socket.room > 0 || socket.clientReset {
      socket.wantsWrite = false
      if socket.state == .open, socket.owesWritable {
        socket.owesWritable = false
        core.writable(socket.handle, at: moment)
      }
    }
    if socket.clientReset { return finish(socket) }
    switch socket.state {
    case .open where !socket.isPaused: read(socket, moment)
    case .lingering:
      socket.toServer = []
      if socket.clientEnded { finish(socket) }
    case .open, .dead: break
    }
  }

  private func read(_ socket: SimulatedSocket, _ moment: Moment) {
    if socket.toServer.isEmpty {
      if socket.clientEnded { finish(socket) }
      return
    }
    let size = dice.chance(300) ? dice.from(1...min(16, socket.toServer.count)) : socket.toServer.count
    var chunk = Array(socket.toServer.prefix(size))
    socket.toServer.removeFirst(size)
    chunk.withUnsafeMutableBytes { core.received(socket.handle, $0, at: moment) }
    carryOutIntents(moment)
  }

  private func carryOutIntents(_ moment: Moment) {
    for intent in core.takeIntents() {
      switch intent {
      case .pauseReading(let handle): if let socket = live(handle) { socket.isPaused = true }
      case .resumeReading(let handle): if let socket = live(handle) { socket.isPaused = false }
      case .close(let handle): if let socket = live(handle) { endStream(socket, moment) }
      case .abort(let handle):
        if let socket = self.socket(handle), socket.state != .dead {
          socket.serverReset = true
          finish(socket)
        }
      }
    }
  }

  private func live(_ handle: Handle) -> SimulatedSocket? {
    guard let socket = socket(handle), socket.state == .open else { return nil }
    return socket
  }

  private func endStream(_ socket: SimulatedSocket, _ moment: Moment) {
    socket.state = .lingering
    socket.serverEnded = true
    socket.wantsWrite = false
    socket.owesWritable = false
    socket.lingerEnds = moment.instant.advanced(byMilliseconds: Self.lingerMilliseconds)
  }

  private func finish(_ socket: SimulatedSocket) {
    guard socket.state != .dead else { return }
    socket.state = .dead
    socket.serverEnded = true
    ended.append(socket)
  }

  private func reportEnded(_ moment: Moment) {
    let batch = ended
    ended = []
    for socket in batch {
      let slot = Int(socket.handle.index)
      sockets[slot] = nil
      generations[slot] += 1
      free.append(slot)
      if socket.isOpened { core.closed(socket.handle, at: moment) }
    }
  }

  private func postRequests() {
    let writes = core.takeWrites()
    if !writes.isEmpty {
      if surroundings.committer.post(contentsOf: writes) == .full {
        core.refuseOverloaded(writes)
      } else {
        handedOver(writes)
      }
    }
    let reads = core.takeReads()
    if !reads.isEmpty, surroundings.reader.post(contentsOf: reads) == .full { core.refuseOverloaded(reads) }
    for message in core.takePublications() {
      for peer in surroundings.peers { peer.post(message) }
    }
  }

  private func flush() {
    guard core.outlets.hasDirty else { return }
    core.outlets.takeDirty(into: &dirty)
    for slot in dirty { flush(slot) }
  }

  private func flush(_ slot: UInt32) {
    let handle = core.outlets.handle(ofSlot: slot)
    while true {
      switch core.outlets.gather(slot, into: slices) {
      case .empty(let isClosing):
        if isClosing, let socket = live(handle) { endStream(socket, Moment(instant: now, unix: UnixSeconds(0))) }
        return
      case .slices(let count, let bytes):
        guard let socket = socket(handle) else { return core.outlets.close(handle) }
        let budget = dice.chance(200) ? dice.from(1...200) : 1 << 16
        switch socket.write(UnsafeBufferPointer(rebasing: slices[..<count]), budget: budget) {
        case .complete: core.outlets.wrote(slot, byteCount: bytes)
        case .partial(let taken):
          if taken > 0 { core.outlets.wrote(slot, byteCount: taken) }
          core.outlets.block(slot)
          return
        case .failed:
          if socket.state == .open { finish(socket) }
          core.outlets.close(handle)
          return
        }
      }
    }
  }

  private var now: Instant { core.moment.instant }

  // MARK: The end

  /// The loop stops: what is open is aborted, and the shard is told.
  func stop(at moment: Moment) {
    for socket in openSockets where socket.state != .dead {
      socket.serverReset = true
      finish(socket)
    }
    reportEnded(moment)
  }
}
