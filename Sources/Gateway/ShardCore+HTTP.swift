import Chat
import HTTP1
import Primitives
import Telemetry
import WebSocket
import Wire

/// The HTTP door (protocol.md H): requests become operations, answers become responses, upgrades change the machine.
extension ShardCore {
  /// Reads until the input is used up, or the connection turns to something else: the end of a request needs no byte
  /// of its own, and what follows an upgrade is not ours.
  mutating func readRequest(_ connection: ClientConnection, _ input: inout UnsafeMutableRawBufferPointer) {
    while connection.phase == .request, let event = connection.parser?.next(&input) {
      switch event {
      case .needMore: return
      case .head(let head): begin(connection, head)
      case .body(let bytes): connection.request?.body.append(contentsOf: bytes)
      case .end: dispatch(connection)
      case .failed(let failure):
        connection.closesAfterResponse = true
        respond(connection, Reply.failure(failure, bodyLimit: connection.terms.limits.bodyBytes))
        input = UnsafeMutableRawBufferPointer(start: nil, count: 0)
      }
    }
  }

  private mutating func begin(_ connection: ClientConnection, _ head: RequestHead) {
    counters.requests.increment()
    connection.closesAfterResponse = !head.keepAlive
    connection.isHeadOnly = head.method == "HEAD"
    setTimer(connection, seconds: settings.bodySeconds)
    if settings.isDevelopment, !Loopback.isLocal(host: head.host) {
      return refuse(connection, head, Reply.failure(status: 421, message: "This host name is not served here."))
    }
    switch head.rawPath {
    case "/v1/live": upgrade(connection, head, to: .connecting)
    case "/echo" where settings.isEchoEnabled: upgrade(connection, head, to: .echo)
    case "/sub" where settings.isEchoEnabled: upgrade(connection, head, to: .subscriber)
    case "/pub" where settings.isEchoEnabled: upgrade(connection, head, to: .publisher)
    case "/healthz", "/readyz", "/metrics":
      if head.method == "GET" || head.method == "HEAD" {
        connection.request = .init(kind: .service(head.rawPath), head: head)
      } else {
        refuse(connection, head, Reply.methodNotAllowed(["GET", "HEAD"]))
      }
    default:
      switch router.route(method: head.method, path: head.rawPath) {
      case .operation(let definition, let parameters):
        connection.request = .init(kind: .operation(definition, parameters), head: head)
        if head.expectsContinue { send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), to: connection) }
      case .methodNotAllowed(let allowed): refuse(connection, head, Reply.methodNotAllowed(allowed))
      case .notFound: refuse(connection, head, Reply.failure(Refusal(.apiNotFound)))
      }
    }
  }

  /// Answers before the body was read: whatever follows on the wire cannot be trusted to be a request.
  private mutating func refuse(_ connection: ClientConnection, _ head: RequestHead, _ reply: Reply) {
    if case .none = head.framing {
      connection.request = .init(kind: .refused(reply), head: head)
    } else {
      connection.closesAfterResponse = true
      respond(connection, reply)
    }
  }

  /// The request is complete.
  private mutating func dispatch(_ connection: ClientConnection) {
    guard let request = connection.request else { return }
    connection.request = nil
    switch request.kind {
    case .refused(let reply): respond(connection, reply)
    case .service("/healthz"): respond(connection, Reply.text(status: 200, "ok\n"))
    case .service("/readyz"): respond(connection, readinessReply())
    case .service:
      ask(connection, .metrics)
    case .operation(let definition, let parameters):
      counters.log.debug("http_request", ["op": .text(String(describing: definition.name))])
      guard let query = HTTPQuery.parse(request.head.rawQuery ?? "") else {
        return respond(connection, Reply.failure(Self.brokenQuery))
      }
      let operation = request.body.withUnsafeBytes { body in
        connection.terms.decoder.decodeHTTP(definition, parameters: parameters, query: query, body: body)
      }
      ask(connection, .request(definition, operation, credentials(of: request.head)))
    }
  }

  private static let brokenQuery = Refusal(.badRequest, "The query string is not UTF-8 in %-escapes, or holds a NUL.")

  private func readinessReply() -> Reply {
    if readiness.isReady { return Reply.text(status: 200, "ready\n") }
    var reply = Reply.text(status: 503, readiness.isDraining ? "draining\n" : "the store does not commit\n")
    reply.retryAfterSeconds = 1
    return reply
  }

  private mutating func ask(_ connection: ClientConnection, _ question: ReadRequest.Question) {
    connection.phase = .answering
    pauseReading(connection)
    reads.append(
      ReadRequest(
        question,
        replyTo: ReplyAddress(
          shard: index, connection: connection.handle, form: .http, receivedAt: moment.instant)))
  }

  /// An `apikey` wins over a token (A2). Only digests are kept.
  private func credentials(of head: RequestHead) -> Credentials {
    if let key = head.text(of: "apikey") {
      return .key(hash: Secret.digest(key), onBehalfOf: head.text(of: "onbehalfof"))
    }
    if let token = bearerToken(head) { return .token(hash: Secret.digest(token)) }
    return .none
  }

  private func bearerToken(_ head: RequestHead) -> String? {
    guard let field = head.text(of: "authorization") else { return nil }
    let parts = field.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
    return String(parts[1].trimmed())
  }

  // MARK: Responses

  /// Sends the response to the connection's request, then goes on with the next or ends the connection.
  mutating func respond(_ connection: ClientConnection, _ reply: Reply) {
    counters.responses(status: reply.status).increment()
    counters.log.debug("http_response", ["status": .number(reply.status), "bytes": .number(reply.bytes.count)])
    if isDraining { connection.closesAfterResponse = true }
    var bytes: [UInt8] = []
    var head = ResponseHead(status: reply.status)
    head.append("Content-Type", String(describing: reply.contentType))
    head.append("Content-Length", String(reply.bytes.count))
    head.append("Cache-Control", "no-store")
    head.append("Date", date.text(at: moment.unix.value))
    // RFC 9110 §15.5.2: a 401 says how to authenticate.
    if reply.status == 401 { head.append("WWW-Authenticate", "Bearer") }
    if let allow = reply.allow { head.append("Allow", allow) }
    if reply.isUpgradeRequired {
      // RFC 6455 §4.4: which version would do.
      head.append("Upgrade", "websocket")
      head.append("Sec-WebSocket-Version", "13")
    }
    if let seconds = reply.retryAfterSeconds { head.append("Retry-After", String(seconds)) }
    if connection.closesAfterResponse {
      head.append("Connection", reply.isUpgradeRequired ? "Upgrade, close" : "close")
    }
    head.write(into: &bytes)
    if !connection.isHeadOnly { bytes += reply.bytes }
    send(bytes, to: connection)
    if connection.closesAfterResponse {
      finish(connection)
    } else {
      connection.phase = .request
      connection.isIdleBetweenRequests = true
      setTimer(connection, seconds: settings.keepAliveSeconds)
      resumeReading(connection)
    }
  }

  /// Lets the queue run empty, then ends the stream.
  mutating func finish(_ connection: ClientConnection) {
    connection.phase = .closing
    outlets.seal(connection.handle)
    setTimer(connection, seconds: settings.closeSeconds)
  }

  mutating func requestTimedOut(_ connection: ClientConnection) {
    if connection.isIdleBetweenRequests { return finish(connection) }
    connection.closesAfterResponse = true
    respond(connection, Reply.failure(status: 408, message: "The request did not arrive in time."))
  }

  // MARK: Upgrades

  private mutating func upgrade(_ connection: ClientConnection, _ head: RequestHead, to phase: ClientConnection.Phase) {
    connection.closesAfterResponse = true
    let isLive = phase == .connecting
    let verdict = ServerHandshake.evaluate(
      head, subprotocols: isLive ? ["threadcast.v1.json"] : [], deflate: DeflatePolicy())
    switch verdict {
    case .refuse(let refusal):
      var reply = Reply.failure(status: refusal.status, message: refusal.reason)
      reply.isUpgradeRequired = refusal.status == 426
      if refusal.status == 405 { reply.allow = "GET" }
      respond(connection, reply)
    case .accept(let acceptance):
      if isLive, !settings.origins.allows(head.texts(of: "origin")) {
        return respond(connection, Reply.failure(Refusal(.noAccess, "Pages of this origin may not connect.")))
      }
      if isDraining || readiness.isDraining {
        var reply = Reply.failure(Refusal(.overloaded, "This node is draining."))
        reply.retryAfterSeconds = 1
        return respond(connection, reply)
      }
      guard isLive else { return switchProtocols(connection, acceptance, to: phase) }
      switch upgradeToken(head) {
      case .failure(let refusal): respond(connection, Reply.failure(refusal))
      case .success(nil): switchProtocols(connection, acceptance, to: .connecting)
      case .success(let token?):
        let hash = Secret.digest(token)
        connection.upgrade = .init(acceptance: acceptance)
        connection.upgradeTokenHash = hash
        connection.phase = .upgrading
        pauseReading(connection)
        reads.append(
          ReadRequest(
            .upgrade(tokenHash: hash),
            replyTo: ReplyAddress(shard: index, connection: connection.handle, form: .http)))
      }
    }
  }

  /// `Authorization: Bearer` or `?access_token=` (L2).
  private func upgradeToken(_ head: RequestHead) -> Result<String?, Refusal> {
    if head.text(of: "authorization") != nil {
      guard let token = bearerToken(head) else {
        return .failure(Refusal(.notLoggedIn, "Use `Authorization: Bearer TOKEN`."))
      }
      return .success(token)
    }
    guard let items = HTTPQuery.parse(head.rawQuery ?? "") else { return .failure(Self.brokenQuery) }
    return .success(items.first { $0.name == "access_token" }?.value)
  }

  mutating func upgradeChecked(_ address: ReplyAddress, _ verdict: TokenVerdict) {
    guard let connection = connection(address.connection), connection.phase == .upgrading,
      let upgrade = connection.upgrade
    else { return }
    connection.upgrade = nil
    switch verdict {
    case .valid(let uid):
      connection.upgradeUser = uid
      switchProtocols(connection, upgrade.acceptance, to: .connecting)
      resumeReading(connection)
    case .expired: respond(connection, Reply.failure(Refusal(.notLoggedIn, "The token has expired.")))
    case .revoked: respond(connection, Reply.failure(Refusal(.notLoggedIn, "The token was revoked.")))
    case .unknown: respond(connection, Reply.failure(Refusal(.notLoggedIn, "The token is not known.")))
    case .unavailable: respond(connection, Reply.failure(Refusal(.storeUnavailable)))
    }
  }

  private mutating func switchProtocols(
    _ connection: ClientConnection, _ acceptance: UpgradeAcceptance, to phase: ClientConnection.Phase
  ) {
    var bytes: [UInt8] = []
    acceptance.appendResponse(to: &bytes)
    counters.responses(status: 101).increment()
    connection.parser = nil
    connection.phase = phase
    let isLive = phase == .connecting
    connection.machine = ConnectionMachine(
      role: .server, maximumMessageBytes: isLive ? connection.terms.limits.frameBytes : settings.echoMessageBytes,
      maximumFragments: isLive ? settings.fragments : settings.echoFragments, deflate: acceptance.deflate)
    send(bytes, to: connection)
    if let deflate = acceptance.deflate {
      outlets.setWindowBits(deflate.serverMaxWindowBits, for: connection.handle)
    }
    switch phase {
    case .connecting: setTimer(connection, seconds: settings.connectSeconds)
    case .subscriber:
      echoSubscribers.append(connection.handle.index)
      cancelTimer(connection)
    default: cancelTimer(connection)
    }
  }

  private mutating func cancelTimer(_ connection: ClientConnection) {
    if let timer = connection.timer { timers.cancel(timer) }
    connection.timer = nil
  }
}
