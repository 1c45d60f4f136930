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
    let resume = connection.connect?.resume
    let wish = SessionWish(
      resume: resume?.epoch == epoch ? resume?.seq : nil, replies: connection.connect?.replies ?? .all,
      openThreads: connection.connect?.openThreads ?? [],
      window: ResumeWindow(
        seconds: Int64(connection.terms.limits.resumeSeconds), events: connection.terms.limits.resumeEvents))
    reads.append(
      ReadRequest(
        .session(tokenHash: tokenHash, wish),
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
        ahead.append((loaded.snapshot.head, .sessionLoaded(address, result)))
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

  /// What waited for the shard to reach its position.
  mutating func openThoseReached() {
    guard !ahead.isEmpty else { return }
    let waiting = ahead
    ahead.removeAll(keepingCapacity: true)
    for (head, mail) in waiting {
      if head > position { ahead.append((head, mail)) } else { self.mail(mail, at: moment) }
    }
  }

  /// Joins the routing indexes, then says hello at the position from which events follow.
  private mutating func open(_ connection: ClientConnection, _ loaded: LoadedSession) {
    guard let id = connection.connectID, let connect = connection.connect else { return }
    let user = loaded.snapshot.user
    let since = loaded.snapshot.head
    let loadedStanding = RecentChanges.Standing(
      groups: Set(loaded.snapshot.groups), followed: Set(loaded.snapshot.followed))
    guard let standing = recent.bringUp(loadedStanding, of: user.uid, since: since) else {
      return askForSession(connection, tokenHash: loaded.tokenHash, id: id)
    }
    guard !recent.isRevoked(loaded.tokenHash, of: user.uid, since: since) else {
      return refused(connection, id, .revoked)
    }
    let device = connect.device.map { DeviceKey(user: user.uid, device: $0.id) }
    connection.session = Session(
      id: loaded.id, uid: user.uid, tokenHash: loaded.tokenHash, tokenExpiresAt: loaded.tokenExpiresAt,
      device: device, ordinal: counters.ordinals.next(), isForeground: connect.isForeground)
    connection.phase = .live
    if outlets.queuedBytes(connection.handle) == 0 { connection.hasHandshakeLeft = true }
    connection.connect = nil
    connection.connectID = nil
    connection.upgradeTokenHash = nil
    let slot = connection.handle.index
    routes.enter(slot: slot, user: user.uid, groups: standing.groups, choice: connect.replies)
    if connect.replies == .subscribed { for place in standing.followed { routes.follow(slot: slot, place) } }
    for place in loaded.snapshot.opened { routes.open(slot: slot, place) }
    counters.sessions.add(1)
    counters.log.debug("session_opened", ["uid": .text(user.uid.text), "session": .text(loaded.id.text)])
    if let device { opened(device, connection) }
    let resumption = resumption(connect.resume, loaded.verdict)
    let from = resumption == .resumed ? connect.resume?.seq ?? position : position
    let hello = Hello(
      sessionID: loaded.id.text, user: user, epoch: epoch, seq: from, resumption: resumption,
      heartbeatSeconds: connection.terms.heartbeatSeconds, serverTime: moment.unix, limits: connection.terms.limits,
      version: GatewayVersion.text)
    sendText(ReplyEncoder.success(id, .hello(hello)), to: connection)
    counters.resumptions(resumption).increment()
    if resumption == .resumed, from < position || connect.replies != .all { beginReplay(connection, after: from) }
    startHeartbeat(connection)
    performWaiting(connection)
  }

  /// R6, R11: a position of this store, within the window, or an explicit reset.
  private func resumption(_ resume: ConnectRequest.Position?, _ verdict: ResumeVerdict?) -> Hello.Resumption {
    guard let resume else { return .fresh }
    guard resume.epoch == epoch, let verdict else { return .reset(.epochChanged) }
    switch verdict {
    case .possible: return .resumed
    case .badPosition: return .reset(.badPosition)
    case .windowExpired: return .reset(.windowExpired)
    case .tooMany: return .reset(.tooMany)
    }
  }

  // MARK: Devices (4204)

  /// The same device's older session ends, on whichever shard it is.
  private mutating func opened(_ device: DeviceKey, _ connection: ClientConnection) {
    guard let session = connection.session else { return }
    deviceOpened(device, ordinal: session.ordinal)
    slotOfDevice[device] = connection.handle.index
    if counters.hasOtherShards { publications.append(.deviceOpened(device, ordinal: session.ordinal)) }
  }

  mutating func deviceOpened(_ device: DeviceKey, ordinal: UInt64) {
    guard let slot = slotOfDevice[device], let connection = connection(outlets.handle(ofSlot: slot)),
      let session = connection.session, session.ordinal < ordinal
    else { return }
    close(connection, code: .sessionReplaced, reason: "the device connected again")
  }

  // MARK: Operations

  /// What came before the hello, as far as the session may have requests under way; the rest when some are answered.
  mutating func performWaiting(_ connection: ClientConnection) {
    while connection.phase == .live, !connection.isReadingPaused, !connection.waitingOperations.isEmpty {
      perform(connection, connection.waitingOperations.removeFirst())
    }
  }

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
    case .sessionUpdate(let replies, let isForeground):
      return updateSession(connection, id, replies, isForeground: isForeground)
    case .threadOpen(let root): return openThread(connection, id, root)
    case .threadClose(let root): return closeThread(connection, id, root)
    case .typing(let notice): return typing(connection, id, notice)
    default: break
    }
    let replyTo = beginRequest(connection, id)
    if let change = operation.change(by: .user(session.uid)) {
      writes.append(WriteRequest(mutation: Mutation(actor: .user(session.uid), change: change), replyTo: replyTo))
    } else {
      reads.append(ReadRequest(.operation(operation, session.uid), replyTo: replyTo))
    }
  }

  /// Counts a request that a worker answers. What more the client sends waits in its own socket until half of these
  /// are answered.
  mutating func beginRequest(_ connection: ClientConnection, _ id: RequestID) -> ReplyAddress {
    connection.requestsInFlight += 1
    if connection.requestsInFlight >= settings.requestsInFlight { pauseReading(connection) }
    counters.operations.increment()
    counters.log.debug(
      "operation",
      ["session": .text(connection.session?.id.text ?? "none"), "in_flight": .number(connection.requestsInFlight)])
    return ReplyAddress(
      shard: index, connection: connection.handle, form: .socket(id), receivedAt: moment.instant)
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
