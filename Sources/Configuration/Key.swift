/// One setting: where it can be given, what it may be, what it is for.
struct Key: Sendable {
  /// The dotted path in the file, `limits.frameBytes`.
  let path: String
  /// The flag without its dashes, when it has one.
  let flag: String?
  /// What stands for the value in help texts; nil for a switch.
  let placeholder: String?
  let help: String
  let kind: Kind

  typealias Path<Value> = any WritableKeyPath<Settings, Value> & Sendable

  /// The type of the value, what it may be, and where it goes.
  enum Kind: Sendable {
    case toggle(Path<Bool>)
    case integer(Path<Int>, ClosedRange<Int>)
    case text(Path<String>)
    case texts(Path<[String]>)
    case addresses(Path<[ListenAddress]>)
    case level(Path<Settings.Log.Level>)
    case format(Path<Settings.Log.Format>)
  }

  init(_ path: String, flag: String? = nil, _ placeholder: String? = nil, _ kind: Kind, _ help: String) {
    self.path = path
    self.flag = flag
    self.placeholder = placeholder
    self.kind = kind
    self.help = help
  }

  /// `limits.frameBytes` is `THREADCAST_LIMITS_FRAME_BYTES`.
  var variable: String {
    var name = "THREADCAST_"
    for character in path {
      if character == "." {
        name.append("_")
      } else if character.isUppercase {
        name.append("_")
        name.append(character)
      } else {
        name.append(character.uppercased())
      }
    }
    return name
  }

  var isList: Bool {
    switch kind {
    case .texts, .addresses: true
    default: false
    }
  }

  var isToggle: Bool {
    if case .toggle = kind { true } else { false }
  }

  /// The default as it would be written in the file.
  var defaultText: String { text(in: Settings()) }

  /// The value in `settings` as it would be written in the file.
  func text(in settings: Settings) -> String {
    switch kind {
    case .toggle(let path): settings[keyPath: path] ? "true" : "false"
    case .integer(let path, _): String(settings[keyPath: path])
    case .text(let path): settings[keyPath: path].isEmpty ? "\"\"" : settings[keyPath: path]
    case .texts(let path): "[" + settings[keyPath: path].joined(separator: ", ") + "]"
    case .addresses(let path): "[" + settings[keyPath: path].map { "\"\($0)\"" }.joined(separator: ", ") + "]"
    case .level(let path): settings[keyPath: path].rawValue
    case .format(let path): settings[keyPath: path].rawValue
    }
  }

  /// Reads `texts` into `settings`, or says what is wrong and leaves them as they were. A key that is no list gets
  /// exactly one text.
  func apply(_ texts: [String], to settings: inout Settings, from source: Problem.Source) -> [Problem] {
    if isList { return applyList(texts, to: &settings, from: source) }
    guard texts.count == 1, let text = texts.first else {
      return [Problem(source, "takes one value, not \(texts.count)", "keep one")]
    }
    switch kind {
    case .toggle(let path):
      guard text == "true" || text == "false" else {
        return [Problem(source, "\(quoted(text)) is neither true nor false", "write true or false")]
      }
      settings[keyPath: path] = text == "true"
    case .integer(let path, let range):
      let use = "use \(range.lowerBound) to \(range.upperBound)"
      guard let value = Int(text) else { return [Problem(source, "\(quoted(text)) is no whole number", use)] }
      guard range.contains(value) else {
        let side = value < range.lowerBound ? "below \(range.lowerBound)" : "above \(range.upperBound)"
        return [Problem(source, "\(value) is \(side)", use)]
      }
      settings[keyPath: path] = value
    case .text(let path):
      guard !text.isEmpty, !text.utf8.contains(0) else { return [Problem(source, "is empty", "leave the key out")] }
      settings[keyPath: path] = text
    case .level(let path): return choose(text, path, &settings, source)
    case .format(let path): return choose(text, path, &settings, source)
    case .texts, .addresses: preconditionFailure("Lists are read by applyList.")
    }
    return []
  }

  private func applyList(_ texts: [String], to settings: inout Settings, from source: Problem.Source) -> [Problem] {
    switch kind {
    case .texts(let path):
      guard !texts.contains("") else { return [Problem(source, "has an empty entry", "take it out")] }
      settings[keyPath: path] = texts
      return []
    case .addresses(let path):
      guard !texts.isEmpty else { return [Problem(source, "is empty", "write 127.0.0.1:8080")] }
      var addresses: [ListenAddress] = []
      var problems: [Problem] = []
      for text in texts {
        switch ListenAddress.parse(text) {
        case .failure(let wrong): problems.append(Problem(source, "\(quoted(text)) \(wrong.what)", wrong.suggestion))
        case .success(let address):
          // Port 0 asks for any free port, twice is two ports.
          if addresses.contains(address), !address.description.hasSuffix(":0") {
            problems.append(Problem(source, "\(address) stands twice", "keep one"))
          }
          addresses.append(address)
        }
      }
      if problems.isEmpty { settings[keyPath: path] = addresses }
      return problems
    case .toggle, .integer, .text, .level, .format: preconditionFailure("A single value is read by apply.")
    }
  }

  private func choose<Choice: RawRepresentable & CaseIterable>(
    _ text: String, _ path: Path<Choice>, _ settings: inout Settings, _ source: Problem.Source
  ) -> [Problem] where Choice.RawValue == String {
    guard let choice = Choice(rawValue: text) else {
      let words = Choice.allCases.map(\.rawValue)
      let hint =
        Nearest.to(text, among: words).map { "did you mean \($0)?" } ?? "use one of \(words.joined(separator: ", "))"
      return [Problem(source, "\(quoted(text)) is not known", hint)]
    }
    settings[keyPath: path] = choice
    return []
  }
}
