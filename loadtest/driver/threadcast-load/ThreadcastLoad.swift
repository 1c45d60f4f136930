import Glibc
import LoadModel

/// The load driver: one thread that plays many clients, and judges what they got.
///
/// Exit codes: 0 when everything came as it should, 1 when it did not or could not run, 78 for a wrong question.
@main
enum ThreadcastLoad {
  static func main() {
    switch LoadCommand.parse(Array(CommandLine.arguments.dropFirst())) {
    case .help: Files.write(LoadCommand.helpText, to: STDOUT_FILENO)
    case .refused(let sentences): refuse(sentences)
    case .run(let options):
      do throws(LoadFailure) {
        exit(try run(options) ? 0 : 1)
      } catch {
        complain([error.sentence])
        exit(1)
      }
    }
  }

  /// - Returns: whether the run was good.
  private static func run(_ options: RunOptions) throws(LoadFailure) -> Bool {
    let file = try Files.read(options.scenarioPath)
    let limitsFile = try options.limitsPath.map { path throws(LoadFailure) in try Files.read(path) }
    let scenario: Scenario
    var limits: LimitsFile?
    do throws(ScenarioProblems) {
      scenario = try ScenarioReader.read(
        file, fallbackName: name(of: options.scenarioPath), overrides: options.numbers, deflate: options.deflate)
      if let limitsFile { limits = try LimitsFile.read(limitsFile) }
    } catch {
      refuse(error.sentences)
    }
    // A peer that went away is an error of its own write, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    try raiseDescriptorLimit(scenario)
    var report = try LoadRun(scenario, options).run()
    if let limits { report.judge(by: limits) }
    if options.jsonPath == "-" {
      Files.write(report.table, to: STDERR_FILENO)
      Files.write(String(decoding: report.json, as: UTF8.self) + "\n", to: STDOUT_FILENO)
    } else {
      Files.write(report.table, to: STDOUT_FILENO)
      if let path = options.jsonPath { try Files.write(report.json, path: path) }
    }
    return report.isGood
  }

  private static func name(of path: String) -> String {
    let last = path.split(separator: "/").last.map(String.init) ?? path
    return last.hasSuffix(".json") ? String(last.dropLast(5)) : last
  }

  /// Every session is a descriptor; some more are for the set-up and for standard streams.
  private static func raiseDescriptorLimit(_ scenario: Scenario) throws(LoadFailure) {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let needed = scenario.sessions + (scenario.kind == .echo ? 0 : scenario.senders) + 40
    guard limit.rlim_max >= rlim_t(needed) else {
      throw LoadFailure("the run needs \(needed) descriptors and the hard limit is \(limit.rlim_max)")
    }
  }

  private static func complain(_ sentences: [String]) {
    for sentence in sentences { Files.write("threadcast-load: \(sentence)\n", to: STDERR_FILENO) }
  }

  private static func refuse(_ sentences: [String]) -> Never {
    complain(sentences)
    exit(78)
  }
}

/// Why a run could not be done: one sentence.
struct LoadFailure: Error {
  var sentence: String
  init(_ sentence: String) { self.sentence = sentence }

  init(_ what: String, errno code: Int32) { self.init("\(what): \(String(cString: strerror(code)))") }
}
