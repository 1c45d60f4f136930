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
      bounds: [1_000_000, 10_000_000])
    plain.add(41)
    plain.increment()
    first.increment()
    second.add(2)
    sessions.set(7)
    sessions.add(-3)
    commit.record(1_000_000)
    commit.record(1_000_001)
    commit.record(500_000_000)
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

  @Test func S8_aHistogramMayCountThings() {
    let registry = MetricRegistry()
    let sizes = registry.histogram("batch_changes", help: "Changes in a batch.", bounds: [1, 8], unit: .one)
    for size: UInt64 in [1, 2, 8, 9, 500] { sizes.record(size) }
    #expect(
      registry.prometheusText() == """
        # HELP batch_changes Changes in a batch.
        # TYPE batch_changes histogram
        batch_changes_bucket{le="1"} 1
        batch_changes_bucket{le="8"} 3
        batch_changes_bucket{le="+Inf"} 5
        batch_changes_sum 520
        batch_changes_count 5

        """)
  }

  @Test func S8_theProcessTellsItsOwnSize() throws {
    let registry = MetricRegistry()
    ProcessMetrics(version: "1.2.3-test").register(in: registry)
    var values: [String: Double] = [:]
    for line in registry.prometheusText().split(separator: "\n") where !line.hasPrefix("#") {
      let parts = line.split(separator: " ")
      let value: Double = try #require(Double(parts[1]), "\(line)")
      values[String(parts[0])] = value
    }
    #expect(values["threadcast_build_info{version=\"1.2.3-test\"}"] == 1)
    #expect(try #require(values["process_resident_memory_bytes"]) > 1_048_576)
    #expect(try #require(values["process_max_fds"]) >= 16)
    let started = try #require(values["process_start_time_seconds"])
    #expect(started > 1_500_000_000 && started <= Double(Clock.unixSeconds() + 1))
    #expect(try #require(values["process_open_fds"]) >= 3)
    #expect(try #require(values["process_cpu_seconds_total"]) > 0)
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
