import Chat
import Primitives
import Store
import Telemetry
import WebSocket
import Wire

/// From `connect` to the hello, and the operations of a live session.
extension ShardCore {
  /// L2, L4: the first frame.
  mutating func connect(_ connection: ClientConnection, _ request: FrameRequest) {
    guard case .request(let id, let result) = request else { return }
    switch result {
    case .failure(let refusal):
      reply(connection, id: id, refusal)
      refuseSession(connection, .unauthenticated, "the first frame must be a valid connect")
    case .success(.connect(let connect)):
      let hash: [UInt8]
      if let token = connect.token {
        hash = Secret.digest(token)
      } else if let upgradeHash = connection.upgradeTokenHash {
        hash = upgradeHash
      } else {
        reply(connection, id: id, Refusal(.notLoggedIn, "connect needs a token."))
        return refuseSession(connection, .unauthenticated, "no token")
      }
      connection.connect = connect
      connection.connectID = id
      connection.phase = .opening
      askForSession(connection, tokenHash: hash, id: id)
    case .success:
      reply(connection, id: id, Refusal(.notLoggedIn, "The first operation must be connect."))
      refuseSession(connection, .unauthenticated, "the first frame must be connect")
    }
  }

  private mutating func askForSession(_ connection: ClientConnection, tokenHash: [UInt8], id: RequestID) {
    reads.append(
      ReadRequest(
        .session(tokenHash: tokenHash),
        replyTo: ReplyAddress(shard: index, connection: connection.handle, form: .socket(id))))
  }

  mutating func refuseSession(_ connection: ClientConnection, _ code: CloseCode, _ reason: String) {
    close(connection, code: code, reason: reason)
  }

  mutating func sessionLoaded(_ address: ReplyAddress, _ result: Result<LoadedSession, TokenRefusal>) {
    guard let connection = connection(address.connection), connection.phase == .opening,
      let id = connection.connectID
    else { return }
    switch result {
    case .failure(let refusal): refused(connection, id, refusal.verdict)
    case .success(let loaded):
      if let user = connection.upgradeUser, user != loaded.snapshot.user.uid {
        reply(connection, id: id, Refusal(.notLoggedIn, "The token is of another user than the upgrade's."))
        return refuseSession(connection, .unauthenticated, "the tokens are of two users")
      }
      if loaded.snapshot.head > position {
        ahead.append((address, loaded))
      } else {
        open(connection, loaded)
      }
    }
  }

