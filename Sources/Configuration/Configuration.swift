/// Command line, environment and one YAML file to typed `Settings`, every problem reported at once (S2, S6).
///
/// Threads: none. Lifecycle: none; `Launch.read` is a function of its arguments, and the one file that it may need comes
/// through a closure (`ConfigurationFile.read` in production).
/// Never imports: Foundation, the store, the network. It reads no clock and opens no socket; whether an address can be
/// bound or a certificate be read is found out by the rooms that do it.
///
/// Every key stands once, in `Key.all`: its place in the file, its variable, its flag, its range, its default and its
/// help. The file, the environment, the flags and `--help` are made from that table, and a test holds
/// deploy/threadcast.example.yaml to it. Every subcommand stands once, in `CommandForm.all`.

/// What the process was asked to do.
package enum Launch: Sendable, Equatable {
  /// `threadcast serve …` with settings that fit together.
  case serve(Settings)
  /// `threadcast check-config …` with settings that fit together.
  case checked(Settings, asJSON: Bool)
  /// A subcommand on the data folder at `data`.
  case run(Command, data: String, asJSON: Bool)
  /// `--help`, or no subcommand at all: the text to print on standard output.
  case help(String)
  case version(asJSON: Bool)
  /// Nothing runs. The composition root prints each problem on standard error and exits with `Launch.refusedStatus`.
  case refused([Problem])

  /// `EX_CONFIG` of sysexits.h (S6).
  package static let refusedStatus: Int32 = 78

  /// Reads everything there is to read; flags win over the environment, the environment over the file, the file over
  /// the defaults (S2). A command on the data folder whose `--data` names it reads neither file nor environment: a
  /// mistake there must not stand in the way of a backup.
  ///
  /// - Parameters:
  ///   - arguments: the command line without the program's name.
  ///   - environment: every variable of the process; only those that begin with `THREADCAST_` are looked at.
  ///   - readFile: the bytes of the file at a path, or why it cannot be read. Called at most once.
  package static func read(
    arguments: [String], environment: [String: String],
    readFile: (_ path: String) -> Result<[UInt8], ConfigurationFile.Failure>
  ) -> Launch {
    let form: CommandForm
    let line: CommandLineReader
    switch Arguments.parse(arguments) {
    case .help(let text): return .help(text)
    case .refused(let problems): return .refused(problems)
    case .command(let found, let words): (form, line) = (found, words)
    }
    let takesSettings = form.path == "serve" || form.path == "check-config"
    var problems = line.problems + line.repeated(in: form, judgingSettings: !takesSettings)
    let asJSON = line.has("json")
    func settings() -> Settings {
      Self.settings(line, environment: environment, readFile: readFile, problems: &problems)
    }
    let launch: Launch?
    switch form.path {
    case "version": launch = .version(asJSON: asJSON)
    case "serve": launch = .serve(settings())
    case "check-config": launch = .checked(settings(), asJSON: asJSON)
    default:
      let command = Command.read(form, line, problems: &problems)
      let data = line.text("data") ?? settings().data
      launch = command.map { .run($0, data: data, asJSON: asJSON) }
    }
    guard problems.isEmpty, let launch else { return .refused(problems) }
    return launch
  }

  private static func settings(
    _ line: CommandLineReader, environment: [String: String],
    readFile: (_ path: String) -> Result<[UInt8], ConfigurationFile.Failure>, problems: inout [Problem]
  ) -> Settings {
    var collected = Collected()
    if let path = line.text("config") ?? environment["THREADCAST_CONFIG"].flatMap({ $0.isEmpty ? nil : $0 }) {
      switch readFile(path) {
      case .failure(let failure):
        problems.append(Problem(.flag("--config"), "\(path): \(failure.reason)", "check the path and its rights"))
      case .success(let bytes):
        collected.read(YAMLDocument.parse(bytes), problems: &problems)
      }
    }
    collected.read(environment: environment, problems: &problems)
    collected.read(flags: line.settingFlags)
    return collected.settings(problems: &problems)
  }
}
