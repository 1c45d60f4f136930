/// The values that were given, from the weakest source to the strongest; the last one of a key counts.
struct Collected {
  private var values: [String: (texts: [String], source: Problem.Source)] = [:]

  /// The file's entries. An unknown key is a problem with the nearest known one.
  mutating func read(_ document: YAMLDocument, problems: inout [Problem]) {
    problems += document.problems
    for entry in document.entries {
      let source = Problem.Source.file(key: entry.path, line: entry.line)
      guard let key = Key.at(path: entry.path) else {
        problems.append(unknown(entry.path, source))
        continue
      }
      switch entry.value {
      case .nothing: problems.append(Problem(source, "has no value", "write one or take the line out"))
      case .scalar(let text): values[key.path] = ([text], source)
      case .list(let texts):
        if key.isList {
          values[key.path] = (texts, source)
        } else {
          problems.append(Problem(source, "takes one value, not a list", "write it without the dash or brackets"))
        }
      }
    }
  }

  private func unknown(_ path: String, _ source: Problem.Source) -> Problem {
    let inside = Key.within(section: path)
    if !inside.isEmpty {
      let names = inside.map { $0.path.dropFirst(path.count + 1) }.joined(separator: ", ")
      return Problem(source, "is a section, not a value", "its keys are \(names)")
    }
    if let dot = path.firstIndex(of: "."), Key.at(path: String(path[..<dot])) != nil {
      return Problem(source, "\(path[..<dot]) takes a value, not a section", "write \(path[..<dot]): VALUE")
    }
    let hint = Nearest.to(path, among: Key.all.map(\.path)).map { "did you mean \($0)?" }
    return Problem(source, "is not a known key", hint ?? "see threadcast serve --help for the keys")
  }

  /// Variables named `THREADCAST_…`; an empty one is as good as absent. An unknown one is a problem only when it looks
  /// like a slip of a known one: others set such names too (Kubernetes puts a `_PORT` and a `_SERVICE_HOST` there for
  /// a service of this name).
  mutating func read(environment: [String: String], problems: inout [Problem]) {
    let known = Key.all.map(\.variable)
    for name in environment.keys.sorted() where name.hasPrefix("THREADCAST_") && name != "THREADCAST_CONFIG" {
      guard let text = environment[name], !text.isEmpty else { continue }
      let source = Problem.Source.environment(name)
      if let key = Key.with(variable: name) {
        values[key.path] = (key.isList ? commaSeparated(text) : [text], source)
      } else if let near = Nearest.to(name, among: known), Nearest.edits(from: name, to: near) <= 2 {
        problems.append(Problem(source, "is not a known variable", "did you mean \(near)?"))
      }
    }
  }

  private func commaSeparated(_ text: String) -> [String] {
    text.split(separator: ",", omittingEmptySubsequences: false).map { part in
      String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
  }

  mutating func read(flags: [Arguments.Flag]) {
    for flag in flags { values[flag.key.path] = (flag.texts, .flag("--\(flag.key.flag ?? flag.key.path)")) }
  }

  /// The settings, with the problems of each value and of their combination added to `problems`.
  func settings(problems: inout [Problem]) -> Settings {
    var settings = Settings()
    var wrong: Set<String> = []
    for key in Key.all {
      guard let (texts, source) = values[key.path] else { continue }
      let found = key.apply(texts, to: &settings, from: source)
      if !found.isEmpty { wrong.insert(key.path) }
      problems += found
    }
    // A combination is judged only when its parts are what somebody meant.
    func judge(_ keys: [String], _ holds: Bool, _ key: String, _ what: String, _ suggestion: String) {
      guard !holds, wrong.isDisjoint(with: keys) else { return }
      problems.append(Problem(values[key]?.source ?? .combination(key: key), what, suggestion))
    }
    judge(
      ["tls.certificate", "tls.key"], settings.tls.key.isEmpty || settings.tls.isOn, "tls.key",
      "is given without a certificate", "add tls.certificate (--tls-cert FILE)")
    judge(
      ["tls.certificate", "tls.key"], !settings.tls.key.isEmpty || !settings.tls.isOn, "tls.certificate",
      "is given without its key", "add tls.key (--tls-key FILE)")
    if settings.dev {
      for address in settings.listen where !address.isLoopback {
        judge(
          ["listen", "dev"], false, "listen", "\(address) can be reached from outside, and dev has well-known tokens",
          "listen on 127.0.0.1 or leave dev out")
      }
    }
    judge(
      ["limits.textBytes", "limits.frameBytes"], settings.limits.textBytes < settings.limits.frameBytes,
      "limits.textBytes", "\(settings.limits.textBytes) does not fit in a frame of \(settings.limits.frameBytes)",
      "raise limits.frameBytes or lower limits.textBytes")
    return settings
  }
}
