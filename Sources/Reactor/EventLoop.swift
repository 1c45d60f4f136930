import CLinux
import Glibc
package import Primitives
package import Telemetry
package import Workers

/// One epoll set and everything that hangs on it: listeners, connections in a slab, one receive buffer, deadlines.
///
/// A turn: sleep until something is ready → reads left over by the budget of the turn before → wake-up, accepts, writes
/// and reads → handshakes → deadlines → `closed` for what ended → `endTurn`. All calls but those to `control` belong to the thread in
/// `run()`, most of them from inside a handler's call.
package final class EventLoop {
  static let receiveCapacity = 131_072
  static let eventsPerTurn = 512
  static let recordCapacity = 16_384
  /// User data of the wake-up; connections have odd generations, listeners and the wake-up generation zero.
  static let wakeupData = UInt64(UInt32.max)

  /// What other threads may touch.
  package let control: LoopControl
  /// The limits this loop runs under.
  package let configuration: LoopConfiguration
  /// Counters of this loop.
  package let metrics: LoopMetrics
  let log: Log?
  /// The monotonic clock as read at the start of this turn.
  package internal(set) var now: Instant

  let epoll: Int32
  let receiveBuffer: UnsafeMutableRawPointer
  /// Where slices are gathered into one TLS record.
  let record: UnsafeMutableRawPointer
  let listeners: [LoopListener]
  var handler: (any LoopHandler)?
  var connections: Slab<Connection>
  var handshaking = 0
  var timers: TimerWheel
  var expired: [UInt64] = []
  /// Connections whose budget or pause left bytes behind that no socket event will announce (C004).
  var readable: [Handle] = []
  /// Handshakes with something to do, oldest first.
  var handshakes: Ring<Handle>
  /// Dead connections whose `closed` has not been told.
  var ended: [Handle] = []
  var listenersAreArmed = false
  var stopsAccepting = false
  var acceptResumesAt = Instant.never
  var acceptPauseMilliseconds: UInt64
  /// When the first of a row of pauses began: until a connection can be accepted again.
  var acceptPausedSince: Instant?
  /// Moved in this turn and not yet counted.
  var bytesSent: UInt64 = 0
  var bytesReceived: UInt64 = 0

  /// - Parameters:
  ///   - listeners: the groups to accept from; a connection reports its group's position.
  ///   - loop: this loop's number, from 0, below the `loops` the groups were opened for.
  ///   - log: told when accepting pauses and goes on.
  package init(
    configuration: LoopConfiguration = LoopConfiguration(), listeners: [ListenerGroup] = [], loop: Int = 0,
    control: LoopControl = LoopControl(), metrics: LoopMetrics = LoopMetrics(), log: Log? = nil
  ) {
    precondition(
      configuration.readBudgetBytes > 0 && configuration.readBudgetBytes <= Self.receiveCapacity,
      "a loop reads between 1 byte and 128 KiB from a connection in one turn")
    self.configuration = configuration
    self.control = control
    self.metrics = metrics
    self.log = log
    self.listeners = listeners.map { LoopListener(group: $0, descriptor: $0.descriptor(forLoop: loop)) }
    now = Clock.now()
    epoll = System.makeEpoll()
    receiveBuffer = .allocate(byteCount: Self.receiveCapacity, alignment: 64)
    record = .allocate(byteCount: Self.recordCapacity, alignment: 64)
    connections = Slab(capacityLimit: configuration.connectionLimit)
    timers = TimerWheel(origin: now)
    handshakes = Ring(limit: configuration.connectionLimit)
    acceptPauseMilliseconds = configuration.acceptPauseMilliseconds
    System.epollControl(
      epoll, EPOLL_CTL_ADD, control.wakeup.fileDescriptor, events: clinux_EPOLLIN, data: Self.wakeupData)
  }

  deinit {
    System.close(epoll)
    receiveBuffer.deallocate()
    record.deallocate()
  }

  /// Names the handler. Once, before `run()`; the loop keeps it alive until `run()` returns.
  package func setHandler(_ handler: any LoopHandler) {
    precondition(self.handler == nil, "a loop has one handler for life")
    self.handler = handler
  }

  /// Connections in the slab, handshakes and those about to be reported closed included.
  package var connectionCount: Int { connections.count }

  /// Interrupts this loop's sleep; for its mailboxes.
  package var wakeup: Wakeup { control.wakeup }

  /// Takes the listeners out of the loop for good; open connections live on.
  package func stopAccepting() {
    stopsAccepting = true
    acceptResumesAt = .never
    disarmListeners()
  }

  /// Turns until `control.stop()`, then aborts what is open and tells the handler.
  package func run() {
    guard let handler else { preconditionFailure("a loop was run without a handler") }
    armListeners()
    let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: Self.eventsPerTurn)
    defer { events.deallocate() }
    while !control.isStopping {
      let count = System.epollWait(epoll, events, nanoseconds: sleepNanoseconds(handler.nextDeadline()))
      now = Clock.now()
      turn(UnsafeMutableBufferPointer(rebasing: events[..<count]), handler)
    }
    endEverything(handler)
  }

  /// How long the loop may sleep; nil is until something happens.
  private func sleepNanoseconds(_ wanted: Instant) -> UInt64? {
    if !readable.isEmpty || !handshakes.isEmpty || !ended.isEmpty { return 0 }
    let deadline = min(wanted, timers.nextDeadline(), acceptResumesAt)
    return deadline == .never ? nil : deadline.nanoseconds(since: Clock.now())
  }

  private func turn(_ events: UnsafeMutableBufferPointer<epoll_event>, _ handler: any LoopHandler) {
    continueReading(handler)
    for event in events {
      let data = event.data.u64
      if data == Self.wakeupData {
        control.wakeup.consume()
        handler.mail()
      } else if data >> 32 == 0 {
        acceptBurst(Int(data), handler)
      } else {
        ready(Handle(bits: data), event.events, handler)
      }
    }
    continueHandshakes(handler)
    workDeadlines()
    if handler.nextDeadline() <= now { handler.deadline(now: now) }
    reportEnded(handler)
    handler.endTurn(now: now)
    countTurn()
    metrics.turnTime.record(Clock.now().nanoseconds(since: now))
  }

  /// Adds what the turn moved to the counters that others read: one atomic addition a turn, not one a write.
  private func countTurn() {
    if bytesSent > 0 { metrics.bytesSent.add(bytesSent) }
    if bytesReceived > 0 { metrics.bytesReceived.add(bytesReceived) }
    bytesSent = 0
    bytesReceived = 0
    metrics.connections.set(Int64(connections.count))
    metrics.handshakesInProgress.set(Int64(handshaking))
  }

  /// Something happened on a connection's socket. Room for writing first: what is read may be answered at once.
  private func ready(_ handle: Handle, _ events: UInt32, _ handler: any LoopHandler) {
    guard connections.contains(handle) else { return }
    let slot = Int(handle.index)
    if connections[slot].state == .handshaking {
      connections[slot].armed = 0
      if !handshakes.push(handle) { preconditionFailure("more handshakes than connections") }
      return
    }
    if events & (clinux_EPOLLOUT | clinux_EPOLLERR | clinux_EPOLLHUP) != 0 { roomToWrite(handle, handler) }
    guard events & (clinux_EPOLLIN | clinux_EPOLLRDHUP | clinux_EPOLLERR | clinux_EPOLLHUP) != 0,
      connections.contains(handle)
    else { return }
    switch connections[slot].state {
    case .open:
      if !connections[slot].isPaused {
        readAfterEvent(handle, handler)
      } else if events & clinux_EPOLLERR != 0 {
        finish(handle, .reset(errno: System.pendingError(connections[slot].descriptor)))
      } else if events & clinux_EPOLLHUP != 0 {
        // Bytes may still wait for the handler, but epoll would report the hang-up for ever: leave the set.
        disarm(slot)
      }
    case .lingering: discard(handle)
    case .draining:
      if events & (clinux_EPOLLERR | clinux_EPOLLHUP) != 0 { finish(handle, .finished) }
    case .handshaking, .dead: break
    }
  }

  private func workDeadlines() {
    if acceptResumesAt <= now { resumeAccepting() }
    timers.advance(to: now) { expired.append($0) }
    for token in expired {
      let handle = Handle(bits: token)
      guard connections.contains(handle) else { continue }
      switch connections[Int(handle.index)].state {
      case .handshaking:
        metrics.handshakesTimedOut.increment()
        finish(handle, .tlsFailure)
      case .draining, .lingering: finish(handle, .lingerExpired)
      case .open, .dead: break
      }
    }
    expired.removeAll(keepingCapacity: true)
  }

  /// Makes epoll watch what the connection's state calls for.
  func syncInterest(_ handle: Handle) {
    let slot = Int(handle.index)
    var wanted: UInt32 = 0
    switch connections[slot].state {
    case .handshaking, .dead: return
    case .open:
      if !connections[slot].isPaused, !connections[slot].readAwaitsRoom { wanted |= clinux_EPOLLIN | clinux_EPOLLRDHUP }
    case .draining: break
    case .lingering: wanted |= clinux_EPOLLIN | clinux_EPOLLRDHUP
    }
    if connections[slot].wantsWrite { wanted |= clinux_EPOLLOUT }
    if connections[slot].armed == wanted { return }
    let operation = connections[slot].armed == nil ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
    System.epollControl(epoll, operation, connections[slot].descriptor, events: wanted, data: handle.bits)
    connections[slot].armed = wanted
  }

  func disarm(_ slot: Int) {
    guard connections[slot].armed != nil else { return }
    System.epollControl(epoll, EPOLL_CTL_DEL, connections[slot].descriptor, events: 0, data: 0)
    connections[slot].armed = nil
  }
}

/// A listening socket of this loop; holds its group so that the descriptor stays open.
struct LoopListener {
  let group: ListenerGroup
  let descriptor: Int32
}
