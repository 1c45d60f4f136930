/// What the command line asks for.
package enum LoadCommand: Hashable, Sendable {
  case help
  case run(RunOptions)
  /// Sentences for standard error.
  case refused([String])

  package static let helpText = """
    threadcast-load run SCENARIO.json [flags]

    Opens many sessions to a server, sends numbered messages, and checks that every expected recipient gets each of them
    once and in order. Exit 0 when that held, 1 when it did not (or a limit was broken), 78 when the question was wrong.

      --target ws://HOST:PORT   the server; ws://127.0.0.1:8080
      --pid PID                 the server's process on this machine: adds its memory and computing time
      --json FILE               writes the report as JSON; - is standard output
      --limits FILE             fails the run when a metric is beyond its limit
      --poll                    never sleeps, so that the server pays for no wake-ups of the driver
      --sources N               spreads connections over 127.0.0.1 ... 127.0.0.N
      --deflate                 offers permessage-deflate

    Numbers of the scenario that flags replace: --sessions --senders --rate --in-flight --payload --seconds --warm-up
    --connecting --stalled --away --sessions-per-user

    Accounts are made with the admin key in THREADCAST_ADMIN_KEY (dev-admin when it is not set). The echo scenarios need
    none. Example:

      threadcast-load run loadtest/scenarios/fanout.json --sessions 500 --seconds 5

    """

  /// Flags of numbers, and the scenario's field that each replaces.
  private static let numberFlags = [
    "--sessions": "sessions", "--senders": "senders", "--rate": "rate", "--in-flight": "inFlight",
    "--payload": "payloadBytes", "--seconds": "seconds", "--warm-up": "warmUpSeconds", "--connecting": "connecting",
    "--stalled": "stalled", "--away": "awaySeconds", "--sessions-per-user": "sessionsPerUser",
  ]

  /// - Parameter arguments: without the program's name.
  package static func parse(_ arguments: [String]) -> LoadCommand {
    if arguments.contains("--help") || arguments.contains("-h") || arguments == ["help"] { return .help }
    guard arguments.first == "run" else {
      return .refused([
        arguments.first.map { "no command \($0); there is: run SCENARIO.json" }
          ?? "what to do? run SCENARIO.json; see --help"
      ])
    }
    var options = RunOptions()
    var problems: [String] = []
    var scenarios: [String] = []
    var rest = arguments.dropFirst()
    while let argument = rest.popFirst() {
      switch argument {
      case "--poll": options.polls = true
      case "--deflate": options.deflate = true
      case _ where argument.hasPrefix("--"):
        guard
          argument == "--target" || argument == "--pid" || argument == "--json" || argument == "--limits"
            || argument == "--sources" || numberFlags[argument] != nil
        else {
          problems.append("no flag \(argument); see --help")
          continue
        }
        guard let value = rest.popFirst() else {
          problems.append("\(argument) needs a value")
          continue
        }
        options.take(argument, value, numberFlags[argument], &problems)
      default: scenarios.append(argument)
      }
    }
    if scenarios.count == 1 {
      options.scenarioPath = scenarios[0]
    } else {
      problems.append(
        scenarios.isEmpty ? "which scenario? run SCENARIO.json" : "one scenario a run, not \(scenarios.count)")
    }
    return problems.isEmpty ? .run(options) : .refused(problems)
  }
}

/// A run as the command line describes it.
package struct RunOptions: Hashable, Sendable {
  package var scenarioPath = ""
  package var target = Target.standard
  package var pid: Int32?
  package var jsonPath: String?
  package var limitsPath: String?
  package var polls = false
  package var deflate = false
  /// Loopback addresses to connect from; nil chooses by the number of sessions.
  package var sources: Int?
  package var numbers: [String: Int] = [:]

  package init() {}

  mutating func take(_ flag: String, _ value: String, _ field: String?, _ problems: inout [String]) {
    if let field {
      guard let number = Int(value) else { return problems.append("\(flag) needs a whole number, not \(value)") }
      numbers[field] = number
      return
    }
    switch flag {
    case "--target":
      guard let parsed = Target(value) else {
        return problems.append("--target must look like ws://HOST:PORT, not \(value)")
      }
      target = parsed
    case "--pid":
      guard let number = Int32(value), number > 0 else {
        return problems.append("--pid needs a process number, not \(value)")
      }
      pid = number
    case "--sources":
      guard let number = Int(value), (1...250).contains(number) else {
        return problems.append("--sources must be from 1 to 250")
      }
      sources = number
    case "--json": jsonPath = value
    case "--limits": limitsPath = value
    default: preconditionFailure("every flag with a value is taken")
    }
  }
}
