import Configuration
import Gateway
import Glibc

/// The composition root: reads what the process was told, builds every thread in order, stops them in reverse.
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
    case .version: write("threadcast \(GatewayVersion.text)\n", to: STDOUT_FILENO)
    case .refused(let problems):
      for problem in problems { write("threadcast: \(problem)\n", to: STDERR_FILENO) }
      exit(Launch.refusedStatus)
    case .serve(let settings):
      do throws(StartFailure) {
        try Serve(settings).run()
      } catch {
        write("threadcast: \(error.sentence)\n", to: STDERR_FILENO)
        exit(1)
      }
    }
  }

  /// The process's environment as it is now; a later variable of the same name does not count.
  static func environmentVariables() -> [String: String] {
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

/// Why the gateway did not start: one sentence for the operator (S6).
struct StartFailure: Error {
  var sentence: String
  init(_ sentence: String) { self.sentence = sentence }
}
