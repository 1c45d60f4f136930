package import Telemetry

/// What one loop counts (S8). Written by the loop, read by the scraper.
package final class LoopMetrics: Sendable {
  package let accepted = Counter()
  package let refused = Counter()
  package let closed = Counter()
  package let acceptPauses = Counter()
  package let bytesReceived = Counter()
  package let bytesSent = Counter()
  package let shortWrites = Counter()
  package let handshakesDone = Counter()
  package let handshakesResumed = Counter()
  package let handshakesFailed = Counter()
  package let handshakesTimedOut = Counter()
  package let tlsFailures = Counter()
  package let connections = Gauge()
  package let handshakesInProgress = Gauge()
  package let turnTime = BucketHistogram()

  package init() {}

  /// Adds this loop's numbers to the process's; loops are summed.
  package func register(in registry: MetricRegistry) {
    registry.register(
      accepted, "threadcast_connections_accepted_total", help: "Connections taken from the listeners.")
    registry.register(
      refused, "threadcast_connections_refused_total", help: "Connections closed at once by a limit or by admission.")
    registry.register(closed, "threadcast_connections_closed_total", help: "Connections that were open and have ended.")
    registry.register(
      acceptPauses, "threadcast_accept_pauses_total",
      help: "Times the listeners rested because descriptors or connection slots had run out.")
    registry.register(
      bytesReceived, "threadcast_received_bytes_total", help: "Bytes read from connections, after decryption.")
    registry.register(
      bytesSent, "threadcast_sent_bytes_total", help: "Bytes written to connections, before encryption.")
    registry.register(shortWrites, "threadcast_short_writes_total", help: "Writes that met a full socket.")
    let handshakes = "threadcast_tls_handshakes_total"
    let help = "TLS handshakes by outcome."
    registry.register(handshakesDone, handshakes, help: help, labels: [("outcome", "done")])
    registry.register(handshakesFailed, handshakes, help: help, labels: [("outcome", "failed")])
    registry.register(handshakesTimedOut, handshakes, help: help, labels: [("outcome", "timeout")])
    registry.register(
      handshakesResumed, "threadcast_tls_resumptions_total", help: "TLS handshakes that resumed an earlier session.")
    registry.register(
      tlsFailures, "threadcast_tls_failures_total", help: "Open connections ended by a violation or abuse of TLS.")
    registry.register(connections, "threadcast_connections", help: "Connections in the loops, handshakes included.")
    registry.register(
      handshakesInProgress, "threadcast_tls_handshakes_in_progress", help: "Connections in their TLS handshake.")
    registry.register(turnTime, "threadcast_loop_turn_seconds", help: "Time a loop worked between two sleeps.")
  }
}
