import Configuration
import Gateway
import Glibc
import Reactor
import Telemetry
import Wire

/// SIGHUP (S7): reads the flags, the environment and the file again, and makes the running gateway go by them, all or
/// nothing. Everything that can fail happens before anything changes; one log line tells what became of it.
struct Reload {
  let node: Node
  private let tls: TLSContextSlot?
  private let log: Log
  private let done: Counter
  private let refused: Counter
  /// What the process goes by now.
  private(set) var settings: Settings

  /// - Parameters:
  ///   - settings: those the process was started with.
  ///   - tls: shared by every listener; nil without TLS.
  init(_ settings: Settings, node: Node, tls: TLSContextSlot?, registry: MetricRegistry, log: Log) {
    self.settings = settings
    self.node = node
    self.tls = tls
    self.log = log
    let name = "threadcast_reloads_total"
    let help = "Reloads of the settings asked for by SIGHUP, by outcome."
    done = registry.counter(name, help: help, labels: [("outcome", "done")])
    refused = registry.counter(name, help: help, labels: [("outcome", "refused")])
    guard let tls else { return }
    registry.gauge(
      "threadcast_tls_certificate_days", help: "Whole days until the certificate expires, negative when it has."
    ) { Double(tls.current.certificateDaysLeft() ?? 0) }
  }

  mutating func run() {
    let launch = Launch.read(
      arguments: Array(CommandLine.arguments.dropFirst()), environment: Threadcast.environmentVariables(),
      readFile: ConfigurationFile.read)
    switch launch {
    case .serve(let read): apply(read)
    case .refused(let problems): refuse(problems.map(\.description))
    default: preconditionFailure("the flags that started the gateway are still those of serve")
    }
  }

  private mutating func apply(_ read: Settings) {
    let (next, waiting) = read.applicable(to: settings)
    var context: TLSContext?
    if next.tls.isOn {
      do throws(TLSFailure) {
        context = try TLSContext(TLSIdentity(certificatePath: next.tls.certificate, keyPath: next.tls.key))
      } catch {
        return refuse([error.description])
      }
    }
    // From here on nothing can fail.
    let changed = next.changedKeys(from: settings)
    settings = next
    if let tls, let context { tls.replace(with: context) }
    node.reload(GatewaySettings(next))
    // The line is written when either of the two levels wants it.
    let level = next.log.telemetryLevel
    log.level = min(log.level, level)
    log.format = next.log.telemetryFormat
    done.increment()
    log.info(
      "reloaded",
      ["changed": .text(changed.joined(separator: ",")), "needs_restart": .text(waiting.joined(separator: ","))])
    log.level = level
  }

  private func refuse(_ problems: [String]) {
    refused.increment()
    log.error(
      "reload_refused",
      ["state": "everything stays as it was", "problems": .text(problems.joined(separator: " | "))])
  }
}

extension Settings.Log {
  var telemetryLevel: LogLevel {
    switch level {
    case .error: .error
    case .warning: .warning
    case .info: .info
    case .debug: .debug
    }
  }

  var telemetryFormat: LogFormat { format == .json ? .json : .keyValue }
}

extension GatewaySettings {
  /// The part of the settings that the gateway's threads go by; the rest belongs to the process.
  init(_ settings: Settings) {
    self.init()
    isEchoEnabled = settings.echo
    isDevelopment = settings.dev
    origins = OriginPolicy(
      allowed: Set(settings.allowedOrigins), publicNames: Set(settings.publicNames), allowsLocalhost: settings.dev)
    heartbeatSeconds = settings.heartbeatSeconds
    connectSeconds = settings.connectSeconds
    outboundBytes = settings.limits.outboundBytes
    outboundTotalBytes = settings.limits.outboundTotalBytes
    headBytes = settings.limits.headBytes
    limits.frameBytes = settings.limits.frameBytes
    limits.bodyBytes = settings.limits.bodyBytes
    limits.textBytes = settings.limits.textBytes
    limits.metadataBytes = settings.limits.metadataBytes
    limits.customDataBytes = settings.limits.customDataBytes
    limits.tags = settings.limits.tags
    limits.tagCharacters = settings.limits.tagCharacters
    limits.attachments = settings.limits.attachments
    limits.jsonDepth = settings.limits.jsonDepth
    limits.resumeSeconds = settings.limits.resumeSeconds
    limits.resumeEvents = settings.limits.resumeEvents
  }
}
