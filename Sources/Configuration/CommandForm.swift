/// How one subcommand is written: its words, flags and operand, and what its help says.
struct CommandForm: Sendable {
  struct Flag: Sendable {
    let name: String
    /// What stands for the value in help texts; nil for a switch.
    let placeholder: String?
    let help: String

    init(_ name: String, _ placeholder: String?, _ help: String) {
      self.name = name
      self.placeholder = placeholder
      self.help = help
    }
  }

  /// The words after the program's name, `token mint`.
  let path: String
  /// A few words for the list of commands.
  let summary: String
  let flags: [Flag]
  /// What stands for the one word that is no flag; nil when there is none.
  let operand: String?
  let text: String
  let example: String

  init(
    _ path: String, _ summary: String, operand: String? = nil, flags: [Flag] = [], text: String, example: String
  ) {
    self.path = path
    self.summary = summary
    self.flags = flags
    self.operand = operand
    self.text = text
    self.example = example
  }

  var words: [String] { path.split(separator: " ").map(String.init) }

  func flag(_ name: String) -> Flag? { flags.first { $0.name == name } }

  /// What `--help` prints.
  var help: String {
    var usage = "Usage: threadcast \(path)"
    if let operand { usage += " \(operand)" }
    if !flags.isEmpty { usage += " [FLAGS]" }
    var help = "\(usage)\n\n\(text)\n\nExample: \(example)\n\nFlags:\n\n"
    for flag in flags {
      help += HelpText.row("--\(flag.name)" + (flag.placeholder.map { " \($0)" } ?? ""), flag.help)
    }
    return help + HelpText.row("--help", "This text.")
  }

  // MARK: All of them

  private static let json = Flag("json", nil, "Print one JSON object instead.")
  private static let config = Flag("config", "FILE", "Settings file (YAML) that names the data folder.")
  /// Every command on the data folder has these.
  private static let folder = [
    Flag("data", "DIR", "The data folder; with it neither the settings file nor the environment is read."), config,
  ]
  /// What `serve` understands: every key that has a flag, and the file.
  private static let settings =
    Key.all.compactMap { key in key.flag.map { Flag($0, key.placeholder, key.help) } } + [
      Flag("config", "FILE", "Settings file (YAML); every key may stand in it.")
    ]

  static let serve = CommandForm(
    "serve", "run the gateway", flags: settings, text: "", example: "threadcast serve --dev --data ./data")
  static let checkConfig = CommandForm(
    "check-config", "say what the settings are and what is wrong with them", flags: settings + [json],
    text: """
      Reads file, environment and flags as serve does and prints every setting in force, or every problem, with exit 78.
      Opens no port and no data folder.
      """,
    example: "threadcast check-config --config /etc/threadcast/threadcast.yaml")
  static let version = CommandForm(
    "version", "print the version", flags: [json], text: "Prints the version on one line.",
    example: "threadcast version")

  static let all: [CommandForm] = [
    serve, checkConfig,
    CommandForm(
      "token mint", "make a token for a user",
      flags: [
        Flag("uid", "UID", "Whose token; the user must exist."),
        Flag("ttl", "TIME", "How long it is valid: 90s, 15m, 24h, 30d. Without end when left out."),
      ] + folder + [json],
      text: """
        Prints a new token on standard output, once: the store keeps its digest only. Works while a gateway serves the
        folder, and the token is valid at once.
        """,
      example: "threadcast token mint --uid ann --ttl 24h"),
    CommandForm(
      "token revoke", "make a token invalid", flags: folder + [json],
      text: """
        Reads the token from standard input. Only while no gateway serves the folder: a running one is asked over HTTP
        (DELETE /v1/admin/tokens), so that it closes the token's sessions as well.
        """,
      example: "threadcast token revoke --data ./data < token.txt"),
    CommandForm(
      "key mint", "make an admin key",
      flags: [
        Flag("scope", "SCOPE", "fullAccess (everything) or authOnly (may only mint and revoke tokens)."),
        Flag("name", "NAME", "What key list calls it."),
      ] + folder + [json],
      text: """
        Prints a new admin key on standard output, once: the store keeps its digest only. Works while a gateway serves
        the folder, and the key is valid at once.
        """,
      example: "threadcast key mint --scope fullAccess --name backend"),
    CommandForm(
      "key list", "list the admin keys", flags: folder + [json],
      text: "Prints id, scope, name and age of every admin key. An id is the beginning of the key's digest.",
      example: "threadcast key list"),
    CommandForm(
      "key revoke", "make an admin key invalid", operand: "ID", flags: folder + [json],
      text: "Deletes the key that key list shows under this id. Requests with it are refused at once.",
      example: "threadcast key revoke 3f9a01c25b7e"),
    CommandForm(
      "migrate", "bring the store to this program's schema", flags: folder + [json],
      text: """
        Says the version before and after. serve does the same when it starts; this does it apart, while no gateway
        serves the folder. Each step is one transaction. A newer store is refused.
        """,
      example: "threadcast migrate --data /var/lib/threadcast"),
    CommandForm(
      "backup", "copy the store to a file", operand: "FILE",
      flags: [Flag("force", nil, "Put the copy in the place of a file that is there.")] + folder + [json],
      text: """
        Copies one committed moment, also while a gateway serves the folder, checks the copy, gives it an epoch of its
        own and puts it in place whole, readable by its owner alone.
        """,
      example: "threadcast backup /var/backups/threadcast.sqlite"),
    version,
  ]

  /// The first words: `serve`, `token`, …
  static let heads: [String] = all.compactMap(\.words.first).reduce(into: []) { heads, word in
    if !heads.contains(word) { heads.append(word) }
  }

  /// The commands that begin with this word.
  static func beginning(with head: String) -> [CommandForm] { all.filter { $0.words.first == head } }
}

/// A value for a message: short, and without characters that would move a terminal's cursor.
func quoted(_ text: String) -> String {
  "'" + String(text.unicodeScalars.prefix(60).map { $0.value < 32 || $0.value == 127 ? "?" : Character($0) }) + "'"
}
