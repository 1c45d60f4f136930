/// The words after a subcommand, sorted to the flags of its form. Values are not judged here.
struct CommandLineReader {
  private(set) var values: [(name: String, texts: [String])] = []
  private(set) var operand: String?
  private(set) var problems: [Problem] = []
  private(set) var wantsHelp = false

  init(_ words: [String], form: CommandForm) {
    var index = 0
    while index < words.count {
      let word = words[index]
      index += 1
      if word == "--help" || word == "-h" {
        wantsHelp = true
        return
      }
      guard word.hasPrefix("--"), word.count > 2 else {
        take(operand: word, form)
        continue
      }
      // Both `--data DIR` and `--data=DIR`.
      let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = parts.first.map(String.init) ?? ""
      var inline = parts.count > 1 ? String(parts[1]) : nil
      guard let flag = form.flag(name) else {
        refuse(flag: name, form)
        // What follows is most likely its value; a second complaint about that would help nobody.
        if inline == nil, form.operand == nil, index < words.count, !words[index].hasPrefix("-") { index += 1 }
        continue
      }
      guard let placeholder = flag.placeholder else {
        add(inline ?? "true", to: name)
        continue
      }
      if inline == nil, index < words.count, !words[index].hasPrefix("--") {
        inline = words[index]
        index += 1
      }
      guard let value = inline, !value.isEmpty else {
        problems.append(Problem(.flag("--\(name)"), "needs a value", "write --\(name) \(placeholder)"))
        continue
      }
      add(value, to: name)
    }
    if let placeholder = form.operand, operand == nil {
      problems.append(
        Problem(.argument(form.path), "needs a \(placeholder)", "write threadcast \(form.path) \(placeholder)"))
    }
  }

  private mutating func take(operand word: String, _ form: CommandForm) {
    if form.operand != nil, operand == nil, !word.isEmpty {
      operand = word
    } else if form.operand != nil {
      problems.append(Problem(.argument(word), "is not expected after \(operand ?? form.path)", "take it out"))
    } else if form.path == "version" {
      problems.append(Problem(.argument(word), "is not expected after version", "take it out"))
    } else {
      problems.append(Problem(.argument(word), "is not expected here", "flags begin with two dashes"))
    }
  }

  private mutating func refuse(flag name: String, _ form: CommandForm) {
    let hint = Nearest.to(name, among: form.flags.map(\.name) + ["help"]).map { "did you mean --\($0)?" }
    problems.append(
      Problem(
        .flag("--\(name)"), "is not a known flag", hint ?? "see threadcast \(form.path) --help for the flags"))
  }

  private mutating func add(_ text: String, to name: String) {
    if let at = values.firstIndex(where: { $0.name == name }) {
      values[at].texts.append(text)
    } else {
      values.append((name, [text]))
    }
  }

  // MARK: What was given

  /// Whether a switch was given.
  func has(_ name: String) -> Bool { texts(name) != nil }

  func texts(_ name: String) -> [String]? { values.first { $0.name == name }?.texts }

  /// The last text of a flag.
  func text(_ name: String) -> String? { texts(name)?.last }

  /// The text of a flag without which the command means nothing.
  func required(_ name: String, problems: inout [Problem]) -> String? {
    if let text = text(name) { return text }
    // Given, but without a value: that has been said.
    if problems.contains(where: { $0.source == .flag("--\(name)") }) { return nil }
    problems.append(Problem(.flag("--\(name)"), "is missing", "see the example in --help"))
    return nil
  }

  /// Flags that take one value and got several, or a switch with a value. Where flags are settings, `Collected` judges
  /// those.
  func repeated(in form: CommandForm, judgingSettings: Bool) -> [Problem] {
    values.compactMap { value in
      guard judgingSettings || Key.with(flag: value.name) == nil else { return nil }
      let isSwitch = form.flag(value.name)?.placeholder == nil
      if isSwitch, value.texts.contains(where: { $0 != "true" }) {
        return Problem(.flag("--\(value.name)"), "takes no value", "write --\(value.name) alone")
      }
      guard !isSwitch, value.texts.count > 1 else { return nil }
      return Problem(.flag("--\(value.name)"), "takes one value, not \(value.texts.count)", "keep one")
    }
  }

  /// The flags that are settings, as `Collected` takes them.
  var settingFlags: [Arguments.Flag] {
    values.compactMap { value in Key.with(flag: value.name).map { Arguments.Flag(key: $0, texts: value.texts) } }
  }
}
