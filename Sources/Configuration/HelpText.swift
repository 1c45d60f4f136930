/// The texts of `--help`, made from `Key.all` and `CommandForm.all`.
package enum HelpText {
  package static var program: String {
    """
    threadcast: a real-time gateway for threaded conversations

    Usage: threadcast COMMAND [FLAGS]


    """ + rows(CommandForm.all) + """

      Each command has --help. To try the gateway: threadcast serve --dev

      """
  }

  /// The list of some commands.
  static func commands(_ forms: [CommandForm]) -> String {
    "Usage: threadcast COMMAND [FLAGS]\n\n" + rows(forms) + "\nEach command has --help.\n"
  }

  private static func rows(_ forms: [CommandForm]) -> String {
    forms.map { "  " + $0.path + String(repeating: " ", count: max(2, 15 - $0.path.count)) + $0.summary + "\n" }
      .joined()
  }

  package static var serve: String {
    var text = """
      Usage: threadcast serve [FLAGS]

      Runs the gateway until SIGTERM or SIGINT. When it is ready it prints one line:
      threadcast ready listen=127.0.0.1:8080 tls=off store=sqlite epoch=...

      Example: threadcast serve --dev --data ./data

      Flags (they win over the environment, which wins over the file):

      """
    text += row("--config FILE", "Settings file (YAML); every key of the list below may stand in it.")
    for key in Key.all {
      guard let flag = key.flag else { continue }
      text += row("--\(flag)" + (key.placeholder.map { " \($0)" } ?? ""), key.help)
    }
    text += row("--help", "This text.")
    text += "\nKeys of the file, the variable of each, and the default:\n\n"
    for key in Key.all {
      text += "  \(key.path)  \(key.variable)  \(key.defaultText)\n"
      if key.flag == nil { text += "      \(key.help)\n" }
    }
    return text
  }

  static func row(_ flag: String, _ help: String) -> String {
    "  " + flag + String(repeating: " ", count: max(2, 24 - flag.count)) + help + "\n"
  }
}
