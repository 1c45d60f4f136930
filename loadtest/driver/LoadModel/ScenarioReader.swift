import JSON

/// Why a scenario was refused: every problem found, a sentence each.
package struct ScenarioProblems: Error, Hashable, Sendable {
  package var sentences: [String]

  package init(_ sentences: [String]) { self.sentences = sentences }
}

/// Reads a scenario from its file and the flags that change it.
package struct ScenarioReader {
  /// A number a scenario may hold.
  private struct Field {
    let name: String
    let kinds: Set<ScenarioKind>
    let range: ClosedRange<Int>
    /// Nil means that the scenario must say it.
    let standard: Int?
  }

  private static let live: Set<ScenarioKind> = [.idle, .fanOut, .reconnectStorm, .slowReaders]
  private static let listening = live.union([.fanOutEcho, .echo])
  private static let sending: Set<ScenarioKind> = [.fanOut, .fanOutEcho, .reconnectStorm, .slowReaders]
  private static let all = Set(ScenarioKind.allCases)
  /// These choose between `rate` and `inFlight`; a storm and stalled readers need the open loop.
  private static let choosing: Set<ScenarioKind> = [.fanOut, .fanOutEcho, .echo, .durableSends]

  private static let fields = [
    Field(name: "sessions", kinds: listening, range: 1...19_000, standard: nil),
    Field(name: "sessions", kinds: [.durableSends], range: 0...20, standard: 1),
    Field(name: "sessionsPerUser", kinds: live, range: 1...20, standard: 16),
    Field(name: "senders", kinds: sending, range: 1...512, standard: 1),
    Field(name: "senders", kinds: [.durableSends], range: 1...512, standard: nil),
    Field(name: "rate", kinds: all.subtracting([.idle]), range: 1...1_000_000, standard: 0),
    Field(name: "inFlight", kinds: choosing, range: 1...256, standard: 0),
    Field(name: "payloadBytes", kinds: all.subtracting([.idle]), range: 40...16_384, standard: 150),
    Field(name: "warmUpSeconds", kinds: all, range: 0...60, standard: 1),
    Field(name: "seconds", kinds: all, range: 1...86_400, standard: 10),
    Field(name: "connecting", kinds: all, range: 1...10_000, standard: 256),
    Field(name: "awaySeconds", kinds: [.reconnectStorm], range: 0...60, standard: 2),
    Field(name: "stalled", kinds: [.slowReaders], range: 1...19_000, standard: nil),
  ]

  /// Names of the numbers that flags may set.
  package static var numberNames: Set<String> { Set(fields.map(\.name)) }

  private var numbers: [String: Int] = [:]
  private var deflate = false
  private var name: String?
  private var kind: ScenarioKind?
  private var problems: [String] = []

  private init() {}

  /// - Parameters:
  ///   - file: a JSON object, see `loadtest/README.md`.
  ///   - fallbackName: of a scenario without `name`.
  ///   - overrides: numbers by field name that replace the file's.
  ///   - deflate: true offers deflate whatever the file says.
  package static func read(
    _ file: [UInt8], fallbackName: String, overrides: [String: Int] = [:], deflate: Bool = false
  ) throws(ScenarioProblems) -> Scenario {
    let parser = JSONParser()
    var reader = ScenarioReader()
    switch file.withUnsafeBytes({ parser.parse($0, maximumDepth: 4) }) {
    case .failure(let failure): throw ScenarioProblems(["the file is not JSON: \(failure)"])
    case .success(let root):
      guard let members = root.members else { throw ScenarioProblems(["the file must hold one JSON object"]) }
      for member in members { reader.take(String(decoding: member.name, as: UTF8.self), member.value) }
    }
    for (name, value) in overrides {
      reader.numbers[name] = value
      // One pace replaces the other.
      if name == "rate" { reader.numbers["inFlight"] = nil }
      if name == "inFlight" { reader.numbers["rate"] = nil }
    }
    if deflate { reader.deflate = true }
    return try reader.finish(fallbackName)
  }

  private mutating func take(_ key: String, _ value: JSONValue) {
    switch key {
    case "kind":
      kind = value.string.flatMap(ScenarioKind.init(rawValue:))
      if kind == nil {
        problems.append("kind must be one of \(ScenarioKind.allCases.map(\.rawValue).joined(separator: ", "))")
      }
    case "name":
      name = value.string
      if name == nil { problems.append("name must be a text") }
    case "deflate":
      guard let flag = value.boolean else { return problems.append("deflate must be true or false") }
      deflate = flag
    case _ where Self.numberNames.contains(key):
      guard let number = value.integer, let small = Int(exactly: number) else {
        return problems.append("\(key) must be a whole number")
      }
      numbers[key] = small
    default:
      let known = (Self.numberNames.union(["kind", "name", "deflate"])).sorted().joined(separator: ", ")
      problems.append("\(key) is not known; there are \(known)")
    }
  }

  private mutating func finish(_ fallbackName: String) throws(ScenarioProblems) -> Scenario {
    guard let kind else {
      if !problems.contains(where: { $0.hasPrefix("kind must be") }) { problems.append("kind is missing") }
      throw ScenarioProblems(problems)
    }
    for name in numbers.keys.sorted() where !Self.fields.contains(where: { $0.name == name && $0.kinds.contains(kind) })
    {
      problems.append("\(name) means nothing to \(kind.rawValue)")
    }
    let sessions = number("sessions", kind)
    let stalled = number("stalled", kind)
    let scenario = Scenario(
      kind: kind, name: name ?? fallbackName, sessions: sessions, sessionsPerUser: number("sessionsPerUser", kind),
      senders: kind == .echo ? sessions : number("senders", kind), pace: pace(kind),
      payloadBytes: number("payloadBytes", kind), deflate: deflate, warmUpSeconds: number("warmUpSeconds", kind),
      seconds: number("seconds", kind), connecting: number("connecting", kind),
      awaySeconds: number("awaySeconds", kind), stalled: stalled)
    if kind == .slowReaders, stalled >= sessions, sessions > 0 {
      problems.append("stalled must be below sessions, somebody has to be measured")
    }
    if kind != .echo, scenario.sessions + scenario.senders > 19_500 {
      problems.append("sessions and senders together are above 19500")
    }
    if kind == .reconnectStorm, scenario.awaySeconds >= scenario.seconds {
      problems.append("awaySeconds must be below seconds, or nobody comes back")
    }
    guard problems.isEmpty else { throw ScenarioProblems(problems) }
    return scenario
  }

  /// The field's number for this kind, 0 where it has none; remembers what is wrong with it.
  private mutating func number(_ name: String, _ kind: ScenarioKind) -> Int {
    guard let field = Self.fields.first(where: { $0.name == name && $0.kinds.contains(kind) }) else { return 0 }
    guard let value = numbers[name] else {
      if field.standard == nil { problems.append("\(name) is missing") }
      return field.standard ?? 0
    }
    if !field.range.contains(value) {
      problems.append("\(name) must be from \(field.range.lowerBound) to \(field.range.upperBound)")
    }
    return value
  }

  private mutating func pace(_ kind: ScenarioKind) -> Pace? {
    guard kind.sends else { return nil }
    let rate = number("rate", kind)
    let inFlight = number("inFlight", kind)
    let isRated = numbers["rate"] != nil
    if Self.choosing.contains(kind) {
      if isRated == (numbers["inFlight"] != nil) { problems.append("exactly one of rate and inFlight is needed") }
    } else if !isRated {
      problems.append("rate is missing")
    }
    return isRated ? .rate(rate) : .inFlight(inFlight)
  }
}
