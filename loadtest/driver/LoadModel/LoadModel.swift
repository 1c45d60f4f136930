/// What a load run is and how it is judged: scenarios, numbered payloads, the ledger of deliveries, reports, limits.
///
/// Pattern: text and bytes in, values out; the driver around it does the sockets. Threads: none. Lifecycle: values of
/// one run. Never imports: sockets, clocks, the gateway's rooms beyond JSON, Foundation.

/// What a scenario does.
package enum ScenarioKind: String, CaseIterable, Hashable, Sendable {
  /// Holds authenticated sessions that say nothing.
  case idle
  /// Senders post to one group and every session of its members gets each message.
  case fanOut = "fanout"
  /// Publishers write to `/pub` and every connection on `/sub` gets each payload.
  case fanOutEcho = "fanout-echo"
  /// Connections on `/echo` get back what they sent.
  case echo
  /// All listening sessions drop at once and come back with their position while senders go on.
  case reconnectStorm = "reconnect-storm"
  /// Some sessions stop reading; the others' latency before and after.
  case slowReaders = "slow-readers"
  /// Senders wait for nothing but the acknowledgement that a message is on disk.
  case durableSends = "durable-sends"

  /// Runs against the endpoints of `--echo` (S4): no accounts, no JSON, works against other servers too.
  package var isEcho: Bool { self == .fanOutEcho || self == .echo }

  /// Publishes anything.
  package var sends: Bool { self != .idle }
}

/// When a sender sends.
package enum Pace: Hashable, Sendable {
  /// So many messages a second over all senders, at fixed intended times whatever the server does (open loop).
  case rate(Int)
  /// So many of each sender's messages under way at once (closed loop).
  case inFlight(Int)
}

/// One load run, complete and within its limits.
package struct Scenario: Hashable, Sendable {
  package var kind: ScenarioKind
  /// Shown in reports.
  package var name: String
  /// Listening sessions; of `echo`, all connections.
  package var sessions: Int
  /// Sessions of one user (a gateway may allow 20).
  package var sessionsPerUser: Int
  /// Sending sessions, each a user of its own, in addition to `sessions`.
  package var senders: Int
  /// Nil when nothing is sent.
  package var pace: Pace?
  /// Of one message's text, its number included.
  package var payloadBytes: Int
  /// Offer permessage-deflate.
  package var deflate: Bool
  /// Runs like the rest and is not measured.
  package var warmUpSeconds: Int
  package var seconds: Int
  /// Handshakes under way at once.
  package var connecting: Int
  /// `reconnect-storm`: between drop and return.
  package var awaySeconds: Int
  /// `slow-readers`: how many of the sessions stop reading.
  package var stalled: Int

  package init(
    kind: ScenarioKind, name: String, sessions: Int, sessionsPerUser: Int, senders: Int, pace: Pace?, payloadBytes: Int,
    deflate: Bool, warmUpSeconds: Int, seconds: Int, connecting: Int, awaySeconds: Int, stalled: Int
  ) {
    self.kind = kind
    self.name = name
    self.sessions = sessions
    self.sessionsPerUser = sessionsPerUser
    self.senders = senders
    self.pace = pace
    self.payloadBytes = payloadBytes
    self.deflate = deflate
    self.warmUpSeconds = warmUpSeconds
    self.seconds = seconds
    self.connecting = connecting
    self.awaySeconds = awaySeconds
    self.stalled = stalled
  }
}
