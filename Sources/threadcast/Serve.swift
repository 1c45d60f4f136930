import Bus
import Configuration
import Gateway
import Glibc
import Reactor
import Store
import Telemetry
import Wire
import Workers

/// `threadcast serve`: one node over the embedded store, from the first descriptor to an orderly stop.
struct Serve {
  private let settings: Settings

  init(_ settings: Settings) { self.settings = settings }

  func run() throws(StartFailure) {
    // Before any thread exists: what is started later inherits the blocked signals.
    SignalSource.blockSignals()
    umask(0o077)
    // A file-size limit then is a full disk (S11), not the end of the process.
    signal(SIGXFSZ, SIG_IGN)
    raiseDescriptorLimit()
    let log = Log(level: logLevel, format: settings.log.format == .json ? .json : .keyValue)
    let store = try openStore()
    report(store.wideRights, log)
    try settings.dev ? writeDevelopmentData(to: store) : refuseDevelopmentData(in: store)
    let loops = settings.loops == 0 ? max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) : settings.loops
    let listeners = try listen(loops: loops)
    let node: Node
    do throws(StoreFailure) {
      node = try Node(
        store: store, listeners: listeners, shape: .init(loops: loops, readers: settings.readers),
        settings: gatewaySettings, bus: InProcessBus(), registry: MetricRegistry(), log: log)
    } catch {
      throw StartFailure(error.message)
    }
    let addresses = listeners.map(\.address.description).joined(separator: ",")
    let tls = settings.tls.isOn ? "on" : "off"
    Threadcast.write(
      "threadcast ready listen=\(addresses) tls=\(tls) store=sqlite epoch=\(store.epoch)\n", to: STDOUT_FILENO)
    log.info("ready", ["listen": .text(addresses), "loops": .number(loops), "version": .text(GatewayVersion.text)])
    Supervisor.notify("READY=1")
    waitForStop(log)
    Supervisor.notify("STOPPING=1")
    stop(node, log)
  }

  private var logLevel: LogLevel {
    switch settings.log.level {
    case .error: .error
    case .warning: .warning
    case .info: .info
    case .debug: .debug
    }
  }

  private var gatewaySettings: GatewaySettings {
    var gateway = GatewaySettings()
    gateway.isEchoEnabled = settings.echo
    gateway.isDevelopment = settings.dev
    gateway.origins = OriginPolicy(
      allowed: Set(settings.allowedOrigins), publicNames: Set(settings.publicNames), allowsLocalhost: settings.dev)
    gateway.heartbeatSeconds = settings.heartbeatSeconds
    gateway.connectSeconds = settings.connectSeconds
    gateway.outboundBytes = settings.limits.outboundBytes
    gateway.headBytes = settings.limits.headBytes
    gateway.limits.frameBytes = settings.limits.frameBytes
    gateway.limits.bodyBytes = settings.limits.bodyBytes
    gateway.limits.textBytes = settings.limits.textBytes
    gateway.limits.metadataBytes = settings.limits.metadataBytes
    gateway.limits.customDataBytes = settings.limits.customDataBytes
    gateway.limits.tags = settings.limits.tags
    gateway.limits.tagCharacters = settings.limits.tagCharacters
    gateway.limits.attachments = settings.limits.attachments
    gateway.limits.jsonDepth = settings.limits.jsonDepth
    return gateway
  }

  // MARK: Parts

  private func openStore() throws(StartFailure) -> SQLiteStore {
    do throws(StoreFailure) {
      return try SQLiteStore.open(folder: settings.data)
    } catch {
      throw StartFailure(error.message)
    }
  }

  /// What other users could reach, and whether they still can (S12).
  private func report(_ findings: [WideRights], _ log: Log) {
    for finding in findings {
      log.warning(
        finding.isTightened ? "rights_tightened" : "rights_too_wide",
        ["path": .text(finding.path), "mode": .text(finding.mode)])
    }
  }

  private func writeDevelopmentData(to store: SQLiteStore) throws(StartFailure) {
    do throws(StoreFailure) {
      _ = try DevelopmentData.write(to: store)
    } catch {
      throw StartFailure(error.message)
    }
  }

  /// The demo's tokens and key stand in our README: a folder that knows them never meets the open network.
  private func refuseDevelopmentData(in store: SQLiteStore) throws(StartFailure) {
    let isPresent: Bool
    do throws(StoreFailure) {
      isPresent = try DevelopmentData.isPresent(in: store)
    } catch {
      throw StartFailure(error.message)
    }
    if isPresent {
      throw StartFailure(
        "the data folder \(settings.data) holds the well-known tokens and key of --dev; use another folder, or --dev")
    }
  }

  private func listen(loops: Int) throws(StartFailure) -> [ListenerGroup] {
    let tls = try tlsContext()
    var groups: [ListenerGroup] = []
    for address in settings.listen {
      do throws(ListenFailure) {
        let parsed = try ListenerAddress(parsing: address.description)
        groups.append(try ListenerGroup(opening: parsed, loops: loops, tls: tls))
      } catch {
        throw StartFailure(error.description)
      }
    }
    return groups
  }

  private func tlsContext() throws(StartFailure) -> TLSContextSlot? {
    guard settings.tls.isOn else { return nil }
    do throws(TLSFailure) {
      let identity = TLSIdentity(certificatePath: settings.tls.certificate, keyPath: settings.tls.key)
      return TLSContextSlot(try TLSContext(identity))
    } catch {
      throw StartFailure(error.description)
    }
  }

  /// Every connection is a descriptor: take what the system lets us have.
  private func raiseDescriptorLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < limit.rlim_max else {
      return
    }
    limit.rlim_cur = limit.rlim_max
    // A refusal leaves the limit as it was, which `accept` respects.
    _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  // MARK: The end

  private func waitForStop(_ log: Log) {
    while true {
      switch SignalSource.wait() {
      case .terminate, .interrupt: return
      case .hangup: log.warning("reload_ignored", ["reason": "nothing can be reloaded yet; restart instead"])
      }
    }
  }

  private func stop(_ node: Node, _ log: Log) {
    log.info("draining", ["sessions": .number(node.sessionCount), "seconds": .number(settings.drainSeconds)])
    // A second signal means: now (S7).
    let impatience = WorkerThread.start(name: "tc-signals") {
      _ = SignalSource.wait()
      exit(1)
    }
    node.drainAndStop(seconds: settings.drainSeconds)
    log.info("stopped")
    // The watching thread ends with the process.
    withExtendedLifetime(impatience) { exit(0) }
  }
}
