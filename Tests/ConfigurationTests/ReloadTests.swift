import Configuration
import Testing

@Suite("S7: what a running process takes over")
struct ReloadTests {
  @Test func S7_whatWasFixedAtTheStartWaitsAndTheRestIsTaken() {
    let running = Settings()
    var read = running
    read.listen = [.tcp(host: "127.0.0.1", port: 9_999)]
    read.data = "/elsewhere"
    read.dev = true
    read.loops = 7
    read.readers = 5
    read.echo = true
    read.allowedOrigins = ["https://a.example"]
    read.drainSeconds = 3
    read.limits.tags = 1
    read.log.level = .debug
    let (settings, waiting) = read.applicable(to: running)
    #expect(waiting == ["listen", "data", "dev", "loops", "readers"])
    #expect(
      settings.changedKeys(from: running) == ["echo", "log.level", "allowedOrigins", "drainSeconds", "limits.tags"])
    #expect(settings.data == running.data && settings.listen == running.listen && settings.limits.tags == 1)
  }

  @Test func S7_otherCertificateFilesAreTaken() {
    var running = Settings()
    (running.tls.certificate, running.tls.key) = ("a.pem", "a.key")
    var read = running
    (read.tls.certificate, read.tls.key) = ("b.pem", "b.key")
    let (settings, waiting) = read.applicable(to: running)
    #expect(waiting.isEmpty && settings.tls.certificate == "b.pem" && settings.tls.key == "b.key")
    #expect(settings.changedKeys(from: running) == ["tls.certificate", "tls.key"])
  }

  @Test(arguments: [true, false]) func S7_turningTLSOnOrOffWaitsForARestart(isOn: Bool) {
    var encrypted = Settings()
    (encrypted.tls.certificate, encrypted.tls.key) = ("a.pem", "a.key")
    let (running, read) = isOn ? (encrypted, Settings()) : (Settings(), encrypted)
    let (settings, waiting) = read.applicable(to: running)
    #expect(waiting == ["tls.certificate"] && settings.tls == running.tls)
    #expect(settings.changedKeys(from: running).isEmpty)
  }

  @Test func S7_theSameSettingsChangeNothing() {
    let (settings, waiting) = Settings().applicable(to: Settings())
    #expect(settings == Settings() && waiting.isEmpty && settings.changedKeys(from: Settings()).isEmpty)
  }
}
