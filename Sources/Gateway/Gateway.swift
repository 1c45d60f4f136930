import Primitives
package import Wire

/// The gateway: connections become sessions, requests become operations, committed events become frames.
///
/// Pattern: a `ShardCore` per loop is a pure machine. It is told what happened (opened, received, writable, closed,
/// mail, deadline) and leaves behind what it wants: intents for its connections, requests for the store, frames in
/// outbound queues. `Shard` drives one with the reactor; a simulator may drive many in one thread.
///
/// Threads: each shard is confined to its loop; one `Committer` thread owns the store's writer; `ReadWorker` threads
/// own a reader each. They meet in mailboxes, in batches, at the end of a turn. Lifecycle: `Node` builds them in order
/// and stops them in reverse. Never imports: SQL, the push rooms, Foundation.
package struct GatewaySettings: Sendable {
  package var limits = Limits()
  /// Offer the conformance and benchmark endpoints `/echo`, `/sub` and `/pub` (S4).
  package var isEchoEnabled = false
  package var origins = OriginPolicy()
  /// Only loopback names may be asked for (A4).
  package var isDevelopment = false
  package var heartbeatSeconds = 25
  /// How long a connection may stay without a valid `connect` (L2).
  package var connectSeconds = 5
  /// The largest request head (H).
  package var headBytes = 16_384
  /// How long a request head may take (H).
  package var headSeconds = 10
  /// How long a request's body may take, and how long an idle keep-alive connection is kept.
  package var bodySeconds = 30
  package var keepAliveSeconds = 60
  /// How long a peer may take to answer our close frame (RFC 6455 §7.1.1).
  package var closeSeconds = 5
  /// Operations that may wait for the hello (L2).
  package var queuedBeforeHello = 16
  /// Requests of one session that may be under way; at this number its socket is not read until half are answered.
  package var requestsInFlight = 256
  /// Malformed frames a minute before 1008 (L8).
  package var malformedPerMinute = 100
  /// Bytes that may wait for one session before it is a slow consumer (R7).
  package var outboundBytes = 1 << 20
  /// Bytes that may wait on one shard for all its sessions. Above half of it a session may hold an eighth of its own
  /// limit; at it no connection is accepted.
  package var outboundTotalBytes = 512 << 20
  /// Events of one page of a replay (R6), and bytes after which a page ends; the next is read when fewer than
  /// `replayLowBytes` wait for the session.
  package var replayPageEvents = 128
  package var replayPageBytes: Int { min(256 << 10, outboundBytes / 4) }
  package var replayLowBytes: Int { replayPageBytes / 4 }
  /// The same on the echo endpoints, whose messages are larger (S4).
  package var echoOutboundBytes = 64 << 20
  package var echoMessageBytes = 16 << 20
  /// Frames of one message (C025): beyond it 1008. The echo endpoints allow the conformance suite's 64-byte fragments.
  package var fragments = 4_096
  package var echoFragments = 1 << 18
  /// Text shorter than this is sent uncompressed even when deflate was agreed.
  package var compressionThresholdBytes = 256
  /// Connections of one shard.
  package var connectionsPerShard = 1 << 20
  /// Requests that may wait for the writer and for each reader; beyond it the answer is `ERR_OVERLOADED`.
  package var writerQueue = 16_384
  package var readerQueue = 32_768
  /// Mutations of one commit.
  package var batchSize = 512

  package init() {}
}

/// A user's live session id: 128 random bits in hexadecimal.
package struct SessionID: Hashable, Sendable {
  package let text: String
  package init(_ text: String) { self.text = text }
}
