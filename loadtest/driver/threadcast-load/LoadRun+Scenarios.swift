import LoadModel
import Primitives

extension LoadRun {
  // MARK: A reconnect storm

  /// Drops every listening session, waits, and lets all come back at once while the senders go on.
  func storm() throws(LoadFailure) {
    for index in 0..<scenario.sessions where isReady[index] {
      loop.drop(loop.sockets[index])
      isReady[index] = false
      readyCount -= 1
      ledger.leave(index)
    }
    try pump(until: loop.now.advanced(bySeconds: UInt64(scenario.awaySeconds)), phase: "away")
    isStorm = true
    stormBegan = loop.now
    toConnect = Array((0..<scenario.sessions).reversed())
    try pump(until: window.end, phase: "coming back")
  }

  // MARK: Stalled readers

  /// The first sessions stall, which spreads them over few users.
  func isStalledReader(_ index: Int) -> Bool { index < scenario.stalled }

  /// Measures the first half with everybody reading; then some stop, and the others are measured again.
  func stall() throws(LoadFailure) {
    let half = window.start.advanced(byMilliseconds: UInt64(scenario.seconds) * 500)
    try pump(until: half, phase: "all are reading")
    stalledAt = loop.now
    for index in 0..<scenario.stalled { loop.pause(loop.sockets[index]) }
    try pump(until: window.end, phase: "some have stalled")
    for index in 0..<scenario.stalled { loop.resume(loop.sockets[index]) }
  }
}
