/// The command line, taken apart. Values are not judged here, only which subcommand and flag they belong to.
enum Arguments {
  struct Flag {
    let key: Key
    var texts: [String]
  }

  enum Parsed {
    case command(CommandForm, CommandLineReader)
    case help(String)
    case refused([Problem])
  }

  /// `arguments` is the command line without the program's name.
  static func parse(_ arguments: [String]) -> Parsed {
    guard let first = arguments.first else { return .help(HelpText.program) }
    switch first {
    case "--version": return parse(["version"] + arguments.dropFirst())
    case "help", "--help", "-h":
      let asked = Array(arguments.dropFirst())
      return asked.isEmpty ? .help(HelpText.program) : parse(asked.filter { !$0.hasPrefix("-") } + ["--help"])
    default: break
    }
    let forms = CommandForm.beginning(with: first)
    guard let form = forms.first else {
      let hint = Nearest.to(first, among: CommandForm.heads + ["help"]).map { "did you mean threadcast \($0)?" }
      return .refused([
        Problem(.argument(first), "is not a known command", hint ?? "see threadcast --help for the commands")
      ])
    }
    if form.words.count == 1 { return read(form, Array(arguments.dropFirst())) }
    return parse(second: arguments.dropFirst().first, of: first, forms, rest: Array(arguments.dropFirst(2)))
  }

  /// `token` and `key` need another word.
  private static func parse(second: String?, of first: String, _ forms: [CommandForm], rest: [String]) -> Parsed {
    let seconds = forms.compactMap(\.words.last)
    let choices = seconds.map { "threadcast \(first) \($0)" }.joined(separator: ", ")
    guard let second else {
      return .refused([Problem(.argument(first), "needs another word", "write \(choices)")])
    }
    if second == "--help" || second == "-h" { return .help(HelpText.commands(forms)) }
    if let form = forms.first(where: { $0.words.last == second }) { return read(form, rest) }
    let hint = Nearest.to(second, among: seconds).map { "did you mean threadcast \(first) \($0)?" }
    return .refused([Problem(.argument("\(first) \(second)"), "is not a known command", hint ?? "write \(choices)")])
  }

  private static func read(_ form: CommandForm, _ words: [String]) -> Parsed {
    let line = CommandLineReader(words, form: form)
    guard line.wantsHelp else { return .command(form, line) }
    return .help(form.path == "serve" ? HelpText.serve : form.help)
  }
}
