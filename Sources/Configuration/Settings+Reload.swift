/// What a running process can take over from settings that were read again (S7).
extension Settings {
  /// The keys that are fixed when the process starts: addresses, files, threads, and the demo's data.
  private static let restartKeys: Set<String> = ["listen", "data", "dev", "loops", "readers"]

  /// Dotted paths of the keys whose values differ, in the order of the table.
  package func changedKeys(from other: Settings) -> [String] {
    Key.all.filter { $0.text(in: self) != $0.text(in: other) }.map(\.path)
  }

  /// These settings as far as a process that runs under `running` can go by them, and the keys whose new values wait for
  /// a restart. TLS cannot be turned on or off while running; other files can.
  package func applicable(to running: Settings) -> (settings: Settings, waiting: [String]) {
    var settings = self
    settings.listen = running.listen
    settings.data = running.data
    settings.dev = running.dev
    settings.loops = running.loops
    settings.readers = running.readers
    var waiting = changedKeys(from: running).filter(Self.restartKeys.contains)
    if tls.isOn != running.tls.isOn {
      settings.tls = running.tls
      waiting.append("tls.certificate")
    }
    return (settings, waiting)
  }
}
