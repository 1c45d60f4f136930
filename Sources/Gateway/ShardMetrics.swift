import Telemetry

/// What one shard measures (S8): written by its thread, read by the scraper, added up over the shards there.
final class ShardMetrics: Sendable {
  /// By the phase's raw value.
  private let phases = ClientConnection.Phase.allCases.map { _ in Gauge() }
  /// From the durable commit to the moment at which one shard has queued everything of the batch.
  let fanOut = BucketHistogram()
  /// From the request's arrival to the turn's last write of its events on one shard.
  let endToEnd = BucketHistogram()
  /// Bytes that wait in all queues of the shard.
  let queuedBytes = Gauge()
  let deflateInput = Counter()
  let deflateOutput = Counter()
  /// zlib states that this shard holds.
  let deflateContexts = Gauge()

  init() {}

  func entered(_ phase: ClientConnection.Phase) { phases[phase.rawValue].add(1) }

  func left(_ phase: ClientConnection.Phase) { phases[phase.rawValue].add(-1) }

  func moved(from old: ClientConnection.Phase, to new: ClientConnection.Phase) {
    guard old != new else { return }
    left(old)
    entered(new)
  }

  func register(in registry: MetricRegistry) {
    for phase in ClientConnection.Phase.allCases {
      registry.register(
        phases[phase.rawValue], "threadcast_connections_by_phase", help: "Open connections by what they are doing.",
        labels: [("phase", String(describing: phase))])
    }
    registry.register(
      fanOut, "threadcast_fan_out_seconds",
      help: "From a durable commit until its events are queued, once for each batch and loop.")
    registry.register(
      endToEnd, "threadcast_end_to_end_seconds",
      help: "From the arrival of a request until its events are written to the sockets, once for each change and loop.")
    registry.register(
      queuedBytes, "threadcast_queued_bytes", help: "Bytes that wait for connections to take them.")
    registry.register(
      deflateInput, "threadcast_deflate_input_bytes_total", help: "Bytes of messages given to deflate.")
    registry.register(
      deflateOutput, "threadcast_deflate_output_bytes_total", help: "Bytes that deflate made of them.")
    registry.register(
      deflateContexts, "threadcast_deflate_contexts", help: "States of zlib in memory, both directions.")
  }
}
