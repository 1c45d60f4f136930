/// Everything the gateway can be told before it starts. Plain values; the defaults stand here and nowhere else.
package struct Settings: Sendable, Equatable {
  /// Where to listen, in order. Never empty.
  package var listen = [ListenAddress.tcp(host: "127.0.0.1", port: 8080)]
  /// The folder that holds the embedded store. Made when missing, with owner-only rights (S12).
  package var data = "./data"
  /// PEM files; either both are empty (plain TCP) or neither is.
  package var tls = TLS()
  /// Event-loop threads; 0 means one a core.
  package var loops = 0
  /// Threads that read the store beside its one writer.
  package var readers = 2
  /// Demo users, tokens and group; loopback only (S3).
  package var dev = false
  /// The `/echo`, `/pub` and `/sub` endpoints for conformance and benchmark clients (S4).
  package var echo = false
  package var log = Log()
  /// Names under which the gateway is reached from outside; a browser's origin of that name is allowed (A4).
  package var publicNames: [String] = []
  /// Further origins that are allowed, compared exactly (A4).
  package var allowedOrigins: [String] = []
  /// Quiet time after which a ping and a heartbeat leave (L5).
  package var heartbeatSeconds = 25
  /// Time for a new socket to send `connect` (L2).
  package var connectSeconds = 5
  /// Over how long sessions are asked to come back, and how long the process waits for them, when it stops (S7).
  package var drainSeconds = 10
  package var limits = Limits()

  package init() {}

  package struct TLS: Sendable, Equatable {
    package var certificate = ""
    package var key = ""
    package var isOn: Bool { !certificate.isEmpty }
  }

  package struct Log: Sendable, Equatable {
    package enum Level: String, Sendable, CaseIterable { case error, warning, info, debug }
    package enum Format: String, Sendable, CaseIterable { case text, json }

    package var level = Level.info
    package var format = Format.text
  }

  /// The limits of M5 and of the HTTP door. Sizes are bytes of decoded UTF-8.
  package struct Limits: Sendable, Equatable {
    package var frameBytes = 65_536
    package var textBytes = 16_384
    package var metadataBytes = 10_240
    package var customDataBytes = 10_240
    package var tags = 25
    package var tagCharacters = 100
    package var attachments = 10
    package var jsonDepth = 32
    package var bodyBytes = 1_048_576
    package var headBytes = 16_384
    /// Bytes that may wait for one session before it is closed 4001 (R7).
    package var outboundBytes = 1_048_576
    /// Bytes that may wait on one loop for all its sessions.
    package var outboundTotalBytes = 536_870_912
    /// How far back a session may come from (R6).
    package var resumeSeconds = 86_400
    package var resumeEvents = 10_000
  }
}
