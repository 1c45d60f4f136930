/// The command line, taken apart. Values are not judged here, only which flag they belong to.
enum Arguments {
  struct Flag {
    let key: Key
    var texts: [String]
  }

  enum Parsed {
    case serve(flags: [Flag], configFile: String?, problems: [Problem])
    case help(String)
    case version
    case refused([Problem])
  }

  static let subcommands = ["serve", "version", "help"]

  /// `arguments` is the command line without the program's name.
  static func parse(_ arguments: [String]) -> Parsed {
    guard let first = arguments.first else { return .help(HelpText.program) }
    switch first {
    case "serve": return parseServe(Array(arguments.dropFirst()))
    case "version", "--version":
      if arguments.contains("--help") { return .help(HelpText.version) }
      return extra(after: arguments) ?? .version
    case "help", "--help", "-h":
      return arguments.count > 1 && arguments[1] == "serve" ? .help(HelpText.serve) : .help(HelpText.program)
    default:
      let hint = Nearest.to(first, among: subcommands).map { "did you mean threadcast \($0)?" }
      return .refused([
        Problem(.argument(first), "is not a known command", hint ?? "see threadcast --help for the commands")
      ])
    }
  }

  private static func extra(after arguments: [String]) -> Parsed? {
    guard arguments.count > 1 else { return nil }
    return .refused([Problem(.argument(arguments[1]), "is not expected after \(arguments[0])", "take it out")])
  }

  private static func parseServe(_ words: [String]) -> Parsed {
    var flags: [Flag] = []
    var configFile: String?
    var problems: [Problem] = []
    var index = 0
    while index < words.count {
      let word = words[index]
      index += 1
      if word == "--help" || word == "-h" { return .help(HelpText.serve) }
      guard word.hasPrefix("--"), word.count > 2 else {
        problems.append(Problem(.argument(word), "is not expected here", "flags begin with two dashes"))
        continue
      }
      // Both `--data DIR` and `--data=DIR`.
      let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = parts.first.map(String.init) ?? ""
      var inline = parts.count > 1 ? String(parts[1]) : nil
      let key = Key.with(flag: name)
      guard key != nil || name == "config" else {
        let known = Key.all.compactMap(\.flag) + ["config", "help"]
        let hint = Nearest.to(name, among: known).map { "did you mean --\($0)?" }
        problems.append(
          Problem(.flag("--\(name)"), "is not a known flag", hint ?? "see threadcast serve --help for the flags"))
        // What follows is most likely its value; a second complaint about that would help nobody.
        if inline == nil, index < words.count, !words[index].hasPrefix("-") { index += 1 }
        continue
      }
      if let key, key.isToggle {
        flags.append(Flag(key: key, texts: [inline ?? "true"]))
        continue
      }
      if inline == nil, index < words.count, !words[index].hasPrefix("--") {
        inline = words[index]
        index += 1
      }
      guard let value = inline, !value.isEmpty else {
        problems.append(
          Problem(.flag("--\(name)"), "needs a value", "write --\(name) \(key?.placeholder ?? "FILE")"))
        continue
      }
      guard let key else {
        configFile = value
        continue
      }
      if let at = flags.firstIndex(where: { $0.key.path == key.path }) {
        flags[at].texts.append(value)
      } else {
        flags.append(Flag(key: key, texts: [value]))
      }
    }
    return .serve(flags: flags, configFile: configFile, problems: problems)
  }
}
