import Telemetry
import Testing
import Workers

@Suite("S8 metrics")
struct MetricRegistryTests {
  @Test func S8_theTextIsThatOfPrometheus() {
    let registry = MetricRegistry()
    let plain = registry.counter("messages_total", help: "Messages stored.")
    let first = registry.counter("closes_total", help: "Closes by code.", labels: [("code", "1000")])
    let second = registry.counter("closes_total", help: "Closes by code.", labels: [("code", "4000")])
    let sessions = registry.gauge("sessions", help: "Open sessions.")
    registry.gauge("load", help: "Share of the turn.", labels: [("loop", "0")]) { 0.25 }
    let commit = registry.histogram(
      "commit_seconds", help: "Time of a commit.", labels: [("store", "sqlite")],
      boundsNanoseconds: [1_000_000, 10_000_000])
    plain.add(41)
    plain.increment()
    first.increment()
    second.add(2)
    sessions.set(7)
    sessions.add(-3)
    commit.record(nanoseconds: 1_000_000)
    commit.record(nanoseconds: 1_000_001)
    commit.record(nanoseconds: 500_000_000)
    #expect(
      registry.prometheusText() == """
        # HELP messages_total Messages stored.
        # TYPE messages_total counter
        messages_total 42
        # HELP closes_total Closes by code.
        # TYPE closes_total counter
        closes_total{code="1000"} 1
        closes_total{code="4000"} 2
        # HELP sessions Open sessions.
        # TYPE sessions gauge
        sessions 4
        # HELP load Share of the turn.
        # TYPE load gauge
        load{loop="0"} 0.25
        # HELP commit_seconds Time of a commit.
        # TYPE commit_seconds histogram
        commit_seconds_bucket{store="sqlite",le="0.001"} 1
        commit_seconds_bucket{store="sqlite",le="0.01"} 2
        commit_seconds_bucket{store="sqlite",le="+Inf"} 3
        commit_seconds_sum{store="sqlite"} 0.502000001
        commit_seconds_count{store="sqlite"} 3

        """)
  }

  @Test func S8_instancesOfOneNameAreAddedUp() {
    let registry = MetricRegistry()
    let counters = (0..<3).map { _ in registry.counter("turns_total", help: "Turns.") }
    let gauges = (0..<2).map { _ in registry.gauge("open", help: "Open.") }
    let threads = counters.map { counter in
      WorkerThread.start(name: "loop") { for _ in 0..<1000 { counter.increment() } }
    }
    for thread in threads { thread.join() }
    gauges[0].set(5)
    gauges[1].set(-1)
    let text = registry.prometheusText()
    #expect(text.contains("\nturns_total 3000\n"))
    #expect(text.contains("\nopen 4\n"))
  }

  @Test func S8_labelsAndHelpAreEscaped() {
    let registry = MetricRegistry()
    _ = registry.counter("odd_total", help: "A \"quoted\"\nback\\slash.", labels: [("text", "a\"b\\c\nd")])
    #expect(
      registry.prometheusText()
        == "# HELP odd_total A \"quoted\"\\nback\\\\slash.\n# TYPE odd_total counter\nodd_total{text=\"a\\\"b\\\\c\\nd\"} 0\n"
    )
  }

  @Test func S8_aMetricWithoutHelpIsOurMistake() async {
    await #expect(processExitsWith: .failure) { _ = MetricRegistry().counter("x_total", help: "") }
    await #expect(processExitsWith: .failure) { _ = MetricRegistry().counter("9x", help: "Nine.") }
    await #expect(processExitsWith: .failure) {
      let registry = MetricRegistry()
      _ = registry.counter("x", help: "X.")
      _ = registry.gauge("x", help: "X.")
    }
  }
}
