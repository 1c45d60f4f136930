/// A subcommand that does one thing to the data folder and ends (S5). Identifiers are judged by the domain, not here.
package enum Command: Sendable, Equatable {
  /// `ttlSeconds` nil: a token without end.
  case mintToken(uid: String, ttlSeconds: Int64?)
  /// The token comes on standard input: a command line can be read by every user of the machine.
  case revokeToken
  /// `scope` is `fullAccess` or `authOnly` (A2).
  case mintKey(scope: String, name: String)
  case listKeys
  /// `id` as `key list` shows it.
  case revokeKey(id: String)
  case migrate
  case backup(file: String, overwrites: Bool)
}

extension Command {
  /// The longest `--ttl`, a hundred years: what `tokens.mint` takes over HTTP.
  static let longestTTLSeconds: Int64 = 3_155_760_000
  static let scopes = ["fullAccess", "authOnly"]
  static let longestNameBytes = 100

  /// Reads a command's own flags. Nil when something is wrong, which then stands in `problems`.
  static func read(_ form: CommandForm, _ line: CommandLineReader, problems: inout [Problem]) -> Command? {
    switch form.path {
    case "token mint":
      guard let uid = line.required("uid", problems: &problems) else { return nil }
      guard let text = line.text("ttl") else { return .mintToken(uid: uid, ttlSeconds: nil) }
      guard let seconds = seconds(text), (1...longestTTLSeconds).contains(seconds) else {
        problems.append(
          Problem(.flag("--ttl"), "\(quoted(text)) is no time to live", "write 90s, 15m, 24h or 30d, up to 36525d"))
        return nil
      }
      return .mintToken(uid: uid, ttlSeconds: seconds)
    case "token revoke": return .revokeToken
    case "key mint":
      guard let scope = line.required("scope", problems: &problems) else { return nil }
      guard scopes.contains(scope) else {
        let hint = Nearest.to(scope, among: scopes).map { "did you mean \($0)?" } ?? "use fullAccess or authOnly"
        problems.append(Problem(.flag("--scope"), "\(quoted(scope)) is not known", hint))
        return nil
      }
      let name = line.text("name") ?? ""
      guard name.utf8.count <= longestNameBytes, !name.unicodeScalars.contains(where: { $0.value < 32 }) else {
        problems.append(
          Problem(.flag("--name"), "is no name", "use at most \(longestNameBytes) bytes without control characters"))
        return nil
      }
      return .mintKey(scope: scope, name: name)
    case "key list": return .listKeys
    case "key revoke": return line.operand.map { .revokeKey(id: $0) }
    case "migrate": return .migrate
    case "backup": return line.operand.map { .backup(file: $0, overwrites: line.has("force")) }
    default: preconditionFailure("\(form.path) has no command behind it")
    }
  }

  /// `24h` in seconds; nil for anything else.
  private static func seconds(_ text: String) -> Int64? {
    let factors: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
    guard let unit = text.last, let factor = factors[unit] else { return nil }
    let digits = text.dropLast()
    guard digits.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }), let number = Int64(digits) else { return nil }
    let (product, isTooLarge) = number.multipliedReportingOverflow(by: factor)
    return isTooLarge ? nil : product
  }
}
