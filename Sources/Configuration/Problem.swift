/// One thing that is wrong with what the process was told, with where it stands and what to do about it (S6).
package struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Source: Sendable, Hashable {
    /// A dotted path of the file and the line (from 1) on which its value stands.
    case file(key: String, line: Int)
    /// The file as a whole, at a line: it is no YAML, or not of the right shape.
    case syntax(line: Int)
    /// A variable's name.
    case environment(String)
    /// A flag as it is written, `--listen`.
    case flag(String)
    /// A word of the command line that is no flag.
    case argument(String)
    /// Settings that are each fine and do not fit together: the key to look at first.
    case combination(key: String)
  }

  package let source: Source
  /// What is wrong, in words that follow the key: `-5 is below 1`.
  package let what: String
  /// What to do: `use 1 to 300`.
  package let suggestion: String?

  package init(_ source: Source, _ what: String, _ suggestion: String? = nil) {
    self.source = source
    self.what = what
    self.suggestion = suggestion
  }

  /// One line for a terminal: `limits.tags (line 4): 9000 is above 1000; use 0 to 1000`.
  package var description: String {
    let place =
      switch source {
      case .file(let key, let line): "\(key) (line \(line))"
      case .syntax(let line): "configuration file (line \(line))"
      case .environment(let name), .flag(let name), .argument(let name): name
      case .combination(let key): key
      }
    guard let suggestion else { return "\(place): \(what)" }
    return "\(place): \(what); \(suggestion)"
  }
}
