import Glibc
import JSON
import LoadModel
import Primitives

extension LoadRun: SocketOwner {
  /// Opens connections as far as the limit of handshakes under way allows.
  func connectSome() throws(LoadFailure) {
    if loop.now >= retryAt { retryAt = .never }
    guard retryAt == .never else { return }
    while connectingCount < scenario.connecting, let index = toConnect.popLast() {
      connectingCount += 1
      try loop.open(loop.sockets[index], opening(index))
    }
  }

  private func opening(_ index: Int) -> Opening {
    var opening = Opening(target: "/v1/live")
    switch scenario.kind {
    case .echo: opening.target = "/echo"
    case .fanOutEcho: opening.target = index < scenario.sessions ? "/sub" : "/pub"
    default: opening.subprotocols = [Self.subprotocol]
    }
    opening.deflate = scenario.deflate
    // One address has some 28,000 ports; what was closed in order keeps its port for a minute.
    let sources = options.sources ?? (loop.isLoopback ? loop.sockets.count / 4_000 + 1 : 1)
    if sources > 1 { opening.source = UInt8(index % sources + 1) }
    // A reader that stalls should be felt soon, not after megabytes in the kernel.
    if isStalledReader(index) { opening.receiveBufferBytes = 4_096 }
    return opening
  }

  func opened(_ socket: LoadSocket) {
    guard let person = person(of: socket.index) else { return becomeReady(socket.index) }
    var writer = JSONWriter(reservingBytes: 256)
    writer.beginObject()
    writer.key("id")
    writer.integer(0)
    writer.key("op")
    writer.string("connect")
    writer.key("data")
    writer.beginObject()
    writer.key("token")
    writer.string(person.token)
    if readyAt[socket.index] != .never {
      writer.key("resume")
      writer.beginObject()
      writer.key("epoch")
      writer.string(epoch)
      writer.key("seq")
      writer.unsigned(ledger.position(of: socket.index))
      writer.endObject()
    }
    writer.endObject()
    writer.endObject()
    _ = loop.send(writer.take(), to: socket)
  }

  /// The session may send and is to receive.
  private func becomeReady(_ index: Int) {
    connectingCount -= 1
    readyCount += 1
    isReady[index] = true
    readyAt[index] = loop.now
    if isStorm, index < scenario.sessions { returnTimes.record(loop.now.nanoseconds(since: stormBegan)) }
  }

  func hello(_ socket: LoadSocket, epoch: String, seq: UInt64, resumed: Bool, resetReason: String?) {
    let index = socket.index
    guard !isReady[index] else { return fail("the server said hello twice") }
    let isReturn = readyAt[index] != .never
    let listens = index < scenario.sessions || sendersListen
    if !isReturn {
      if listens { ledger.begin(index, after: seq) }
    } else if resumed {
      ledger.comeBack(index)
      resumedCount += 1
    } else {
      ledger.comeBack(index)
      resetReasons[resetReason ?? "no reason", default: 0] += 1
      ledger.begin(index, after: seq)
    }
    self.epoch = epoch
    becomeReady(index)
  }

  func pinged(_ socket: LoadSocket) { pings += 1 }

  func ended(_ socket: LoadSocket, _ end: SocketEnd) {
    let index = socket.index
    let wasReady = isReady[index]
    if wasReady {
      isReady[index] = false
      readyCount -= 1
    } else {
      connectingCount -= 1
    }
    let name: String
    switch end {
    case .closed(let code): name = code.map { "closed \($0)" } ?? "closed without a code"
    case .refused(let status): name = "refused with \(status)"
    case .failed(let reason): name = reason
    }
    if wasReady, isStalledReader(index), stalledAt != .never {
      closeCodes[name, default: 0] += 1
      ledger.leave(index)
      toConnect.append(index)
    } else if isStorm, !wasReady, index < scenario.sessions {
      // A server may put off some of a storm; they come again a little later.
      retriedCount += 1
      toConnect.append(index)
      if retryAt == .never { retryAt = loop.now.advanced(byMilliseconds: 100) }
    } else if wasReady {
      ledger.note(.closed, "\(role(of: index)): \(name)")
      isGone[index] = true
      goneCount += 1
      if index < scenario.sessions || sendersListen { ledger.leave(index) }
      // In a closed loop nothing would move any more.
      if index >= scenario.sessions || scenario.pace.map(isClosed) == true {
        fail("\(role(of: index)) ended: \(name)")
      }
    } else {
      fail("\(role(of: index)) could not connect: \(name)")
    }
  }

  private func role(of index: Int) -> String {
    index < scenario.sessions ? "session \(index)" : "sender \(index - scenario.sessions)"
  }

  private func isClosed(_ pace: Pace) -> Bool {
    if case .inFlight = pace { return true }
    return false
  }

  /// Ends the run after this turn.
  func fail(_ sentence: String) { failure = failure ?? LoadFailure(sentence) }
}
