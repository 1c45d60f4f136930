import HTTP1
import Wire

/// What a connection was promised when it was opened, and keeps whatever a reload changes: its limits and its heartbeat,
/// both told in the hello (S7, L4). Connections opened between two reloads share one.
final class ConnectionTerms {
  let limits: Limits
  let heartbeatSeconds: Int
  let httpLimits: HTTPLimits
  let decoder: RequestDecoder

  init(_ settings: GatewaySettings) {
    limits = settings.limits
    heartbeatSeconds = settings.heartbeatSeconds
    httpLimits = HTTPLimits(headBytes: settings.headBytes, bodyBytes: settings.limits.bodyBytes)
    decoder = RequestDecoder(limits: settings.limits)
  }
}
