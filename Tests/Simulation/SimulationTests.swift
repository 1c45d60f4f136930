import Foundation
import Testing

@Suite("A whole node from one seed", .serialized)
struct SimulationTests {
  private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap(Int.init) }

  /// Steps of one run: some hundred events, half a minute of simulated time.
  private static let steps = number("SIMULATION_STEPS") ?? 1_200

  /// Runs one seed; a broken promise is recorded with the way to see it again.
  private static func holds(seed: Int) throws -> Simulation? {
    let run = try Simulation(seed: UInt64(seed))
    do {
      try run.run(steps: steps)
      return run
    } catch let violation as Violation {
      let steps = number("SIMULATION_STEPS").map { "SIMULATION_STEPS=\($0) " } ?? ""
      Issue.record(
        """
        Seed \(seed), step \(run.steps): \(violation)

        \(run.trace.text)

        Again: \(steps)SWIFT_DETERMINISTIC_HASHING=1 SIMULATION_SEED=\(seed) swift test --filter Simulation
        """)
      return nil
    }
  }

  /// `SIMULATION_SEED` runs that one; `SIMULATION_SEEDS` so many from `SIMULATION_FIRST` on; else seeds follow one
  /// another for `SIMULATION_SECONDS` (30).
  @Test func R6_R4_M8_M7_everySeedKeepsEveryPromise() throws {
    if let seed = Self.number("SIMULATION_SEED") {
      #expect(try Self.holds(seed: seed) != nil)
      return
    }
    let first = Self.number("SIMULATION_FIRST") ?? 1
    let count = Self.number("SIMULATION_SEEDS")
    let deadline = Date(timeIntervalSinceNow: Double(Self.number("SIMULATION_SECONDS") ?? 30))
    var total = Summary()
    var seed = first
    while count.map({ seed < first + $0 }) ?? (Date() < deadline) {
      guard let run = try Self.holds(seed: seed) else { break }
      total.add(run)
      seed += 1
    }
    print("simulation: \(total)")
    #expect(total.runs > 0)
    if let count { #expect(total.runs == count) }
  }

  @Test func R6_oneSeedMakesOneRun() throws {
    let digests = try (0..<2).map { _ in
      let run = try Simulation(seed: 7)
      try run.run(steps: 500)
      return run.trace.digest
    }
    #expect(digests[0] == digests[1])
  }
}

/// What a series of runs has seen, so that nobody mistakes an idle simulator for a sound gateway.
private struct Summary: CustomStringConvertible {
  var runs = 0
  private var steps = 0
  private var durable = 0
  private var events = 0
  private var replayed = 0
  private var hints = 0
  private var crashes = 0
  private var drains = 0
  private var resumptions = 0
  private var resets: [String: Int] = [:]
  private var closes: [Int: Int] = [:]

  mutating func add(_ run: Simulation) {
    runs += 1
    steps += run.steps
    durable += run.model.log.count
    events += run.oracle.events
    replayed += run.oracle.replayed
    hints += run.oracle.hints
    crashes += run.crashes
    drains += run.drains
    resumptions += run.oracle.resumptions
    resets.merge(run.oracle.resets) { $0 + $1 }
    closes.merge(run.oracle.closes) { $0 + $1 }
  }

  var description: String {
    let resets = resets.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    let closes = closes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    return """
      \(runs) runs, \(steps) steps, \(durable) durable happenings, \(events) events received (\(replayed) replayed, \
      \(hints) hints), \(crashes) crashes, \(drains) drains, \(resumptions) resumptions; resets: \(resets); \
      closes: \(closes)
      """
  }
}
