import Chat
import Primitives
package import Store
import Telemetry
import Wire
package import Workers

/// A thread that owns one of the store's readers: looks up tokens, loads sessions, answers questions, and passes an
/// HTTP request that changes something on to the committer once it knows who asks.
package final class ReadWorker: Sendable {
  package let requests: Mailbox<ReadRequest>
  private let shards: [Mailbox<ShardMail>]
  private let committer: Mailbox<WriteRequest>
  private let counters: GatewayCounters

  package init(
    shards: [Mailbox<ShardMail>], committer: Mailbox<WriteRequest>, counters: GatewayCounters,
    settings: GatewaySettings
  ) {
    self.shards = shards
    self.committer = committer
    self.counters = counters
    requests = Mailbox(limit: settings.readerQueue, wakeup: Wakeup())
  }

  package func stop() { requests.finish() }

  /// The thread's body. Returns after `stop`, when nothing waits.
  package func run(_ reader: any StoreReader) {
    var waiting: [ReadRequest] = []
    var pages: [ReadRequest] = []
    while true {
      waiting.removeAll(keepingCapacity: true)
      if !pages.isEmpty {
        requests.drain(into: &waiting)
      } else if !requests.wait(drainingInto: &waiting) {
        return
      }
      for request in waiting {
        if case .missed = request.question { pages.append(request) } else { handle(request, reader) }
      }
      // Replays are long and nobody looks at a screen for them: a few pages, then whoever has come meanwhile.
      let few = pages.prefix(Self.pagesInARow)
      work(on: Array(few), with: reader)
      pages.removeFirst(few.count)
    }
  }

  private static let pagesInARow = 16

  /// Answers questions in order.
  func work(on requests: [ReadRequest], with reader: any StoreReader) {
    for request in requests { handle(request, reader) }
  }

  private func handle(_ request: ReadRequest, _ reader: any StoreReader) {
    let address = request.replyTo
    switch request.question {
    case .upgrade(let hash):
      post(.upgradeChecked(address, verdict(hash, reader)), to: address)
    case .session(let hash, let wish):
      post(.sessionLoaded(address, session(hash, wish, reader)), to: address)
    case .missed(let query, let bytes):
      post(.missedLoaded(address, missed(query, bytes, reader)), to: address)
    case .followed(let uid):
      post(.followedLoaded(address, followed(uid, reader)), to: address)
    case .thread(let root, let uid):
      post(.threadFound(address, root, thread(root, uid, reader)), to: address)
    case .operation(let operation, let uid):
      answer(address, read(operation, .user(uid), reader))
    case .request(let definition, let operation, let credentials):
      serve(definition, operation, credentials, address, reader)
    case .metrics:
      post(.reply(address, Reply.metrics(counters.registry.prometheusText())), to: address)
    }
  }

  // MARK: Who asks

  private func verdict(_ hash: [UInt8], _ reader: any StoreReader) -> TokenVerdict {
    do throws(StoreFailure) {
      guard let holder = try reader.tokenHolder(hash: hash, now: UnixSeconds(Clock.unixSeconds())) else {
        return .unknown
      }
      switch holder.standing {
      case .valid: return .valid(holder.user.uid)
      case .expired: return .expired
      case .revoked: return .revoked
      }
    } catch {
      counters.log.error("read_failed", ["reason": .text(error.message)])
      return .unavailable
    }
  }

  private func session(
    _ hash: [UInt8], _ wish: SessionWish, _ reader: any StoreReader
  ) -> Result<LoadedSession, TokenRefusal> {
    do throws(StoreFailure) {
      // The snapshot comes first: a token revoked between the two reads is then still seen as revoked.
      guard let named = try reader.tokenHolder(hash: hash, now: UnixSeconds(Clock.unixSeconds())) else {
        return .failure(TokenRefusal(.unknown))
      }
      let snapshot = try reader.session(
        named.user.uid, openThreads: wish.openThreads, withFollowed: wish.replies == .subscribed)
      guard let snapshot else { return .failure(TokenRefusal(.unknown)) }
      var verdict: ResumeVerdict?
      if let position = wish.resume {
        verdict = try reader.resumption(
          of: named.user.uid, after: position, window: wish.window, now: UnixSeconds(Clock.unixSeconds()))
      }
      guard let holder = try reader.tokenHolder(hash: hash, now: UnixSeconds(Clock.unixSeconds())) else {
        return .failure(TokenRefusal(.unknown))
      }
      switch holder.standing {
      case .valid: break
      case .expired: return .failure(TokenRefusal(.expired))
      case .revoked: return .failure(TokenRefusal(.revoked))
      }
      let id = SessionID(RandomID.make())
      return .success(
        LoadedSession(
          id: id, snapshot: snapshot, verdict: verdict, tokenHash: hash, tokenExpiresAt: holder.expiresAt))
    } catch {
      counters.log.error("read_failed", ["reason": .text(error.message)])
      return .failure(TokenRefusal(.unavailable))
    }
  }

  /// A page of a replay, cut at the first event that would make it too long. Nil when the store does not answer.
  private func missed(_ query: MissedQuery, _ limitBytes: Int, _ reader: any StoreReader) -> MissedTexts? {
    do throws(StoreFailure) {
      guard let page = try reader.missed(query) else { return nil }
      var texts = MissedTexts(
        events: [], through: page.through, hasMore: page.hasMore, unsent: page.unsent, hints: [])
      for progress in page.hints {
        // A thread whose reply an earlier page left out may be out of sight by now (R8).
        guard case .success(let place) = try reader.thread(progress.root, actor: .user(query.uid)) else { continue }
        texts.hints.append((place, progress.asOf, EventEncoder.threadUpdated(progress)))
      }
      var bytes = 0
      for event in page.events {
        guard let text = EventEncoder.encode(event) else { continue }
        if bytes > 0, bytes + text.count > limitBytes {
          texts.through = Seq(event.seq.value - 1)
          texts.hasMore = true
          texts.hints = []
          break
        }
        bytes += text.count
        texts.events.append((event.seq, text))
      }
      return texts
    } catch {
      counters.log.error("read_failed", ["reason": .text(error.message)])
      return nil
    }
  }

  private func followed(_ uid: UserID, _ reader: any StoreReader) -> Result<SessionSnapshot, Refusal> {
    do throws(StoreFailure) {
      guard let snapshot = try reader.session(uid, openThreads: [], withFollowed: true) else {
        return .failure(Refusal(.notLoggedIn))
      }
      return .success(snapshot)
    } catch {
      counters.log.error("read_failed", ["reason": .text(error.message)])
      return .failure(Refusal(.storeUnavailable))
    }
  }

  private func thread(
    _ root: MessageID, _ uid: UserID, _ reader: any StoreReader
  ) -> Result<ThreadPlace, Refusal> {
    do throws(StoreFailure) {
      return try reader.thread(root, actor: .user(uid))
    } catch {
      counters.log.error("read_failed", ["reason": .text(error.message)])
      return .failure(Refusal(.storeUnavailable))
    }
  }

  /// Whom the credentials name (A1, A2).
  private enum Caller {
    case nobody
    case user(UserID)
    case key(KeyScope, onBehalfOf: UserID?)
  }

  private func caller(
    _ credentials: Credentials, _ reader: any StoreReader
  ) throws(StoreFailure) -> Result<Caller, Refusal> {
    switch credentials {
    case .none: return .success(.nobody)
    case .token(let hash):
      switch verdict(hash, reader) {
      case .valid(let uid): return .success(.user(uid))
      case .expired: return .failure(Refusal(.notLoggedIn, "The token has expired."))
      case .revoked: return .failure(Refusal(.notLoggedIn, "The token was revoked."))
      case .unknown: return .failure(Refusal(.notLoggedIn, "The token is not known."))
      case .unavailable: return .failure(Refusal(.storeUnavailable))
      }
    case .key(let hash, let onBehalfOf):
      guard let scope = try reader.keyScope(hash: hash) else { return .failure(Refusal(.apiKeyNotFound)) }
      guard let onBehalfOf else { return .success(.key(scope, onBehalfOf: nil)) }
      guard let uid = UserID(onBehalfOf) else {
        return .failure(Refusal(.badRequest, "onBehalfOf is not a uid.", details: [.field("onBehalfOf")]))
      }
      guard try reader.user(uid) != nil else { return .failure(Refusal(.uidNotFound)) }
      return .success(.key(scope, onBehalfOf: uid))
    }
  }

  /// Whether this caller may call the operation, and in whose name.
  private func actor(for definition: OperationDefinition, _ caller: Caller) -> Result<Actor, Refusal> {
    switch (definition.caller, caller) {
    case (.anyone, .nobody): return .success(.application)
    case (_, .nobody):
      return .failure(Refusal(.notLoggedIn, "Send `Authorization: Bearer TOKEN` or `apikey: KEY`."))
    case (.fullAccessKey, .user), (.anyKey, .user):
      return .failure(Refusal(.noAccess, "This operation needs an API key."))
    case (.anyKey, .key): return .success(.application)
    case (_, .key(.authOnly, _)): return .failure(Refusal(.noAccess, "The key's scope is authOnly."))
    case (.fullAccessKey, .key(.fullAccess, _)): return .success(.application)
    case (.user, .key(.fullAccess, nil)):
      return .failure(
        Refusal(.badRequest, "This operation needs a user: add `onBehalfOf`.", details: [.field("onBehalfOf")]))
    case (_, .user(let uid)), (_, .key(.fullAccess, let uid?)): return .success(.user(uid))
    case (_, .key(.fullAccess, nil)): return .success(.application)
    }
  }

  // MARK: Answers

  private func serve(
    _ definition: OperationDefinition, _ operation: Result<Operation, Refusal>, _ credentials: Credentials,
    _ address: ReplyAddress, _ reader: any StoreReader
  ) {
    let admitted: Result<Actor, Refusal>
    do throws(StoreFailure) {
      admitted = try caller(credentials, reader).flatMap { actor(for: definition, $0) }
    } catch {
      counters.log.error("read_failed", ["reason": .text(error.message)])
      return answer(address, .failure(Refusal(.storeUnavailable)))
    }
    switch (admitted, operation) {
    case (.failure(let refusal), _), (.success, .failure(let refusal)): answer(address, .failure(refusal))
    case (.success(let actor), .success(let operation)):
      if let write = write(operation, actor, address) {
        if committer.post(write) == .full { answer(address, .failure(Refusal(.overloaded))) }
      } else {
        answer(address, read(operation, actor, reader))
      }
    }
  }

  private func write(_ operation: Operation, _ actor: Actor, _ address: ReplyAddress) -> WriteRequest? {
    if case .adminTokensMint(let uid, let ttlSeconds) = operation {
      let token = Secret.mintToken()
      let expiresAt = ttlSeconds.map { UnixSeconds(Clock.unixSeconds() + $0) } ?? .never
      return WriteRequest(
        mutation: Mutation(
          actor: actor, change: .mintToken(uid, hash: Secret.digest(token), expiresAt: expiresAt)),
        replyTo: address, disclosure: .token(text: token, uid: uid, expiresAt: expiresAt))
    }
    if case .adminTokensRevoke(let token) = operation {
      return WriteRequest(
        mutation: Mutation(actor: actor, change: .revokeToken(hash: Secret.digest(token))), replyTo: address)
    }
    guard let change = operation.change(by: actor) else { return nil }
    return WriteRequest(mutation: Mutation(actor: actor, change: change), replyTo: address)
  }

  private func read(_ operation: Operation, _ actor: Actor, _ reader: any StoreReader) -> Result<Answer, Refusal> {
    do throws(StoreFailure) {
      switch operation {
      case .messageGet(let id): return try reader.message(id, actor: actor).map(Answer.message)
      case .messagesList(let query): return try reader.messages(query, actor: actor).map(Answer.messages)
      case .reactionsList(let id, let reaction, let after, let limit):
        return try reader.reactions(to: id, reaction: reaction, after: after, limit: limit, actor: actor)
          .map(Answer.reactions)
      case .usersGet(let uid):
        guard let user = try reader.user(uid) else { return .failure(Refusal(.uidNotFound)) }
        return .success(.user(user))
      case .groupsGet(let guid): return try reader.group(guid, actor: actor).map(Answer.group)
      case .membersList(let guid, let after, let limit):
        return try reader.members(of: guid, after: after, limit: limit, actor: actor).map { page in
          Answer.members(rows: page.rows, hasMore: page.hasMore)
        }
      default: preconditionFailure("every other operation is a change or belongs to the shard")
      }
    } catch {
      counters.log.error("read_failed", ["reason": .text(error.message)])
      return .failure(Refusal(.storeUnavailable))
    }
  }

  private func answer(_ address: ReplyAddress, _ result: Result<Answer, Refusal>) {
    if case .failure(let refusal) = result {
      counters.refusals(refusal.code).increment()
      counters.log.debug("refused", ["code": .text(refusal.code.rawValue)])
    }
    post(.reply(address, Reply.make(for: address.form, result)), to: address)
  }

  private func post(_ mail: ShardMail, to address: ReplyAddress) {
    while shards[address.shard].post(mail) == .full { Backoff.pauseMilliseconds(1) }
  }
}