  private mutating func refused(_ connection: ClientConnection, _ id: RequestID, _ verdict: TokenVerdict) {
    switch verdict {
    case .valid: preconditionFailure("a valid token is not refused")
    case .expired:
      reply(connection, id: id, Refusal(.notLoggedIn, "The token has expired."))
      refuseSession(connection, .tokenExpired, "the token has expired")
    case .revoked:
      reply(connection, id: id, Refusal(.notLoggedIn, "The token was revoked."))
      refuseSession(connection, .tokenRevoked, "the token was revoked")
    case .unknown:
      reply(connection, id: id, Refusal(.notLoggedIn, "The token is not known."))
      refuseSession(connection, .unauthenticated, "the token is not known")
    case .unavailable:
      reply(connection, id: id, Refusal(.storeUnavailable))
      refuseSession(connection, .overloaded, #"{"reconnectAfterMs":1000}"#)
    }
  }

  /// The sessions that waited for the shard to reach their position.
  mutating func openThoseReached() {
    guard !ahead.isEmpty else { return }
    let waiting = ahead
    ahead.removeAll(keepingCapacity: true)
    for entry in waiting {
      if entry.loaded.snapshot.head > position {
        ahead.append(entry)
      } else if let connection = connection(entry.address.connection), connection.phase == .opening {
        open(connection, entry.loaded)
      }
    }
  }

  /// Joins the routing indexes, then says hello at the position from which events follow.
  private mutating func open(_ connection: ClientConnection, _ loaded: LoadedSession) {
    guard let id = connection.connectID, let connect = connection.connect else { return }
    let user = loaded.snapshot.user
    let since = loaded.snapshot.head
    guard let groups = recent.groups(loaded.snapshot.groups, of: user.uid, since: since) else {
      return askForSession(connection, tokenHash: loaded.tokenHash, id: id)
    }
    guard !recent.isRevoked(loaded.tokenHash, of: user.uid, since: since) else {
      return refused(connection, id, .revoked)
    }
    connection.session = Session(
      id: loaded.id, uid: user.uid, tokenHash: loaded.tokenHash, tokenExpiresAt: loaded.tokenExpiresAt)
    connection.phase = .live
    connection.connect = nil
    connection.connectID = nil
    connection.upgradeTokenHash = nil
    routes.enter(slot: connection.handle.index, user: user.uid, groups: groups)
    counters.sessions.add(1)
    counters.log.debug("session_opened", ["uid": .text(user.uid.text), "session": .text(loaded.id.text)])
    let hello = Hello(
      sessionID: loaded.id.text, user: user, epoch: epoch, seq: position, resumption: resumption(connect.resume),
      heartbeatSeconds: connection.terms.heartbeatSeconds, serverTime: moment.unix, limits: connection.terms.limits,
      version: GatewayVersion.text)
    sendText(ReplyEncoder.success(id, .hello(hello)), to: connection)
    startHeartbeat(connection)
    let waiting = connection.waitingOperations
    connection.waitingOperations = []
    for request in waiting where connection.phase == .live { perform(connection, request) }
  }

  /// R6: nothing is replayed yet, so only a client that missed nothing resumes; every other one is told to start over.
  private func resumption(_ resume: ConnectRequest.Position?) -> Hello.Resumption {
    guard let resume else { return .fresh }
    if resume.epoch != epoch { return .reset(.epochChanged) }
    if resume.seq > position { return .reset(.badPosition) }
    return resume.seq == position ? .resumed : .reset(.windowExpired)
  }

  // MARK: Operations

  mutating func perform(_ connection: ClientConnection, _ request: FrameRequest) {
    guard case .request(let id, let result) = request, let session = connection.session else { return }
    let operation: Operation
    switch result {
    case .failure(let refusal): return reply(connection, id: id, refusal)
    case .success(let decoded): operation = decoded
    }
    switch operation {
    case .ping: return sendText(ReplyEncoder.success(id, .done), to: connection)
    case .connect:
      return reply(connection, id: id, Refusal(.badRequest, "This session is connected already."))
    default: break
    }
    connection.requestsInFlight += 1
    // What more the client sends waits in its own socket until half of these are answered.
    if connection.requestsInFlight >= settings.requestsInFlight { pauseReading(connection) }
    counters.operations.increment()
    counters.log.debug(
      "operation", ["session": .text(session.id.text), "in_flight": .number(connection.requestsInFlight)])
    let replyTo = ReplyAddress(
      shard: index, connection: connection.handle, form: .socket(id), receivedAt: moment.instant)
    if let change = operation.change(by: .user(session.uid)) {
      writes.append(WriteRequest(mutation: Mutation(actor: .user(session.uid), change: change), replyTo: replyTo))
    } else {
      reads.append(ReadRequest(.operation(operation, session.uid), replyTo: replyTo))
    }
  }

  /// An answer from a worker.
  mutating func answer(_ address: ReplyAddress, _ reply: Reply) {
    guard let connection = connection(address.connection) else { return }
    switch address.form {
    case .http:
      if connection.phase == .answering { respond(connection, reply) }
    case .socket:
      connection.requestsInFlight -= 1
      if connection.phase == .live { sendText(reply.bytes, to: connection) }
      if isDraining {
        if connection.requestsInFlight == 0, connection.phase == .live {
          sendAway(connection)
          // For the peer's own close frame; what else it sent is dropped.
          resumeReading(connection)
        }
      } else if connection.requestsInFlight <= settings.requestsInFlight / 2 {
        resumeReading(connection)
      }
    }
  }

  mutating func reply(_ connection: ClientConnection, id: RequestID?, _ refusal: Refusal) {
    counters.refusals(refusal.code).increment()
    counters.log.debug("refused", ["code": .text(refusal.code.rawValue)])
    sendText(ReplyEncoder.failure(id, refusal), to: connection)
  }
}
