import Chat
import Configuration
import Gateway
import Glibc
import JSON
import Store
import Workers

/// The subcommands that do one thing to the data folder and end (S5). Answers go to standard output, so that a script
/// can take them; what a person may want to know beside them goes to standard error.
struct Administration {
  let data: String
  let asJSON: Bool

  func run(_ command: Command) throws(StartFailure) {
    umask(0o077)
    switch command {
    case .mintToken(let uid, let ttlSeconds): try mintToken(uid, ttlSeconds)
    case .revokeToken: try revokeToken()
    case .mintKey(let scope, let name): try mintKey(scope, name)
    case .listKeys: try listKeys()
    case .revokeKey(let id): try revokeKey(id)
    case .migrate: try migrate()
    case .backup(let file, let overwrites): try backup(file, overwrites)
    }
  }

  private var now: UnixSeconds { UnixSeconds(Clock.unixSeconds()) }

  // MARK: Tokens

  private func mintToken(_ text: String, _ ttlSeconds: Int64?) throws(StartFailure) {
    guard let uid = UserID(text) else {
      throw StartFailure("--uid: '\(printable(text))' is no uid; use 1 to 100 of a-z 0-9 - _", status: 78)
    }
    let token = Secret.mintToken()
    let expiresAt = ttlSeconds.map { UnixSeconds(Clock.unixSeconds() + $0) } ?? .never
    let refusal = try store { () throws(StoreFailure) in
      try StoreCredentials(folder: data)
        .mintToken(for: uid, hash: Secret.digest(token), expiresAt: expiresAt, at: now)
    }
    switch refusal {
    case nil: break
    case let refused? where refused.code == .uidNotFound:
      throw StartFailure("There is no user \(uid); make one first (POST /v1/admin/users with an admin key).")
    case let refused?: throw StartFailure(refused.message ?? "The store refused: \(refused.code.rawValue).")
    }
    answer(
      json: { writer in
        writer.key("token")
        writer.string(token)
        writer.key("uid")
        writer.string(uid.text)
        // As tokens.mint answers over HTTP: 0 is no end.
        writer.key("expiresAt")
        writer.integer(expiresAt.value)
      }, text: token)
    let end = expiresAt == .never ? "without end" : "valid until \(utc(expiresAt))"
    remark("The token of \(uid), \(end). It is shown this once.")
  }

  private func revokeToken() throws(StartFailure) {
    guard let token = readSecret() else {
      throw StartFailure("No token came on standard input; write threadcast token revoke < FILE", status: 78)
    }
    let isRevoked: Bool
    do throws(StoreFailure) {
      isRevoked = try SQLiteStore.revokeToken(hash: Secret.digest(token), folder: data, at: now)
    } catch {
      guard error.isInUse else { throw StartFailure(error.message) }
      throw StartFailure(
        "A gateway serves \(data): ask it instead, so that it closes the token's sessions as well: "
          + "curl -X DELETE -H 'apikey: KEY' -d '{\"token\":\"TOKEN\"}' http://ADDRESS/v1/admin/tokens "
          + "(threadcast key mint makes a KEY)")
    }
    answer(
      json: { writer in
        writer.key("revoked")
        writer.boolean(isRevoked)
      }, text: isRevoked ? "revoked" : "there is no such token, or it was revoked before")
  }

  /// The first line of standard input, at most 4 KiB.
  private func readSecret() -> String? {
    if isatty(STDIN_FILENO) == 1 { remark("Paste the token and press Return:") }
    guard let line = readLine(strippingNewline: true), !line.isEmpty, line.utf8.count <= 4_096 else { return nil }
    return line
  }

  // MARK: Keys

  private func mintKey(_ scopeName: String, _ name: String) throws(StartFailure) {
    guard let scope = KeyScope(rawValue: scopeName) else {
      throw StartFailure("--scope: '\(printable(scopeName))' is not known; use fullAccess or authOnly", status: 78)
    }
    let key = Secret.mintKey()
    let hash = Secret.digest(key)
    let refusal = try store { () throws(StoreFailure) in
      try StoreCredentials(folder: data).mintKey(hash: hash, scope: scope, name: name, at: now)
    }
    if let refusal { throw StartFailure(refusal.message ?? "The store refused: \(refusal.code.rawValue).") }
    let id = StoreCredentials.keyID(ofHash: hash)
    answer(
      json: { writer in
        writer.key("key")
        writer.string(key)
        writer.key("id")
        writer.string(id)
        writer.key("scope")
        writer.string(scope.rawValue)
        writer.key("name")
        writer.string(name)
      }, text: key)
    remark("An admin key of scope \(scope.rawValue), id \(id). It is shown this once.")
  }

