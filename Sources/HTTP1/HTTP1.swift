/// HTTP/1.1 as strict machines: request heads and bodies in, response heads out (RFC 9110, RFC 9112).
///
/// Threads: none. Lifecycle: one `RequestParser` a connection; it keeps memory only while a head is split over reads.
/// Never imports: sockets, clocks, Foundation. Whatever is ambiguous is refused, never guessed (protocol.md H).

/// Limits of one request. Sizes are bytes as they stand on the wire.
package struct HTTPLimits: Sendable {
  /// Request line and header fields together; beyond it 431.
  package var headBytes: Int
  /// The request target; beyond it 414.
  package var targetBytes: Int
  /// Header fields of one request; beyond it 431.
  package var fieldCount: Int
  /// A request's body, after chunked framing is taken off; beyond it 413.
  package var bodyBytes: Int

  package init(
    headBytes: Int = 16_384, targetBytes: Int = 8_192, fieldCount: Int = 100, bodyBytes: Int = 1_048_576
  ) {
    self.headBytes = headBytes
    self.targetBytes = targetBytes
    self.fieldCount = fieldCount
    self.bodyBytes = bodyBytes
  }
}

/// What a peer did wrong: the status to answer with, and why. The connection cannot go on after it.
package struct HTTPFailure: Error, Hashable, Sendable {
  package var status: Int
  package var reason: String

  package init(_ status: Int, _ reason: String) {
    self.status = status
    self.reason = reason
  }
}

/// How a request's body is framed (RFC 9112 §6).
package enum BodyFraming: Hashable, Sendable {
  case none
  case length(Int)
  case chunked
}
