import Configuration
import Gateway
import Glibc
import JSON

/// The composition root: reads what the process was told and does it. For `serve` it builds every thread in order and
/// stops them in reverse.
///
/// Exit codes: 0 after an orderly stop, 1 when the world refuses (a port in use, a folder that cannot be written),
/// 78 when what it was told is wrong (S6).
@main
enum Threadcast {
  static func main() {
    let launch = Launch.read(
      arguments: Array(CommandLine.arguments.dropFirst()), environment: environmentVariables(),
      readFile: ConfigurationFile.read)
    switch launch {
    case .help(let text): write(text, to: STDOUT_FILENO)
    case .version(let asJSON):
      let text =
        asJSON
        ? object {
          $0.key("version"); $0.string(GatewayVersion.text)
        } : "threadcast \(GatewayVersion.text)\n"
      write(text, to: STDOUT_FILENO)
    case .checked(let settings, let asJSON): CheckConfig(settings: settings, asJSON: asJSON).run()
    case .run(let command, let data, let asJSON):
      orExit { () throws(StartFailure) in try Administration(data: data, asJSON: asJSON).run(command) }
    case .refused(let problems):
      for problem in problems { write("threadcast: \(problem)\n", to: STDERR_FILENO) }
      exit(Launch.refusedStatus)
    case .serve(let settings):
      orExit { () throws(StartFailure) in try Serve(settings).run() }
    }
  }

  private static func orExit(_ body: () throws(StartFailure) -> Void) {
    do throws(StartFailure) {
      try body()
    } catch {
      write("threadcast: \(error.sentence)\n", to: STDERR_FILENO)
      exit(error.status)
    }
  }

  /// One JSON object on one line.
  static func object(_ members: (inout JSONWriter) -> Void) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    members(&writer)
    writer.endObject()
    return String(decoding: writer.take(), as: UTF8.self) + "\n"
  }

  /// The process's environment as it is now; a later variable of the same name does not count.
  private static func environmentVariables() -> [String: String] {
    var variables: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
      let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2, variables[String(parts[0])] == nil { variables[String(parts[0])] = String(parts[1]) }
      entry += 1
    }
    return variables
  }

  /// Whole and at once: whoever waits for the ready line reads it through a pipe.
  static func write(_ text: String, to descriptor: Int32) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      // Nobody reads: there is nowhere left to complain.
      guard count > 0 else { return }
      bytes = bytes.dropFirst(count)
    }
  }
}

/// Why the gateway did not start, or a command was not done: one sentence for the operator (S6).
struct StartFailure: Error {
  var sentence: String
  /// What the process exits with: 1 when the world refuses, 78 when what it was told is wrong.
  var status: Int32
  init(_ sentence: String, status: Int32 = 1) {
    self.sentence = sentence
    self.status = status
  }
}
