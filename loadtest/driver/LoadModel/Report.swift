import JSON
package import Primitives

/// One number that a run measured.
package struct Metric: Hashable, Sendable {
  /// Its unit stands at its end: `latency.p99Milliseconds`.
  package var name: String
  package var value: Double

  package init(_ name: String, _ value: Double) {
    self.name = name
    self.value = value
  }
}

/// What a run found. Printed as a table, written as JSON, judged by limits.
package struct Report: Sendable {
  package var scenario: Scenario
  package var target: String
  package var metrics: [Metric] = []
  package var findings: Findings
  /// What makes the numbers doubtful: nothing is wrong with the server.
  package var warnings: [String] = []
  package var verdicts: [LimitVerdict] = []

  package init(_ scenario: Scenario, target: String, findings: Findings) {
    self.scenario = scenario
    self.target = target
    self.findings = findings
  }

  package mutating func add(_ name: String, _ value: Double) { metrics.append(Metric(name, value)) }

  package mutating func add(_ name: String, _ value: some BinaryInteger) { add(name, Double(value)) }

  /// Five numbers of a latency: `NAME.p50Milliseconds` … `NAME.maxMilliseconds`. Nothing when nothing was recorded.
  package mutating func add(_ name: String, nanoseconds histogram: Histogram) {
    guard histogram.count > 0 else { return }
    for (label, rank) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999)] {
      add("\(name).\(label)Milliseconds", Double(histogram.quantile(rank)) / 1e6)
    }
    add("\(name).maxMilliseconds", Double(histogram.maximum) / 1e6)
  }

  package func value(_ name: String) -> Double? { metrics.first { $0.name == name }?.value }

  package mutating func judge(by limits: LimitsFile) { verdicts = limits.judge(metrics) }

  /// Nothing was violated and every limit was kept.
  package var isGood: Bool { findings.total == 0 && verdicts.allSatisfy(\.isKept) }

  // MARK: For people

  package var table: String {
    var lines = ["\(scenario.name) (\(scenario.kind.rawValue)) against \(target)"]
    let width = metrics.map(\.name.count).max() ?? 0
    for metric in metrics {
      lines.append("  \(metric.name.padded(to: width))  \(Self.text(metric.value).leftPadded(to: 14))")
    }
    for verdict in verdicts { lines.append("  \(verdict.sentence)") }
    for warning in warnings { lines.append("  warning: \(warning)") }
    for (violation, count) in sortedCounts { lines.append("  VIOLATED \(violation): \(count)") }
    for example in findings.examples { lines.append("    \(example)") }
    lines.append(isGood ? "  ok" : "  FAILED")
    return lines.joined(separator: "\n") + "\n"
  }

  /// Three significant digits below 1,000, whole numbers with separators above.
  package static func text(_ value: Double) -> String {
    guard value.isFinite else { return "-" }
    if value.magnitude >= 1000 || value == value.rounded() { return grouped(value) }
    var factor = 1.0
    while value.magnitude * factor < 100, factor < 1e6 { factor *= 10 }
    let rounded = (value * factor).rounded() / factor
    return rounded == rounded.rounded() ? grouped(rounded) : "\(rounded)"
  }

  private static func grouped(_ value: Double) -> String {
    let digits = Array("\(Int64(value.magnitude.rounded()))")
    var text = value < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return text
  }

  private var sortedCounts: [(String, UInt64)] {
    Violation.allCases.compactMap { violation in findings.counts[violation].map { (violation.rawValue, $0) } }
  }

  // MARK: For programs

  /// `{"scenario", "kind", "target", "ok", "metrics": {name: number}, "violations": {kind: count}, "examples": [],
  /// "warnings": [], "limits": [{"metric", "value"?, "atLeast"?, "atMost"?, "ok"}]}`.
  package var json: [UInt8] {
    var writer = JSONWriter(reservingBytes: 2_048)
    writer.beginObject()
    writer.member("scenario", scenario.name)
    writer.member("kind", scenario.kind.rawValue)
    writer.member("target", target)
    writer.key("ok")
    writer.boolean(isGood)
    writer.key("metrics")
    writer.beginObject()
    for metric in metrics where metric.value.isFinite {
      writer.key(metric.name)
      writer.double(metric.value)
    }
    writer.endObject()
    writer.key("violations")
    writer.beginObject()
    for (violation, count) in sortedCounts {
      writer.key(violation)
      writer.unsigned(count)
    }
    writer.endObject()
    writer.strings("examples", findings.examples)
    writer.strings("warnings", warnings)
    writer.key("limits")
    writer.beginArray()
    for verdict in verdicts { verdict.encode(into: &writer) }
    writer.endArray()
    writer.endObject()
    return writer.take()
  }
}

extension JSONWriter {
  mutating func member(_ name: StaticString, _ text: String) {
    key(name)
    string(text)
  }

  fileprivate mutating func strings(_ name: StaticString, _ texts: [String]) {
    key(name)
    beginArray()
    for text in texts { string(text) }
    endArray()
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
  fileprivate func leftPadded(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
