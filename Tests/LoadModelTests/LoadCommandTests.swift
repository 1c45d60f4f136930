import LoadModel
import Testing

@Suite struct LoadCommandTests {
  @Test func everyFlagIsTaken() {
    var options = RunOptions()
    options.scenarioPath = "storm.json"
    options.target = Target(host: "10.0.0.7", port: 9000, isSecure: false)
    options.pid = 42
    options.jsonPath = "-"
    options.limitsPath = "limits.json"
    options.polls = true
    options.deflate = true
    options.sources = 3
    options.numbers = ["sessions": 5, "awaySeconds": 2, "payloadBytes": 1024]
    let command = LoadCommand.parse(
      "run --sessions 5 storm.json --target ws://10.0.0.7:9000 --pid 42 --json - --limits limits.json --poll --deflate --sources 3 --away 2 --payload 1024"
        .split(separator: " ").map(String.init))
    #expect(command == .run(options))
  }

  @Test func helpWinsOverAll() {
    #expect(LoadCommand.parse(["run", "x.json", "--help"]) == .help)
    #expect(LoadCommand.parse(["help"]) == .help)
  }

  @Test(
    arguments: [
      ([], ["what to do? run SCENARIO.json; see --help"]),
      (["fly"], ["no command fly; there is: run SCENARIO.json"]),
      (["run"], ["which scenario? run SCENARIO.json"]),
      (["run", "a", "b"], ["one scenario a run, not 2"]),
      (["run", "a", "--fast"], ["no flag --fast; see --help"]),
      (["run", "a", "--rate"], ["--rate needs a value"]),
      (["run", "a", "--rate", "x"], ["--rate needs a whole number, not x"]),
      (["run", "a", "--pid", "-1"], ["--pid needs a process number, not -1"]),
      (["run", "a", "--sources", "0"], ["--sources must be from 1 to 250"]),
      (["run", "a", "--target", "http://x"], ["--target must look like ws://HOST:PORT, not http://x"]),
      (
        ["run", "--fast", "--pid", "x"],
        ["no flag --fast; see --help", "--pid needs a process number, not x", "which scenario? run SCENARIO.json"]
      ),
    ] as [([String], [String])])
  func whatIsWrongIsSaid(arguments: [String], sentences: [String]) {
    #expect(LoadCommand.parse(arguments) == .refused(sentences))
  }

  @Test func targetsAreRead() {
    #expect(Target("ws://localhost") == Target(host: "localhost", port: 80, isSecure: false))
    #expect(Target("wss://a.example/") == Target(host: "a.example", port: 443, isSecure: true))
    #expect(Target("ws://[::1]:8080") == Target(host: "::1", port: 8080, isSecure: false))
    #expect(Target("ws://[::1]:8080")?.authority == "[::1]:8080")
    for wrong in ["ws://", "ws://:80", "ws://a:0", "ws://a:65536", "ws://a/path", "ws://[::1", "a:80", "ws://u@a"] {
      #expect(Target(wrong) == nil, "\(wrong)")
    }
  }
}
