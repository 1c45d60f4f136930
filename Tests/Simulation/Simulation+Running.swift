import Chat

@testable import Gateway

/// A run from its first step to its quiet end.
extension Simulation {
  func run(steps count: Int) throws {
    for _ in 0..<count {
      try step()
      try trace.check()
    }
    try end()
    try trace.check()
  }

  private func step() throws {
    steps += 1
    advance(milliseconds: dice.chance(4) ? dice.from(300...2_500) : dice.below(10))
    if let troubleEnds, troubleEnds <= now, faults.crash == nil {
      calm()
      trace.note("-- the store is well")
    }
    if let drainEnds, drainEnds <= now || node.loops.allSatisfy(\.openSockets.isEmpty) {
      if !faults.hasCrashed { return try endDrain() }
    }
    switch dice.weighted([300, 120, 150, 200, 230, 2]) {
    case 0: turn(node.loops[dice.below(2)])
    case 1: node.runCommitter()
    case 2: node.runReader(dice.below(2))
    case 3: act(clients[dice.below(clients.count)])
    case 4: clients[dice.below(clients.count)].read(dice.chance(300) ? dice.from(1...100) : 1 << 20)
    default: try strike()
    }
    if dice.chance(3) { node.probe() }
    if faults.hasCrashed { try crash() }
  }

  // MARK: The end

  /// Peace: everybody comes back, everything is answered, heartbeats say that nothing is missing. Then everybody goes,
  /// and nothing is left.
  private func end() throws {
    isEnding = true
    if drainEnds != nil { try endDrain() }
    if dice.chance(100) { try crash() }
    calm()
    node.probe()
    oracle.storeFailed = true
    for client in clients { client.isStalled = false }
    try rest(milliseconds: 3_000)
    for client in clients where client.isConnected && !client.isLive { client.leave(.reset) }
    try rest(milliseconds: settings.heartbeatSeconds * 2_500 + 2_500)
    // Tokens go on ending: who has just lost a session gets the time to come back and to hear a heartbeat.
    for _ in 0..<12 where !isSettled { try rest(milliseconds: 2_000) }
    for client in clients {
      guard client.isLive, let view = client.view else {
        trace.fail("at rest client \(client.number) has no session")
        continue
      }
      oracle.judgeQuiet(view)
      let token = view.token
      let isGood = token.revokedAt == nil && (token.expiresAt == 0 || token.expiresAt + 2 > moment.unix.value)
      if !isGood { trace.fail("R8, A1: client \(client.number) still lives by a token that ended") }
    }
    try trace.check()
    try oracle.judgeStore(node)
    for client in clients { client.leave(dice.pick(SimulatedClient.Ending.allCases) ?? .reset) }
    isOver = true
    try rest(milliseconds: 5_000)
    for loop in node.loops where !loop.openSockets.isEmpty { trace.fail("sockets are left") }
    judgeEmpty("everybody has gone")
  }

  /// Everybody has a session that has been told where the log ends.
  private var isSettled: Bool {
    let end = model.log.last?.seq ?? 0
    return clients.allSatisfy { client in client.isLive && client.view.map { $0.confirmed >= end } == true }
  }

  /// Everything runs its course; clients without a session get one.
  private func rest(milliseconds: Int) throws {
    let end = now + milliseconds
    while now < end {
      var isBusy = false
      for _ in 0..<40 {
        for loop in node.loops { turn(loop, eagerness: 1000) }
        isBusy = node.runCommitter()
        for reader in 0..<2 where node.runReader(reader) { isBusy = true }
        for client in clients {
          if client.socket?.toClient.isEmpty == false || client.socket?.toServer.isEmpty == false { isBusy = true }
          if client.isConnected { client.read(1 << 20) } else if !isOver { act(client) }
        }
        if !isBusy { break }
      }
      try trace.check()
      advance(milliseconds: 200)
    }
  }
}
