package import Chat
import HTTP1
package import Primitives
import Telemetry
import WebSocket
import Wire

/// Both clocks, read once per turn by whoever drives a core.
package struct Moment: Sendable {
  package var instant: Instant
  package var unix: UnixSeconds
  package init(instant: Instant, unix: UnixSeconds) {
    self.instant = instant
    self.unix = unix
  }
}

/// What a core wants done to a connection. Frames are not here: they wait in `Outlets` until the turn ends.
package enum ConnectionIntent: Sendable {
  case pauseReading(Handle)
  case resumeReading(Handle)
  /// The queue is empty and everything was said: end the stream in order.
  case close(Handle)
  /// Drop it at once.
  case abort(Handle)
}

/// One shard as a pure machine: connections, sessions, routing and fan-out, without sockets, threads or clocks.
///
/// It is told `opened / received / writable / closed / mail / deadline`, each with the moment; it leaves `intents`,
/// `writes`, `reads`, `publications` and dirty outlets behind, which its driver takes at the end of the turn.
package struct ShardCore: ~Copyable {
  let index: Int
  private(set) var settings: GatewaySettings
  let epoch: String
  let counters: GatewayCounters
  /// Shared with the whole node: may this node accept and commit (S10)?
  let readiness: Readiness

  var outlets = Outlets()
  var routes = RoutingIndex()
  var timers: TimerWheel
  var moment: Moment
  var date = DateField()
  /// For connections opened from now on.
  private(set) var terms: ConnectionTerms
  let router: HTTPRouter
  let compressor: Compressor
  let metrics: ShardMetrics
  var connections: [ClientConnection?] = []
  var echoSubscribers: [UInt32] = []
  private(set) var connectionCount = 0
  /// Everything up to here has been queued for the sessions that it concerns.
  var position: Seq
  var recent = RecentChanges()
  /// What a reader found at a position that this shard has not reached yet.
  var ahead: [(head: Seq, mail: ShardMail)] = []
  var hints = ThreadHints()
  /// Sessions that are being told what they missed and whose last page has not left yet.
  var replaying: [Handle] = []
  var slotOfDevice: [DeviceKey: UInt32] = [:]
  var isDraining = false
  /// Over how long the sessions that a drain sends away are to come back.
  var drainMilliseconds = 1

  /// For the driver, which empties them.
  var intents: [ConnectionIntent] = []
  var writes: [WriteRequest] = []
  var reads: [ReadRequest] = []
  /// For every other shard.
  var publications: [ShardMail] = []

  package init(
    index: Int, settings: GatewaySettings, epoch: String, position: Seq, counters: GatewayCounters,
    readiness: Readiness, at moment: Moment
  ) {
    self.index = index
    self.settings = settings
    self.epoch = epoch
    self.position = position
    self.counters = counters
    self.readiness = readiness
    self.moment = moment
    timers = TimerWheel(origin: moment.instant)
    terms = ConnectionTerms(settings)
    router = HTTPRouter()
    metrics = counters.makeShardMetrics()
    compressor = Compressor(settings: settings, metrics: metrics)
  }

  // MARK: What the driver tells

  package mutating func opened(_ handle: Handle, isEncrypted: Bool, at moment: Moment) {
    self.moment = moment
    let slot = Int(handle.index)
    while slot >= connections.count { connections.append(nil) }
    precondition(connections[slot] == nil, "a slot was opened twice")
    let connection = ClientConnection(handle: handle, isEncrypted: isEncrypted, terms: terms, metrics: metrics)
    connection.lastActivity = moment.instant
    connections[slot] = connection
    outlets.open(handle)
    connectionCount += 1
    counters.connections.add(1)
    setTimer(connection, seconds: settings.headSeconds)
  }

  package mutating func received(_ handle: Handle, _ bytes: UnsafeMutableRawBufferPointer, at moment: Moment) {
    self.moment = moment
    guard let connection = connection(handle) else { return }
    connection.lastActivity = moment.instant
    connection.unansweredPings = 0
    guard !connection.isReadingPaused else {
      hold(connection, UnsafeRawBufferPointer(bytes))
      return
    }
    if connection.isIdleBetweenRequests {
      connection.isIdleBetweenRequests = false
      setTimer(connection, seconds: settings.headSeconds)
    }
    var input = bytes
    process(connection, &input)
  }

  package mutating func writable(_ handle: Handle, at moment: Moment) {
    self.moment = moment
    outlets.unblock(handle)
  }

  package mutating func closed(_ handle: Handle, at moment: Moment) {
    self.moment = moment
    guard let connection = connection(handle) else { return }
    leaveRoutes(connection)
    if connection.phase == .subscriber { echoSubscribers.removeAll { $0 == handle.index } }
    if let timer = connection.timer { timers.cancel(timer) }
    outlets.close(handle)
    connections[Int(handle.index)] = nil
    connectionCount -= 1
    counters.connections.add(-1)
  }

  package mutating func mail(_ mail: ShardMail, at moment: Moment) {
    self.moment = moment
    switch mail {
    case .committed(let batch): committed(batch)
    case .reply(let address, let reply): answer(address, reply)
    case .upgradeChecked(let address, let verdict): upgradeChecked(address, verdict)
    case .sessionLoaded(let address, let result): sessionLoaded(address, result)
    case .missedLoaded(let address, let page): missedLoaded(address, page)
    case .followedLoaded(let address, let result): followedLoaded(address, result)
    case .threadFound(let address, let root, let result): threadFound(address, root, result)
    case .ephemeral(let event): fanOut(event)
    case .deviceOpened(let device, let ordinal): deviceOpened(device, ordinal: ordinal)
    case .published(let message): fanOut(message)
    case .drain(let seconds): drain(seconds: seconds)
    case .reload(let settings): reload(settings)
    }
  }

  /// S7: what comes next goes by the new settings; a connection keeps the terms under which it was opened.
  private mutating func reload(_ settings: GatewaySettings) {
    self.settings = settings
    terms = ConnectionTerms(settings)
  }

  package mutating func deadline(at moment: Moment) {
    self.moment = moment
    sweepDueHints()
    var due: [UInt64] = []
    timers.advance(to: moment.instant) { due.append($0) }
    for bits in due {
      guard let connection = connection(Handle(bits: bits)) else { continue }
      connection.timer = nil
      timeout(connection)
    }
  }

  package func nextDeadline() -> Instant { min(timers.nextDeadline(), hints.nextDeadline) }

  // MARK: Shared by the phases

  func connection(_ handle: Handle) -> ClientConnection? {
    let slot = Int(handle.index)
    guard slot < connections.count, let connection = connections[slot], connection.handle == handle else { return nil }
    return connection
  }

  mutating func setTimer(_ connection: ClientConnection, seconds: Int) {
    setTimer(connection, at: moment.instant.advanced(bySeconds: UInt64(max(seconds, 0))))
  }

  mutating func setTimer(_ connection: ClientConnection, at deadline: Instant) {
    if let timer = connection.timer { timers.cancel(timer) }
    connection.timer = timers.schedule(connection.handle.bits, at: deadline)
  }

  mutating func pauseReading(_ connection: ClientConnection) {
    guard !connection.isReadingPaused else { return }
    connection.isReadingPaused = true
    intents.append(.pauseReading(connection.handle))
  }

  /// Goes on with what came before the pause, then with the socket.
  mutating func resumeReading(_ connection: ClientConnection) {
    guard connection.isReadingPaused else { return }
    connection.isReadingPaused = false
    performWaiting(connection)
    if connection.isReadingPaused { return }
    var held = connection.held
    connection.held = []
    held.withUnsafeMutableBytes { bytes in
      var input = bytes
      process(connection, &input)
    }
    if !connection.isReadingPaused { intents.append(.resumeReading(connection.handle)) }
  }

  private func hold(_ connection: ClientConnection, _ bytes: UnsafeRawBufferPointer) {
    connection.held.append(contentsOf: bytes)
  }

  /// Lets the machine of the present phase take its share of the input, until it is used up or reading pauses.
  mutating func process(_ connection: ClientConnection, _ input: inout UnsafeMutableRawBufferPointer) {
    while !input.isEmpty, !connection.isReadingPaused {
      if outlets.isSealed(connection.handle) { return }
      switch connection.phase {
      case .request: readRequest(connection, &input)
      case .answering, .upgrading: preconditionFailure("reading is paused in this phase")
      case .connecting, .opening, .live, .echo, .subscriber, .publisher, .closing: readFrames(connection, &input)
      }
    }
    if !input.isEmpty { hold(connection, UnsafeRawBufferPointer(input)) }
  }

  /// Queues bytes that are already a whole response or frame.
  mutating func send(_ bytes: [UInt8], to connection: ClientConnection, isUrgent: Bool = false) {
    let frame = outlets.makeFrame(byteCount: bytes.count) { target in target.copyBytes(from: bytes) }
    outlets.send(frame, to: connection.handle, limitBytes: queueLimitBytes(connection), isUrgent: isUrgent)
  }

  func queueLimitBytes(_ connection: ClientConnection) -> Int {
    switch connection.phase {
    case .echo, .subscriber, .publisher: settings.echoOutboundBytes
    default: sessionLimitBytes
    }
  }

  /// What one session may have waiting; less when all together have much (R7).
  var sessionLimitBytes: Int {
    outlets.queuedBytes > settings.outboundTotalBytes / 2 ? settings.outboundBytes / 8 : settings.outboundBytes
  }

  /// Whether another connection may be accepted.
  var hasRoom: Bool {
    connectionCount < settings.connectionsPerShard && outlets.queuedBytes < settings.outboundTotalBytes
  }

  private mutating func timeout(_ connection: ClientConnection) {
    switch connection.phase {
    case .request: requestTimedOut(connection)
    case .answering, .upgrading:
      // The store is slow, not the peer: its own limits answer. Look again later.
      setTimer(connection, seconds: settings.bodySeconds)
    case .connecting: refuseSession(connection, .unauthenticated, "no connect in time")
    case .opening: setTimer(connection, seconds: settings.connectSeconds)
    case .live: heartbeat(connection)
    case .echo, .subscriber, .publisher: break
    case .closing: intents.append(.abort(connection.handle))
    }
  }

  /// At the end of a turn: sessions whose queue is full are sent away; they resume (R7).
  mutating func closeOverflowed() {
    for handle in outlets.takeOverflowed() {
      guard let connection = connection(handle), connection.phase != .closing else { continue }
      overflowed(connection)
    }
  }

  // MARK: What the driver takes

  mutating func takeIntents() -> [ConnectionIntent] {
    defer { intents.removeAll(keepingCapacity: true) }
    return intents
  }

  mutating func takeWrites() -> [WriteRequest] {
    defer { writes.removeAll(keepingCapacity: true) }
    return writes
  }

  mutating func takeReads() -> [ReadRequest] {
    pumpReplays()
    defer { reads.removeAll(keepingCapacity: true) }
    return reads
  }

  mutating func takePublications() -> [ShardMail] {
    defer { publications.removeAll(keepingCapacity: true) }
    return publications
  }

  /// The writer's queue is full: nothing of these was stored.
  mutating func refuseOverloaded(_ requests: [WriteRequest]) {
    for request in requests { answer(request.replyTo, Reply.overloaded(for: request.replyTo.form)) }
  }

  /// The reader's queue is full.
  mutating func refuseOverloaded(_ requests: [ReadRequest]) {
    for request in requests {
      switch request.question {
      case .upgrade: upgradeChecked(request.replyTo, .unavailable)
      case .session: sessionLoaded(request.replyTo, .failure(TokenRefusal(.unavailable)))
      case .missed: missedLoaded(request.replyTo, nil)
      case .followed: followedLoaded(request.replyTo, .failure(Refusal(.overloaded)))
      case .thread(let root, _): threadFound(request.replyTo, root, .failure(Refusal(.overloaded)))
      case .operation, .request, .metrics: answer(request.replyTo, Reply.overloaded(for: request.replyTo.form))
      }
    }
  }
}
