import CLinux
import Glibc
import Primitives
import Reactor
import Telemetry
import Testing
import Workers

@Suite("The loop itself")
struct LoopTests {
  @Test func mailFromManyThreadsArrives() throws {
    let rig = try Rig()
    defer { rig.stop() }
    let journal = rig.journal
    let jobs = rig.jobs
    let threads = (0..<4).map { number in
      WorkerThread.start(name: "sender") {
        for index in 0..<250 { jobs.post { _ in journal.record(.note("\(number) \(index)")) } }
      }
    }
    for thread in threads { thread.join() }
    #expect(journal.waits { $0.count == 1000 })
    for number in 0..<4 {
      let expected = (0..<250).map { Journal.Entry.note("\(number) \($0)") }
      let notes = journal.entries.filter {
        if case .note(let text) = $0 { text.hasPrefix("\(number) ") } else { false }
      }
      #expect(notes == expected)
    }
  }

  @Test func aDeadlineIsToldOnceAndNotEarly() throws {
    let rig = try Rig()
    defer { rig.stop() }
    let start = Clock.now()
    rig.onLoop { $0.alarm = $0.loop.now.advanced(byMilliseconds: 20) }
    #expect(rig.journal.waits { $0.contains(.deadline) })
    #expect(Clock.now().milliseconds(since: start) >= 20)
    #expect(rig.journal.entries == [.deadline])
  }

  @Test func aLoopThatStopsAcceptingKeepsItsConnections() throws {
    let rig = try Rig(echoes: true)
    defer { rig.stop() }
    let living = try BlockingClient(port: rig.port)
    _ = try #require(rig.journal.opened())
    rig.onLoop {
      $0.loop.stopAccepting()
      $0.alarm = $0.loop.now
    }
    #expect(rig.journal.waits { $0.contains(.deadline) })
    // The kernel still completes the connection; nobody takes it.
    let late = try BlockingClient(port: rig.port)
    try living.send([1])
    #expect(try living.receive(exactly: 1) == [1])
    #expect(rig.journal.entries.filter { if case .opened = $0 { true } else { false } }.count == 1)
    late.close()
  }

  @Test func S8_everyNumberOfALoopIsScrapedWithItsHelp() throws {
    let rig = try Rig(echoes: true)
    let client = try BlockingClient(port: rig.port)
    try client.send([1, 2, 3])
    #expect(try client.receive(exactly: 3) == [1, 2, 3])
    let registry = MetricRegistry()
    rig.metrics.register(in: registry)
    LoopMetrics().register(in: registry)
    rig.stop()
    let text = registry.prometheusText()
    #expect(text.contains("\nthreadcast_received_bytes_total 3\n"))
    #expect(text.contains("\nthreadcast_sent_bytes_total 3\n"))
    #expect(text.contains("\nthreadcast_connections_closed_total 1\n"))
    #expect(text.split(separator: "\n").filter { $0.hasPrefix("# HELP") }.count == 13)
  }

  @Test func S7_signalsAreTakenOneAtATime() async {
    await #expect(processExitsWith: .success) {
      SignalSource.blockSignals()
      pthread_kill(pthread_self(), SIGHUP)
      try #require(SignalSource.wait() == .hangup)
      pthread_kill(pthread_self(), SIGTERM)
      try #require(SignalSource.wait() == .terminate)
      pthread_kill(pthread_self(), SIGINT)
      try #require(SignalSource.wait() == .interrupt)
      pthread_kill(pthread_self(), SIGPIPE)
    }
  }

  @Test(arguments: [
    (PeerAddress(family: .ipv4, high: 0, low: 0xC000_0201, port: 80), "192.0.2.1:80", UInt64(0xC000_0201)),
    (
      PeerAddress(family: .ipv6, high: 0x2001_0DB8_0000_0001, low: 1, port: 443), "[2001:db8:0:1::1]:443",
      0x2001_0DB8_0000_0001
    ),
    (.unix, "unix", 0),
  ])
  func peersAreNamedAndCountedByNetwork(_ peer: PeerAddress, _ text: String, _ key: UInt64) {
    #expect(peer.description == text)
    #expect(peer.networkKey == key)
  }
}