  private func listKeys() throws(StartFailure) {
    let keys = try store { () throws(StoreFailure) in try StoreCredentials(folder: data).keys() }
    answer(
      json: { writer in
        writer.key("keys")
        writer.beginArray()
        for key in keys { encode(key, into: &writer) }
        writer.endArray()
      },
      text: keys.isEmpty
        ? "no keys"
        : keys.map { "\($0.id)  \(padded($0.scope, to: 10))  \(utc($0.createdAt))  \(printable($0.name))" }
          .joined(separator: "\n"))
  }

  private func revokeKey(_ id: String) throws(StartFailure) {
    let revocation = try store { () throws(StoreFailure) in try StoreCredentials(folder: data).revokeKey(id: id) }
    switch revocation {
    case .done(let key):
      answer(
        json: { writer in
          writer.key("revoked")
          encode(key, into: &writer)
        }, text: "revoked \(key.id) \(printable(key.name))")
    case .unknown: throw StartFailure("There is no key \(printable(id)); threadcast key list shows the ids.")
    case .ambiguous: throw StartFailure("More than one key begins with \(printable(id)); write more of the id.")
    }
  }

  private func encode(_ key: StoreCredentials.Key, into writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("id")
    writer.string(key.id)
    writer.key("scope")
    writer.string(key.scope)
    writer.key("name")
    writer.string(key.name)
    writer.key("createdAt")
    writer.integer(key.createdAt.value)
    writer.endObject()
  }

  // MARK: The store

  private func migrate() throws(StartFailure) {
    let versions = try store { () throws(StoreFailure) in try SQLiteStore.migrate(folder: data) }
    answer(
      json: { writer in
        writer.key("from")
        writer.integer(versions.from)
        writer.key("to")
        writer.integer(versions.to)
      },
      text: versions.from == versions.to
        ? "schema version \(versions.to), nothing to do"
        : "migrated from schema version \(versions.from) to \(versions.to)")
  }

  private func backup(_ file: String, _ overwrites: Bool) throws(StartFailure) {
    let summary = try store { () throws(StoreFailure) in
      try Backup(folder: data).write(to: file, overwrites: overwrites)
    }
    answer(
      json: { writer in
        writer.key("file")
        writer.string(summary.file)
        writer.key("bytes")
        writer.integer(summary.bytes)
        writer.key("epoch")
        writer.string(summary.epoch)
        writer.key("head")
        writer.integer(summary.head)
        writer.key("schemaVersion")
        writer.integer(summary.schemaVersion)
      },
      text:
        "\(summary.file): \(summary.bytes) bytes, head \(summary.head), epoch \(summary.epoch), schema version \(summary.schemaVersion)"
    )
  }

  private func store<Value>(_ body: () throws(StoreFailure) -> Value) throws(StartFailure) -> Value {
    do throws(StoreFailure) {
      return try body()
    } catch {
      throw StartFailure(error.message)
    }
  }

  // MARK: Answers

  private func answer(json members: (inout JSONWriter) -> Void, text: String) {
    guard asJSON else { return Threadcast.write(text + "\n", to: STDOUT_FILENO) }
    Threadcast.write(Threadcast.object(members), to: STDOUT_FILENO)
  }

  /// For a person; a script that asked for JSON gets nothing else.
  private func remark(_ sentence: String) {
    if !asJSON { Threadcast.write(sentence + "\n", to: STDERR_FILENO) }
  }

  private func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  /// Without characters that would move a terminal's cursor.
  private func printable(_ text: String) -> String {
    String(text.unicodeScalars.map { $0.value < 32 || $0.value == 127 ? "?" : Character($0) })
  }

  /// `2026-01-31T09:30:00Z`.
  private func utc(_ time: UnixSeconds) -> String {
    var seconds = time_t(time.value)
    var parts = tm()
    guard gmtime_r(&seconds, &parts) != nil else { return "\(time.value)" }
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))T"
      + "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
  }
}
