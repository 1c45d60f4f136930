import Glibc
import JSON
import LoadModel
import Primitives
import Workers

/// One run of a scenario, from the accounts to the report. Everything happens on the caller's thread.
///
/// Recipients are the connections 0 ..< `sessions`; the senders' connections follow (of `echo`, they are the same).
final class LoadRun {
  /// What a sender has under way.
  struct Sender {
    let socket: Int
    var schedule: SendSchedule?
    /// Messages that are not done: not delivered to all, or for `durable-sends` not acknowledged.
    var underWay = 0
    /// Deliveries of each message of the window, by its number modulo the length.
    var arrived: [UInt32] = []
  }

  /// A stretch of time, by the intended instants of messages.
  struct Window {
    var start = Instant.never
    var end = Instant.never

    func contains(_ instant: Instant) -> Bool { instant >= start && instant < end }
  }

  /// After the last send, what is under way may take so long, and so long while nothing moves.
  static let settleSeconds: UInt64 = 60
  static let stillSeconds: UInt64 = 5
  static let subprotocol = "threadcast.v1.json"

  let scenario: Scenario
  let options: RunOptions
  let loop: ClientLoop
  let accounts: Accounts?
  let parser = JSONParser()
  var ledger: DeliveryLedger
  var senders: [Sender]
  var order = SendingOrder()
  /// How many deliveries complete a message.
  let expectedDeliveries: Int
  /// Senders get the other senders' messages.
  let sendersListen: Bool

  // Connecting.
  var toConnect: [Int] = []
  var connectingCount = 0
  var readyCount = 0
  var isReady: [Bool]
  /// Ended when it should not have, which was noted; it is not awaited.
  var isGone: [Bool]
  var goneCount = 0
  /// Since when a connection may expect messages at once.
  var readyAt: [Instant]
  var epoch = ""
  var retryAt = Instant.never

  // Storm and stalled readers.
  var isStorm = false
  var stormBegan = Instant.never
  var returnTimes = Histogram()
  var resumedCount = 0
  var resetReasons: [String: Int] = [:]
  var retriedCount = 0
  var stalledAt = Instant.never
  var closeCodes: [String: Int] = [:]

  // Measuring.
  var window = Window()
  var latency = Histogram()
  /// Of the others, while some are stalled.
  var stalledLatency = Histogram()
  var acknowledged = Histogram()
  /// From the intended send to the last recipient.
  var completion = Histogram()
  var acknowledgedInWindow: UInt64 = 0
  var refusedSends: UInt64 = 0
  var heartbeats: [UInt32]
  var pings: UInt64 = 0
  var usage = Usage()
  var failure: LoadFailure?
  /// Messages were still coming when the run ended.
  var wasCutOff = false

  var payload: [UInt8]
  let framePrefix: [UInt8]
  let frameMiddle: [UInt8]
  let muidPrefix: String
  var progress = Progress()

