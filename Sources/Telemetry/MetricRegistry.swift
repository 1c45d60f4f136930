import Workers

/// Every metric of the process by name, and its Prometheus text (exposition format 0.0.4).
///
/// Asking twice for the same name and labels makes two instances whose values are added when scraped: each thread keeps
/// its own, so that no two write the same cache line.
package final class MetricRegistry: Sendable {
  /// A label's name and value.
  package typealias Label = (name: String, value: String)

  private enum Kind: String { case counter, gauge, histogram }

  private enum Source: Sendable {
    case counter(Counter)
    case gauge(Gauge)
    case histogram(BucketHistogram)
    case computed(@Sendable () -> Double)
  }

  private struct Family: Sendable {
    let name: String
    let help: String
    let kind: Kind
    /// Rendered labels, and every instance that has them.
    var series: [(labels: String, sources: [Source])] = []
  }

  private let families = Guarded<[Family]>([])

  package init() {}

  /// A new counter. By convention its name ends in `_total`.
  package func counter(_ name: String, help: String, labels: [Label] = []) -> Counter {
    let counter = Counter()
    register(counter, name, help: help, labels: labels)
    return counter
  }

  /// Adds a counter that somebody else made.
  package func register(_ counter: Counter, _ name: String, help: String, labels: [Label] = []) {
    add(name, help, .counter, labels, .counter(counter))
  }

  /// Adds a gauge that somebody else made.
  package func register(_ gauge: Gauge, _ name: String, help: String, labels: [Label] = []) {
    add(name, help, .gauge, labels, .gauge(gauge))
  }

  /// Adds a histogram that somebody else made.
  package func register(_ histogram: BucketHistogram, _ name: String, help: String, labels: [Label] = []) {
    add(name, help, .histogram, labels, .histogram(histogram))
  }

  /// A new gauge.
  package func gauge(_ name: String, help: String, labels: [Label] = []) -> Gauge {
    let gauge = Gauge()
    add(name, help, .gauge, labels, .gauge(gauge))
    return gauge
  }

  /// A gauge computed at each scrape; `read` is called without a lock and from the scraping thread.
  package func gauge(_ name: String, help: String, labels: [Label] = [], read: @escaping @Sendable () -> Double) {
    add(name, help, .gauge, labels, .computed(read))
  }

  /// A number that only grows, read at each scrape; `read` is called without a lock and from the scraping thread.
  package func counter(_ name: String, help: String, labels: [Label] = [], read: @escaping @Sendable () -> Double) {
    add(name, help, .counter, labels, .computed(read))
  }

  /// A new histogram; of durations unless `unit` says otherwise, and then its name ends in `_seconds`.
  package func histogram(
    _ name: String, help: String, labels: [Label] = [],
    bounds: [UInt64] = BucketHistogram.durationBounds, unit: BucketHistogram.Unit = .nanoseconds
  ) -> BucketHistogram {
    let histogram = BucketHistogram(bounds: bounds, unit: unit)
    add(name, help, .histogram, labels, .histogram(histogram))
    return histogram
  }

  private func add(_ name: String, _ help: String, _ kind: Kind, _ labels: [Label], _ source: Source) {
    precondition(Self.isName(name), "\"\(name)\" is not a metric name")
    precondition(!help.isEmpty, "the metric \(name) has no help text")
    for label in labels { precondition(Self.isName(label.name), "\"\(label.name)\" is not a label name") }
    let rendered = labels.map { "\($0.name)=\"\(Self.escape($0.value, quotes: true))\"" }.joined(separator: ",")
    families.withLock { families in
      let index: Int
      if let found = families.firstIndex(where: { $0.name == name }) {
        precondition(families[found].kind == kind, "the metric \(name) is of two kinds")
        index = found
      } else {
        index = families.count
        families.append(Family(name: name, help: help, kind: kind))
      }
      if let series = families[index].series.firstIndex(where: { $0.labels == rendered }) {
        families[index].series[series].sources.append(source)
      } else {
        families[index].series.append((rendered, [source]))
      }
    }
  }

  /// The text of all metrics in the order of registration.
  package func prometheusText() -> String {
    var text = ""
    for family in families.withLock({ $0 }) {
      text += "# HELP \(family.name) \(Self.escape(family.help, quotes: false))\n"
      text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
      for (labels, sources) in family.series { Self.render(family.name, labels, sources, into: &text) }
    }
    return text
  }

  private static func render(_ name: String, _ labels: String, _ sources: [Source], into text: inout String) {
    let braced = labels.isEmpty ? "" : "{\(labels)}"
    var count: UInt64 = 0
    var level: Int64 = 0
    var computed: Double?
    var histograms: [BucketHistogram] = []
    for source in sources {
      switch source {
      case .counter(let counter): count &+= counter.value
      case .gauge(let gauge): level &+= gauge.value
      case .computed(let read): computed = (computed ?? 0) + read()
      case .histogram(let histogram): histograms.append(histogram)
      }
    }
    if let first = histograms.first {
      render(name, labels, histograms, like: first, into: &text)
    } else if let computed {
      text += "\(name)\(braced) \(number(computed + Double(level) + Double(count)))\n"
    } else if case .gauge = sources[0] {
      text += "\(name)\(braced) \(level)\n"
    } else {
      text += "\(name)\(braced) \(count)\n"
    }
  }

  private static func render(
    _ name: String, _ labels: String, _ histograms: [BucketHistogram], like first: BucketHistogram,
    into text: inout String
  ) {
    let bounds = first.bounds
    let perTold = first.unit.perTold
    var counts = [UInt64](repeating: 0, count: bounds.count + 1)
    var sum: UInt64 = 0
    for histogram in histograms {
      precondition(histogram.bounds == bounds, "the histogram \(name) has two sets of bounds")
      for (index, count) in histogram.counts.enumerated() { counts[index] &+= count }
      sum &+= histogram.sum
    }
    let prefix = labels.isEmpty ? "" : labels + ","
    let braced = labels.isEmpty ? "" : "{\(labels)}"
    var accumulated: UInt64 = 0
    for (index, count) in counts.enumerated() {
      accumulated &+= count
      let bound = index < bounds.count ? number(Double(bounds[index]) / perTold) : "+Inf"
      text += "\(name)_bucket{\(prefix)le=\"\(bound)\"} \(accumulated)\n"
    }
    text += "\(name)_sum\(braced) \(number(Double(sum) / perTold))\n"
    text += "\(name)_count\(braced) \(accumulated)\n"
  }

  private static func number(_ value: Double) -> String {
    if value == .infinity { return "+Inf" }
    if value == -.infinity { return "-Inf" }
    if value.isNaN { return "NaN" }
    return value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
  }

  private static func isName(_ name: String) -> Bool {
    guard let first = name.utf8.first, !(first >= 48 && first <= 57) else { return false }
    return name.utf8.allSatisfy {
      $0 >= 97 && $0 <= 122 || $0 >= 65 && $0 <= 90 || $0 >= 48 && $0 <= 57 || $0 == 95
    }
  }

  private static func escape(_ text: String, quotes: Bool) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quotes: escaped += "\\\""
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
