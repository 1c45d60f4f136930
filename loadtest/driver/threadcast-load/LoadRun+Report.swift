import Glibc
import LoadModel
import Primitives
import Workers

extension LoadRun {
  func report(connectSeconds: Double) -> Report {
    let scheme = options.target.isSecure ? "wss" : "ws"
    var report = Report(scenario, target: "\(scheme)://\(options.target.authority)", findings: ledger.findings)
    report.add("sessions", loop.sockets.count)
    report.add("connect.seconds", connectSeconds)
    report.add("connect.perSecond", Double(loop.sockets.count) / max(connectSeconds, 1e-9))
    usage.add(to: &report, connections: loop.sockets.count, pid: options.pid, polls: options.polls)
    if scenario.kind.sends {
      report.add("sent.total", ledger.sentTotal)
      report.add("deliveries.total", ledger.deliveries)
    } else {
      report.add("heartbeats.total", heartbeats.reduce(UInt64(0)) { $0 + UInt64($1) })
      report.add("pings.total", pings)
    }
    if !scenario.kind.isEcho, scenario.kind.sends {
      report.add("refused.total", refusedSends)
      report.add("acknowledged.perSecond", Double(acknowledgedInWindow) / Double(scenario.seconds))
      report.add("acknowledgement", nanoseconds: acknowledged)
    }
    report.add("latency", nanoseconds: latency)
    report.add("completion", nanoseconds: completion)
    addSpecials(to: &report)
    if wasCutOff {
      report.warnings.append(
        "messages were still coming \(Self.settleSeconds) s after the last send: what counts as lost may be late")
    }
    return report
  }

  private func addSpecials(to report: inout Report) {
    switch scenario.kind {
    case .reconnectStorm:
      report.add("storm.resumed", resumedCount)
      report.add("storm.reset", resetReasons.values.reduce(0, +))
      for (reason, count) in resetReasons.sorted(by: { $0.key < $1.key }) { report.add("storm.reset.\(reason)", count) }
      report.add("storm.retries", retriedCount)
      report.add("storm.lastBackSeconds", Double(returnTimes.maximum) / 1e9)
      report.add("storm.return", nanoseconds: returnTimes)
    case .slowReaders:
      report.add("latencyWhileStalled", nanoseconds: stalledLatency)
      report.add("stalled.ended", closeCodes.values.reduce(0, +))
      for (name, count) in closeCodes.sorted(by: { $0.key < $1.key }) { report.add("stalled.ended, \(name)", count) }
      report.add("stalled.resumed", resumedCount)
      report.add("stalled.reset", resetReasons.values.reduce(0, +))
      if closeCodes.isEmpty {
        report.warnings.append("no stalled session was cut off: too little was sent for that")
      }
    case .idle, .fanOut, .fanOutEcho, .echo, .durableSends: break
    }
  }
}

/// One line a second on a terminal, overwritten; nothing elsewhere.
struct Progress {
  private let isTerminal = isatty(STDERR_FILENO) == 1
  private var next = Instant(nanoseconds: 0)
  private var lastDeliveries: UInt64 = 0
  private var isShown = false

  mutating func show(_ phase: String, _ run: LoadRun) {
    guard isTerminal, run.loop.now >= next else { return }
    let rate = run.ledger.deliveries - lastDeliveries
    lastDeliveries = run.ledger.deliveries
    next = run.loop.now.advanced(bySeconds: 1)
    isShown = true
    let violations = run.ledger.findings.total == 0 ? "" : "  violations \(run.ledger.findings.total)"
    Files.write(
      "\r\u{1B}[K\(run.scenario.name): \(phase)  sessions \(run.readyCount)  deliveries \(rate)/s\(violations)",
      to: STDERR_FILENO)
  }

  mutating func clear() {
    if isShown { Files.write("\r\u{1B}[K", to: STDERR_FILENO) }
  }
}