  init(_ scenario: Scenario, _ options: RunOptions) throws(LoadFailure) {
    self.scenario = scenario
    self.options = options
    let kind = scenario.kind
    let sessions = scenario.sessions
    let senderCount = kind.sends ? scenario.senders : 0
    usage.begin(options.pid)
    accounts = try Self.makeAccounts(scenario, options)
    let connections = kind == .echo ? sessions : sessions + senderCount
    loop = try ClientLoop(options.target, connections: connections, polls: options.polls)
    let sendersListen = !kind.isEcho && kind != .durableSends
    self.sendersListen = sendersListen
    let recipients = sendersListen ? sessions + senderCount : sessions
    let selves = (0..<senderCount).map { sendersListen ? sessions + $0 : nil }
    ledger = DeliveryLedger(
      recipients: recipients, senders: senderCount, audience: kind == .echo ? .oneself : .everyone(selves: selves),
      isAcknowledged: !kind.isEcho)
    expectedDeliveries = kind == .echo ? 1 : sendersListen ? recipients - 1 : sessions
    senders = (0..<senderCount).map { Sender(socket: kind == .echo ? $0 : sessions + $0) }
    isReady = Array(repeating: false, count: connections)
    isGone = isReady
    readyAt = Array(repeating: .never, count: connections)
    heartbeats = Array(repeating: 0, count: connections)
    payload = kind.sends ? PayloadText.make(byteCount: scenario.payloadBytes) : []
    let receiver = kind == .durableSends ? accounts?.people.first?.uid : accounts?.group
    let receiverType = kind == .durableSends ? "user" : "group"
    // Uids and guids are of our own making and need no escapes.
    framePrefix = Array(
      #","op":"message.send","data":{"receiverUid":"\#(receiver ?? "")","receiverType":"\#(receiverType)","type":"text","muid":""#
        .utf8)
    frameMiddle = Array(#"","text":""#.utf8)
    muidPrefix = String(UInt64.random(in: 0...UInt64.max), radix: 16) + "-"
    loop.owner = self
  }

  private static func makeAccounts(_ scenario: Scenario, _ options: RunOptions) throws(LoadFailure) -> Accounts? {
    guard !scenario.kind.isEcho else { return nil }
    let senders = scenario.kind.sends ? scenario.senders : 0
    // The receiver of durable sends is one user, with or without sessions.
    let listeners =
      scenario.kind == .durableSends
      ? 1 : (scenario.sessions + scenario.sessionsPerUser - 1) / scenario.sessionsPerUser
    let key = getenv("THREADCAST_ADMIN_KEY").map { String(cString: $0) } ?? "dev-admin"
    let wantsGroup = scenario.kind.sends && scenario.kind != .durableSends
    return try Accounts.make(listeners + senders, target: options.target, key: key, wantsGroup: wantsGroup)
  }

  /// Who a connection is.
  func person(of index: Int) -> Accounts.Person? {
    guard let accounts else { return nil }
    if index >= scenario.sessions {
      return accounts.people[accounts.people.count - senders.count + index - scenario.sessions]
    }
    return accounts.people[scenario.kind == .durableSends ? 0 : index / scenario.sessionsPerUser]
  }

  // MARK: The course of a run

  func run() throws(LoadFailure) -> Report {
    let began = Clock.now()
    toConnect = Array((0..<loop.sockets.count).reversed())
    let patience = 30 + UInt64(loop.sockets.count) / 100
    try pump(until: began.advanced(bySeconds: patience), phase: "connecting") {
      self.readyCount == self.loop.sockets.count
    }
    guard readyCount == loop.sockets.count else {
      throw LoadFailure("\(readyCount) of \(loop.sockets.count) sessions were there after \(patience) s")
    }
    let connectSeconds = seconds(since: began)
    let start = Clock.now()
    startSending(at: start)
    window.start = start.advanced(bySeconds: UInt64(scenario.warmUpSeconds))
    window.end = window.start.advanced(bySeconds: UInt64(scenario.seconds))
    try pump(until: window.start, phase: "warming up")
    usage.startMeasuring(options.pid, ledger: ledger, loop: loop)
    switch scenario.kind {
    case .reconnectStorm: try storm()
    case .slowReaders: try stall()
    default: try pump(until: window.end, phase: "measuring")
    }
    usage.stopMeasuring(options.pid, ledger: ledger, loop: loop)
    stopSending()
    try settle()
    judge()
    for socket in loop.sockets { loop.drop(socket) }
    loop.owner = nil
    progress.clear()
    return report(connectSeconds: connectSeconds)
  }

  /// Connects, sends and receives until the deadline or until it is done.
  func pump(until deadline: Instant, phase: String, _ isDone: () -> Bool = { false }) throws(LoadFailure) {
    while loop.now < deadline, !isDone() {
      try connectSome()
      let due = sendDue()
      loop.turn(until: min(deadline, due, retryAt))
      if let failure { throw failure }
      progress.show(phase, self)
    }
  }

  /// Waits for what is under way.
  private func settle() throws(LoadFailure) {
    let deadline = loop.now.advanced(bySeconds: Self.settleSeconds)
    var nextLook = Instant(nanoseconds: 0)
    var lastMove = (deliveries: ledger.deliveries, ready: readyCount, at: loop.now)
    var isStill = false
    try pump(until: deadline, phase: "settling") {
      guard self.loop.now >= nextLook else { return false }
      nextLook = self.loop.now.advanced(byMilliseconds: 20)
      if lastMove.deliveries != self.ledger.deliveries || lastMove.ready != self.readyCount {
        lastMove = (self.ledger.deliveries, self.readyCount, self.loop.now)
      } else if self.loop.now >= lastMove.at.advanced(bySeconds: Self.stillSeconds) {
        isStill = true
        return true
      }
      return self.readyCount + self.goneCount == self.loop.sockets.count && self.ledger.isSettled
    }
    wasCutOff = !isStill && loop.now >= deadline
  }

  private func judge() {
    ledger.close()
    for index in isReady.indices where !isReady[index] && !isGone[index] {
      ledger.note(.missing, "session \(index) did not come back")
    }
    if scenario.kind == .idle, scenario.seconds >= 30 {
      for index in heartbeats.indices where heartbeats[index] == 0 {
        ledger.note(.missing, "session \(index) got no heartbeat in \(scenario.seconds) s")
      }
    }
  }

  func seconds(since instant: Instant) -> Double { Double(Clock.now().nanoseconds(since: instant)) / 1e9 }
}
