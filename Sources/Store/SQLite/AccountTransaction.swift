internal import Chat

/// Users, tokens and keys inside a transaction (D2, A1, A2).
struct AccountTransaction {
  let session: WriterSession
  let caller: Caller
  let now: UnixSeconds

  private static let noAccess = Outcome(.failure(Refusal(.noAccess)))

  /// The application alone makes users.
  func create(_ user: User) throws(StoreFailure) -> Outcome {
    guard caller.isApplication else { return Self.noAccess }
    if try session.directory.anyUser(user.uid) != nil {
      return Outcome(.failure(Refusal(.badRequest, "The uid is taken.", details: [.field("uid")])))
    }
    var created = user
    created.createdAt = now
    created.updatedAt = now
    created.lastActiveAt = .never
    created.deactivatedAt = .never
    try Self.insert(created, with: session.statements.newUser)
    return Outcome(.success(.user(created)))
  }

  static func insert(_ user: User, with row: Statement) throws(StoreFailure) {
    row.bind(user.uid.text).bind(user.name).bind(user.avatar).bind(user.link).bind(user.role).bind(user.statusMessage)
    row.bind(user.metadata.text).bind(PackedFields.packing(user.tags)).bind(user.createdAt.value)
    try row.bind(user.updatedAt.value).bind(user.lastActiveAt.value).run()
  }

  /// The application alone mints, and none for the system user: that is what admin keys are for (A2). A hash that the same user has already gets the new end; a revoked one, or another
  /// user's, is refused.
  func mintToken(for uid: UserID, hash: [UInt8], expiresAt: UnixSeconds) throws(StoreFailure) -> Outcome {
    guard caller.isApplication else { return Self.noAccess }
    guard uid != .application else {
      return Outcome(.failure(Refusal(.badRequest, "The system user has no tokens.", details: [.field("uid")])))
    }
    guard let user = try session.directory.user(uid) else { return Outcome(.failure(Refusal(.uidNotFound))) }
    if let known = try token(hash), known.user != user.key || known.isRevoked {
      return Outcome(.failure(Refusal(.badRequest, "The token is taken.", details: [.field("token")])))
    }
    try session.statements.putToken.bind(hash).bind(user.key).bind(now.value).bind(expiresAt.value).run()
    return Outcome(.success(.done))
  }

  /// By the application or the token's own user. An unknown token, another user's (which must look the same) and one
  /// already revoked are done without a word.
  func revokeToken(_ hash: [UInt8]) throws(StoreFailure) -> Outcome {
    guard let known = try token(hash), !known.isRevoked, caller.isApplication || known.user == caller.key else {
      return Outcome(.success(.done))
    }
    let user = try session.directory.user(key: known.user)
    try session.statements.revokeToken.bind(now.value).bind(hash).run()
    let seq = try session.append(.tokensRevoked, at: now, user: user.key, payload: hash)
    return Outcome(.success(.done), events: [Event(seq: seq, body: .tokensRevoked(user.user.uid, tokenHash: hash))])
  }

  /// The application alone mints keys; a known hash gets the new scope and name.
  func mintKey(_ hash: [UInt8], scope: KeyScope, name: String) throws(StoreFailure) -> Outcome {
    guard caller.isApplication else { return Self.noAccess }
    try session.statements.putKey.bind(hash).bind(scope.rawValue).bind(name).bind(now.value).run()
    return Outcome(.success(.done))
  }

  private func token(_ hash: [UInt8]) throws(StoreFailure) -> (user: Int64, isRevoked: Bool)? {
    try session.statements.token.bind(hash).first { ($0.integer(0), $0.integer(1) != 0) }
  }
}
