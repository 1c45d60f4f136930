import LoadModel
import Testing

@Suite struct ScenarioTests {
  private func read(_ text: String, _ overrides: [String: Int] = [:], deflate: Bool = false) throws -> Scenario {
    try ScenarioReader.read(Array(text.utf8), fallbackName: "file", overrides: overrides, deflate: deflate)
  }

  private func problems(_ text: String, _ overrides: [String: Int] = [:]) -> [String] {
    do {
      _ = try read(text, overrides)
      return []
    } catch let found as ScenarioProblems {
      return found.sentences
    } catch {
      return ["another error"]
    }
  }

  @Test func everyFieldIsRead() throws {
    let scenario = try read(
      """
      {"kind": "slow-readers", "name": "halls", "sessions": 200, "sessionsPerUser": 10, "senders": 3, "rate": 300,
       "payloadBytes": 4096, "deflate": true, "warmUpSeconds": 0, "seconds": 20, "connecting": 64, "stalled": 20}
      """)
    #expect(
      scenario
        == Scenario(
          kind: .slowReaders, name: "halls", sessions: 200, sessionsPerUser: 10, senders: 3, pace: .rate(300),
          payloadBytes: 4096, deflate: true, warmUpSeconds: 0, seconds: 20, connecting: 64, awaySeconds: 0, stalled: 20)
    )
  }

  @Test func whatIsNotSaidHasADefault() throws {
    let scenario = try read(#"{"kind": "fanout", "sessions": 5, "inFlight": 8}"#)
    #expect(
      scenario
        == Scenario(
          kind: .fanOut, name: "file", sessions: 5, sessionsPerUser: 16, senders: 1, pace: .inFlight(8),
          payloadBytes: 150, deflate: false, warmUpSeconds: 1, seconds: 10, connecting: 256, awaySeconds: 0, stalled: 0)
    )
  }

  @Test func idleSendsNothing() throws {
    #expect(try read(#"{"kind": "idle", "sessions": 19000}"#).pace == nil)
  }

  @Test func everyConnectionOfEchoSends() throws {
    #expect(try read(#"{"kind": "echo", "sessions": 100, "inFlight": 1}"#).senders == 100)
  }

  @Test func flagsReplaceNumbersAndOnePaceTheOther() throws {
    let scenario = try read(
      #"{"kind": "fanout", "sessions": 5, "inFlight": 8}"#, ["sessions": 7, "rate": 20], deflate: true)
    #expect(scenario.sessions == 7)
    #expect(scenario.pace == .rate(20))
    #expect(scenario.deflate)
  }

  @Test(arguments: [
    ("", ["the file is not JSON: empty"]),
    ("{", ["the file is not JSON: malformed"]),
    ("[]", ["the file must hold one JSON object"]),
    ("{}", ["kind is missing"]),
    (
      #"{"kind": "stampede"}"#,
      ["kind must be one of idle, fanout, fanout-echo, echo, reconnect-storm, slow-readers, durable-sends"]
    ),
    (#"{"kind": "idle"}"#, ["sessions is missing"]),
    (#"{"kind": "idle", "sessions": 0}"#, ["sessions must be from 1 to 19000"]),
    (#"{"kind": "idle", "sessions": "9"}"#, ["sessions must be a whole number", "sessions is missing"]),
    (#"{"kind": "idle", "sessions": 9, "rate": 5}"#, ["rate means nothing to idle"]),
    (#"{"kind": "idle", "sessions": 9, "deflate": 1}"#, ["deflate must be true or false"]),
    (#"{"kind": "idle", "sessions": 9, "name": 1}"#, ["name must be a text"]),
    (#"{"kind": "fanout", "sessions": 9}"#, ["exactly one of rate and inFlight is needed"]),
    (
      #"{"kind": "fanout", "sessions": 9, "rate": 1, "inFlight": 1}"#,
      ["exactly one of rate and inFlight is needed"]
    ),
    (#"{"kind": "fanout", "sessions": 9, "rate": 0}"#, ["rate must be from 1 to 1000000"]),
    (#"{"kind": "fanout", "sessions": 9, "inFlight": 257}"#, ["inFlight must be from 1 to 256"]),
    (#"{"kind": "fanout", "sessions": 9, "rate": 1, "payloadBytes": 39}"#, ["payloadBytes must be from 40 to 16384"]),
    (
      #"{"kind": "fanout", "sessions": 19000, "senders": 512, "rate": 1}"#,
      ["sessions and senders together are above 19500"]
    ),
    (
      #"{"kind": "reconnect-storm", "sessions": 9, "inFlight": 1}"#,
      ["inFlight means nothing to reconnect-storm", "rate is missing"]
    ),
    (
      #"{"kind": "reconnect-storm", "sessions": 9, "rate": 1, "seconds": 5, "awaySeconds": 5}"#,
      ["awaySeconds must be below seconds, or nobody comes back"]
    ),
    (
      #"{"kind": "slow-readers", "sessions": 9, "rate": 1, "stalled": 9}"#,
      ["stalled must be below sessions, somebody has to be measured"]
    ),
    (#"{"kind": "durable-sends", "inFlight": 1}"#, ["senders is missing"]),
    (#"{"kind": "durable-sends", "senders": 4, "inFlight": 1, "sessions": 21}"#, ["sessions must be from 0 to 20"]),
  ])
  func whatIsWrongIsSaid(text: String, sentences: [String]) {
    #expect(problems(text) == sentences)
  }

  @Test func allProblemsAreSaidAtOnce() {
    let found = problems(#"{"kind": "fanout", "size": 9, "senders": 0, "deflate": "yes"}"#)
    #expect(found.count == 5)
    #expect(found[0].hasPrefix("size is not known; there are awaySeconds, connecting, deflate"))
    #expect(found[1] == "deflate must be true or false")
    #expect(found.contains("sessions is missing"))
    #expect(found.contains("senders must be from 1 to 512"))
    #expect(found.contains("exactly one of rate and inFlight is needed"))
  }

  @Test func aFlagOutOfRangeIsRefusedLikeTheFile() {
    #expect(
      problems(#"{"kind": "idle", "sessions": 5}"#, ["sessions": 19_001]) == ["sessions must be from 1 to 19000"])
  }
}
