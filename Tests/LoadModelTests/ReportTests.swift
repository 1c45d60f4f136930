import JSON
import LoadModel
import Primitives
import Testing

@Suite struct ReportTests {
  private func report(_ findings: Findings = Findings()) throws -> Report {
    let scenario = try ScenarioReader.read(
      Array(#"{"kind": "idle", "sessions": 3}"#.utf8), fallbackName: "three")
    return Report(scenario, target: "ws://127.0.0.1:1", findings: findings)
  }

  private func limits(_ text: String) throws -> LimitsFile { try LimitsFile.read(Array(text.utf8)) }

  @Test func percentilesAreThoseOfTheHistogram() throws {
    var histogram = Histogram()
    // 1 … 1,000 ms, one each: a bucket's bound is at most 1/16 above the true rank.
    for value in 1...1_000 { histogram.record(UInt64(value) * 1_000_000) }
    var report = try report()
    report.add("latency", nanoseconds: histogram)
    for (name, exact) in [("p50", 500.0), ("p90", 900), ("p99", 990), ("p999", 999), ("max", 1_000)] {
      let value = try #require(report.value("latency.\(name)Milliseconds"))
      #expect(value >= exact && value <= exact * 1.0625, "\(name) is \(value)")
    }
    #expect(report.value("latency.maxMilliseconds") == 1_000)
  }

  @Test func nothingRecordedMakesNoMetric() throws {
    var report = try report()
    report.add("latency", nanoseconds: Histogram())
    #expect(report.metrics.isEmpty)
  }

  @Test func limitsAreKeptBrokenOrNotMeasured() throws {
    var report = try report()
    report.add("rate", 90.0)
    report.add("cost", 2.0)
    report.judge(by: try limits(#"{"rate": {"atLeast": 100}, "cost": {"atMost": 2}, "gone": {"atMost": 1}}"#))
    #expect(report.verdicts.map(\.isKept) == [true, false, false])
    #expect(report.verdicts.map(\.metric) == ["cost", "gone", "rate"])
    #expect(!report.isGood)
    #expect(report.table.contains("LIMIT BROKEN rate: at least 100, is 90"))
    #expect(report.table.contains("LIMIT gone: at most 1, but it was not measured"))
  }

  @Test(arguments: [
    ("[]", "the limits must be one JSON object"), ("{}", "the limits hold no limit"),
    ("{", "the limits are not JSON: malformed"),
    (#"{"a": 5}"#, "the limit a needs a number as atLeast or as atMost, and not both"),
    (#"{"a": {"atLeast": 1, "atMost": 2}}"#, "the limit a needs a number as atLeast or as atMost, and not both"),
  ])
  func wrongLimitsAreRefused(text: String, sentence: String) {
    #expect(throws: ScenarioProblems([sentence])) { try limits(text) }
  }

  @Test func aViolationMakesTheRunBad() throws {
    var findings = Findings()
    findings.add(.lost, count: 3, "recipient 1 lacks 3")
    let bad = try report(findings)
    #expect(!bad.isGood)
    #expect(try report().isGood)
    #expect(bad.table.contains("VIOLATED lost: 3"))
    #expect(bad.table.hasSuffix("FAILED\n"))
  }

  @Test func theJSONHoldsEverything() throws {
    var findings = Findings()
    findings.add(.doubled, "again")
    var report = try report(findings)
    report.add("rate", 1.5)
    report.warnings = ["slow driver"]
    report.judge(by: try limits(#"{"rate": {"atLeast": 1}}"#))
    #expect(
      String(decoding: report.json, as: UTF8.self)
        == #"{"scenario":"three","kind":"idle","target":"ws://127.0.0.1:1","ok":false,"metrics":{"rate":1.5},"#
        + #""violations":{"doubled":1},"examples":["doubled: again"],"warnings":["slow driver"],"#
        + #""limits":[{"metric":"rate","value":1.5,"atLeast":1.0,"ok":true}]}"#)
  }

  @Test(arguments: [
    (0.0, "0"), (5, "5"), (0.01234, "0.0123"), (3.14159, "3.14"), (123.4, "123"), (999.9, "1,000"), (1_234.5, "1,235"),
    (1_234_567, "1,234,567"), (-5_000, "-5,000"), (.infinity, "-"),
  ])
  func numbersAreShortForPeople(value: Double, text: String) {
    #expect(Report.text(value) == text)
  }

  @Test func aProcessIsReadFromItsStatLine() {
    let line =
      "4242 (thread) cast (x)) S 1 4242 4242 0 -1 4194560 5093 0 0 0 151 48 0 0 20 0 7 0 12345 104857600 6120 "
      + "18446744073709551615 1 1 0 0 0 0"
    #expect(ProcessSample(stat: line) == ProcessSample(ticks: 199, residentPages: 6120))
    #expect(ProcessSample(stat: "4242 (short) S 1") == nil)
    #expect(ProcessSample(stat: "") == nil)
  }
}
