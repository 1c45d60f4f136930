import JSON

/// What a measured number came to against its limit.
package struct LimitVerdict: Hashable, Sendable {
  package var metric: String
  package var bound: LimitsFile.Bound
  /// Nil when the run has no such metric, which is a failure: a limit that nobody measures holds nothing.
  package var value: Double?

  package var isKept: Bool {
    guard let value else { return false }
    switch bound {
    case .atLeast(let limit): return value >= limit
    case .atMost(let limit): return value <= limit
    }
  }

  package var sentence: String {
    let limit =
      switch bound {
      case .atLeast(let limit): "at least \(Report.text(limit))"
      case .atMost(let limit): "at most \(Report.text(limit))"
      }
    guard let value else { return "LIMIT \(metric): \(limit), but it was not measured" }
    return "\(isKept ? "limit" : "LIMIT BROKEN") \(metric): \(limit), is \(Report.text(value))"
  }

  func encode(into writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("metric", metric)
    if let value {
      writer.key("value")
      writer.double(value)
    }
    switch bound {
    case .atLeast(let limit):
      writer.key("atLeast")
      writer.double(limit)
    case .atMost(let limit):
      writer.key("atMost")
      writer.double(limit)
    }
    writer.key("ok")
    writer.boolean(isKept)
    writer.endObject()
  }
}

/// Limits by metric: `{"METRIC": {"atLeast": N}, "METRIC": {"atMost": N}}`.
package struct LimitsFile: Hashable, Sendable {
  package enum Bound: Hashable, Sendable {
    case atLeast(Double)
    case atMost(Double)
  }

  package var bounds: [String: Bound]

  package static func read(_ file: [UInt8]) throws(ScenarioProblems) -> LimitsFile {
    let parser = JSONParser()
    let root: JSONValue
    switch file.withUnsafeBytes({ parser.parse($0, maximumDepth: 4) }) {
    case .failure(let failure): throw ScenarioProblems(["the limits are not JSON: \(failure)"])
    case .success(let value): root = value
    }
    guard let members = root.members else { throw ScenarioProblems(["the limits must be one JSON object"]) }
    var bounds: [String: Bound] = [:]
    var problems: [String] = []
    for member in members {
      let name = String(decoding: member.name, as: UTF8.self)
      switch (member.value["atLeast"]?.double, member.value["atMost"]?.double) {
      case (let limit?, nil): bounds[name] = .atLeast(limit)
      case (nil, let limit?): bounds[name] = .atMost(limit)
      default: problems.append("the limit \(name) needs a number as atLeast or as atMost, and not both")
      }
    }
    if problems.isEmpty, bounds.isEmpty { problems.append("the limits hold no limit") }
    guard problems.isEmpty else { throw ScenarioProblems(problems) }
    return LimitsFile(bounds: bounds)
  }

  func judge(_ metrics: [Metric]) -> [LimitVerdict] {
    bounds.sorted { $0.key < $1.key }.map { name, bound in
      LimitVerdict(metric: name, bound: bound, value: metrics.first { $0.name == name }?.value)
    }
  }
}
