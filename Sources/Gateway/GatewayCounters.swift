import Chat
import Primitives
import Store
import Synchronization
package import Telemetry
import WebSocket
import Wire
import Workers

/// Numbers the node's sessions in the order in which they opened.
final class SessionOrdinals: Sendable {
  private let last = Atomic<UInt64>(0)
  func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}

/// What the gateway counts (S8), made once per node and shared by its threads; every update is one relaxed atomic.
package final class GatewayCounters: Sendable {
  package let registry: MetricRegistry
  package let log: Log
  let hasOtherShards: Bool

  let sessions: Gauge
  /// Connections of all shards, for the drain; what is scraped is counted by the loops.
  let connections = Gauge()
  let requests: Counter
  let framesReceived: Counter
  let operations: Counter
  let messages: Counter
  let repeatedSends: Counter
  let deliveries: Counter
  let replayedEvents: Counter
  let shedEvents: Counter
  let ordinals = SessionOrdinals()
  private let resumptionsByResult: [Hello.Resumption: Counter]
  let failedCommits: Counter
  let commitSeconds: LatencyHistogram
  let committedMutations: Counter
  private let refusalsByCode: [RefusalCode: Counter]
  private let responsesByStatus: [Int: Counter]
  private let closesByCode: [Int: Counter]
  private let otherCloses: Counter
  private let peerCloses: Counter
  private let protocolErrorsByKind: [ProtocolFailure.Kind: Counter]

  package init(registry: MetricRegistry, log: Log, shards: Int) {
    self.registry = registry
    self.log = log
    hasOtherShards = shards > 1
    sessions = registry.gauge("threadcast_sessions", help: "Live authenticated sessions.")
    requests = registry.counter("threadcast_http_requests_total", help: "HTTP request heads read, upgrades included.")
    framesReceived = registry.counter("threadcast_frames_received_total", help: "Text messages read from live sockets.")
    operations = registry.counter(
      "threadcast_operations_total", help: "Operations of live sessions passed on to the store.")
    messages = registry.counter("threadcast_messages_total", help: "Messages accepted and durable.")
    repeatedSends = registry.counter(
      "threadcast_repeated_sends_total", help: "Sends answered with the message stored before under the same muid.")
    deliveries = registry.counter("threadcast_deliveries_total", help: "Event frames queued for sessions.")
    replayedEvents = registry.counter(
      "threadcast_replayed_events_total", help: "Missed events queued for sessions that resumed.")
    shedEvents = registry.counter(
      "threadcast_shed_events_total", help: "Ephemeral events left out because a session's queue was half full.")
    let resumptions: [(Hello.Resumption, String)] =
      [(.fresh, "fresh"), (.resumed, "resumed")] + Hello.ResetReason.allCases.map { (.reset($0), $0.rawValue) }
    resumptionsByResult = Dictionary(
      uniqueKeysWithValues: resumptions.map { result, name in
        (
          result,
          registry.counter(
            "threadcast_sessions_opened_total", help: "Sessions opened, by what became of the wish to resume.",
            labels: [("resumption", name)])
        )
      })
    failedCommits = registry.counter(
      "threadcast_store_failed_commits_total", help: "Batches of which nothing was kept.")
    commitSeconds = registry.histogram(
      "threadcast_store_commit_seconds", help: "Time of one durable commit of the store.")
    committedMutations = registry.counter(
      "threadcast_store_committed_mutations_total",
      help: "Changes in durable batches; divided by the count of commits it is the batch size.")
    refusalsByCode = Dictionary(
      uniqueKeysWithValues: RefusalCode.allCases.map { code in
        (
          code,
          registry.counter(
            "threadcast_errors_total", help: "Requests refused, by error code.", labels: [("code", code.rawValue)])
        )
      })
    responsesByStatus = Dictionary(
      uniqueKeysWithValues: [1, 2, 3, 4, 5].map { first in
        (
          first,
          registry.counter(
            "threadcast_http_responses_total", help: "HTTP responses by class of status.",
            labels: [("status", "\(first)xx")])
        )
      })
    let ownCodes = [
      1000, 1001, 1002, 1003, 1007, 1008, 1009, 1011, 4000, 4001, 4002, 4101, 4102, 4200, 4201, 4202, 4203, 4204,
    ]
    let help = "WebSocket closes begun by this node, by close code."
    closesByCode = Dictionary(
      uniqueKeysWithValues: ownCodes.map { code in
        (code, registry.counter("threadcast_closes_total", help: help, labels: [("code", String(code))]))
      })
    otherCloses = registry.counter("threadcast_closes_total", help: help, labels: [("code", "other")])
    peerCloses = registry.counter("threadcast_peer_closes_total", help: "WebSocket closes begun by the peer.")
    protocolErrorsByKind = Dictionary(
      uniqueKeysWithValues: ProtocolFailure.Kind.allCases.map { kind in
        (
          kind,
          registry.counter(
            "threadcast_protocol_errors_total", help: "Violations of RFC 6455 and RFC 7692, by kind.",
            labels: [("kind", String(describing: kind))])
        )
      })
  }

  func refusals(_ code: RefusalCode) -> Counter {
    guard let counter = refusalsByCode[code] else { preconditionFailure("every code has a counter") }
    return counter
  }

  func resumptions(_ result: Hello.Resumption) -> Counter {
    guard let counter = resumptionsByResult[result] else { preconditionFailure("every result has a counter") }
    return counter
  }

  func responses(status: Int) -> Counter {
    guard let counter = responsesByStatus[status / 100] else { preconditionFailure("a status has three digits") }
    return counter
  }

  func closes(code: Int) -> Counter { closesByCode[code] ?? otherCloses }

  func peerClosed() { peerCloses.increment() }

  func protocolErrors(_ kind: ProtocolFailure.Kind) -> Counter {
    guard let counter = protocolErrorsByKind[kind] else { preconditionFailure("every kind has a counter") }
    return counter
  }

  /// Counts what a committed mutation led to.
  func count(_ outcome: Outcome) {
    switch outcome.result {
    case .failure(let refusal): refusals(refusal.code).increment()
    case .success(.message):
      if outcome.events.isEmpty { repeatedSends.increment() } else { messages.increment() }
    case .success: break
    }
  }
}
