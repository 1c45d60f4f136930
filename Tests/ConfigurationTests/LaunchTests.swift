import Testing

@testable import Configuration

/// Reads a launch with the file `threadcast.yaml` of this text, when there is one.
private func launch(
  _ arguments: [String], environment: [String: String] = [:], file: String? = nil
) -> Launch {
  Launch.read(arguments: arguments, environment: environment) { path in
    guard path == "threadcast.yaml", let file else {
      return .failure(ConfigurationFile.Failure(reason: "No such file or directory"))
    }
    return .success(Array(file.utf8))
  }
}

private func settings(
  _ arguments: [String], environment: [String: String] = [:], file: String? = nil
) throws -> Settings {
  let launch = launch(["serve"] + arguments, environment: environment, file: file)
  guard case .serve(let settings) = launch else {
    Issue.record("\(launch)")
    throw Refused()
  }
  return settings
}

private struct Refused: Error {}

private func problems(
  _ arguments: [String], environment: [String: String] = [:], file: String? = nil
) -> [String] {
  guard case .refused(let problems) = launch(arguments, environment: environment, file: file) else { return [] }
  return problems.map(\.description)
}

@Suite("S2 command line, environment and file")
struct PrecedenceTests {
  @Test func S2_defaultsAreThoseOfTheContract() throws {
    let settings = try settings([])
    #expect(settings.listen == [.tcp(host: "127.0.0.1", port: 8080)])
    #expect(settings.data == "./data")
    #expect(!settings.dev && !settings.echo && !settings.tls.isOn)
    #expect(settings.heartbeatSeconds == 25)
    #expect(settings.connectSeconds == 5)
  }

  @Test func M5_defaultLimitsAreThoseOfTheContract() throws {
    let limits = try settings([]).limits
    #expect(limits.frameBytes == 65_536)
    #expect(limits.textBytes == 16_384)
    #expect(limits.metadataBytes == 10_240)
    #expect(limits.customDataBytes == 10_240)
    #expect(limits.tags == 25)
    #expect(limits.tagCharacters == 100)
    #expect(limits.attachments == 10)
    #expect(limits.jsonDepth == 32)
    #expect(limits.bodyBytes == 1_048_576)
    #expect(limits.headBytes == 16_384)
  }

  @Test(arguments: [
    (flag: "--data=/flag", variable: "/variable", file: "data: /file", expected: "/flag"),
    (flag: "", variable: "/variable", file: "data: /file", expected: "/variable"),
    (flag: "", variable: "", file: "data: /file", expected: "/file"),
    (flag: "", variable: "", file: "echo: true", expected: "./data"),
  ])
  func S2_flagsWinOverEnvironmentWinsOverFile(row: (flag: String, variable: String, file: String, expected: String))
    throws
  {
    let settings = try settings(
      ["--config", "threadcast.yaml"] + (row.flag.isEmpty ? [] : [row.flag]),
      environment: ["THREADCAST_DATA": row.variable], file: row.file)
    #expect(settings.data == row.expected)
  }

  @Test func S2_everyFlagOfTheContractIsRead() throws {
    let settings = try settings([
      "--listen", "127.0.0.1:0", "--listen", "unix:/run/threadcast.sock", "--data", "/var/lib/threadcast",
      "--tls-cert", "c.pem", "--tls-key", "k.pem", "--dev", "--echo", "--log-format", "json", "--log-level=debug",
      "--loops", "3",
    ])
    #expect(settings.listen == [.tcp(host: "127.0.0.1", port: 0), .unix(path: "/run/threadcast.sock")])
    #expect(settings.data == "/var/lib/threadcast")
    #expect(settings.tls.certificate == "c.pem")
    #expect(settings.tls.key == "k.pem")
    #expect(settings.dev && settings.echo)
    #expect(settings.log.format == .json)
    #expect(settings.log.level == .debug)
    #expect(settings.loops == 3)
  }

  @Test func S2_listsComeFromEverySource() throws {
    let file = "listen:\n  - 127.0.0.1:1\n  - 127.0.0.1:2\nallowedOrigins: [https://a.example, https://b.example]\n"
    let fromFile = try settings(["--config=threadcast.yaml"], file: file)
    #expect(fromFile.listen == [.tcp(host: "127.0.0.1", port: 1), .tcp(host: "127.0.0.1", port: 2)])
    #expect(fromFile.allowedOrigins == ["https://a.example", "https://b.example"])
    let fromVariable = try settings([], environment: ["THREADCAST_LISTEN": "127.0.0.1:3, [::1]:4"])
    #expect(fromVariable.listen == [.tcp(host: "127.0.0.1", port: 3), .tcp(host: "::1", port: 4)])
    let single = try settings(["--config=threadcast.yaml"], file: "listen: 127.0.0.1:5")
    #expect(single.listen == [.tcp(host: "127.0.0.1", port: 5)])
  }

  @Test func S2_theFileMayBeNamedByAVariable() throws {
    let settings = try settings(
      [], environment: ["THREADCAST_CONFIG": "threadcast.yaml"], file: "limits:\n  tags: 3\n  jsonDepth: 8\n")
    #expect(settings.limits.tags == 3)
    #expect(settings.limits.jsonDepth == 8)
  }

  @Test func S2_aVariableCarriesItsPath() {
    #expect(Key.at(path: "limits.frameBytes")?.variable == "THREADCAST_LIMITS_FRAME_BYTES")
    #expect(Key.at(path: "tls.certificate")?.variable == "THREADCAST_TLS_CERTIFICATE")
    #expect(Key.at(path: "heartbeatSeconds")?.variable == "THREADCAST_HEARTBEAT_SECONDS")
  }

  @Test func S2_eachKeyStandsOnce() {
    #expect(Set(Key.all.map(\.path)).count == Key.all.count)
    #expect(Set(Key.all.map(\.variable)).count == Key.all.count)
    let flags = Key.all.compactMap(\.flag)
    #expect(Set(flags).count == flags.count)
  }

  @Test func S2_helpNamesEveryFlagKeyAndVariable() {
    guard case .help(let text) = launch(["serve", "--help"]) else {
      Issue.record("no help")
      return
    }
    for key in Key.all {
      #expect(text.contains(key.path) && text.contains(key.variable))
      if let flag = key.flag { #expect(text.contains("--\(flag)")) }
    }
    #expect(text.contains("Example: threadcast serve"))
  }

  @Test func S5_versionAndHelp() {
    #expect(launch(["version"]) == .version(asJSON: false))
    #expect(launch([]) == .help(HelpText.program))
    #expect(launch(["--help"]) == .help(HelpText.program))
    #expect(launch(["version", "--help"]) == .help(CommandForm.version.help))
  }
}

@Suite("S6 wrong configuration lists every problem")
struct ProblemTests {
  @Test func S6_everyProblemOfEverySourceIsReportedAtOnce() {
    let found = problems(
      ["serve", "--config", "threadcast.yaml", "--lisen", "127.0.0.1:1", "--loops", "many"],
      environment: ["THREADCAST_READERS": "0", "THREADCAST_HEARTBEAT_SECOND": "5"],
      file: "limits:\n  frameByte: 9\n  tags: 9000\nlog:\n  level: verbose\n")
    #expect(
      found == [
        "--lisen: is not a known flag; did you mean --listen?",
        "limits.frameByte (line 2): is not a known key; did you mean limits.frameBytes?",
        "THREADCAST_HEARTBEAT_SECOND: is not a known variable; did you mean THREADCAST_HEARTBEAT_SECONDS?",
        "--loops: 'many' is no whole number; use 0 to 256",
        "THREADCAST_READERS: 0 is below 1; use 1 to 64",
        "log.level (line 5): 'verbose' is not known; use one of error, warning, info, debug",
        "limits.tags (line 3): 9000 is above 1000; use 0 to 1000",
      ])
    #expect(Launch.refusedStatus == 78)
  }

  @Test(arguments: [
    (["serv"], "serv: is not a known command; did you mean threadcast serve?"),
    (["banana"], "banana: is not a known command; see threadcast --help for the commands"),
    (["serve", "--dve"], "--dve: is not a known flag; did you mean --dev?"),
    (["serve", "--zzzzzz"], "--zzzzzz: is not a known flag; see threadcast serve --help for the flags"),
    (["serve", "--data"], "--data: needs a value; write --data DIR"),
    (["serve", "--data="], "--data: needs a value; write --data DIR"),
    (["serve", "--data", "--dev"], "--data: needs a value; write --data DIR"),
    (["serve", "--data", "a", "--data", "b"], "--data: takes one value, not 2; keep one"),
    (["serve", "--config"], "--config: needs a value; write --config FILE"),
    (["serve", "--config", "x.yaml"], "--config: x.yaml: No such file or directory; check the path and its rights"),
    (["serve", "--dev=maybe"], "--dev: 'maybe' is neither true nor false; write true or false"),
    (["serve", "now"], "now: is not expected here; flags begin with two dashes"),
    (["version", "now"], "now: is not expected after version; take it out"),
    (["serve", "--tls-cert", "c.pem"], "--tls-cert: is given without its key; add tls.key (--tls-key FILE)"),
    (
      ["serve", "--tls-key", "k.pem"],
      "--tls-key: is given without a certificate; add tls.certificate (--tls-cert FILE)"
    ),
    (["serve", "--log-level", "wraning"], "--log-level: 'wraning' is not known; did you mean warning?"),
    (["serve", "--loops", "99999999999999999999"], "--loops: '99999999999999999999' is no whole number; use 0 to 256"),
    (["serve", "--loops", "-1"], "--loops: -1 is below 0; use 0 to 256"),
  ])
  func S6_aWrongCommandLineSaysWhatToDo(arguments: [String], expected: String) {
    #expect(problems(arguments) == [expected])
  }

  @Test(arguments: [
    (
      "limits: 5",
      "limits (line 1): is a section, not a value; its keys are frameBytes, textBytes, metadataBytes, customDataBytes, tags, tagCharacters, attachments, jsonDepth, bodyBytes, headBytes, outboundBytes, outboundTotalBytes, resumeSeconds, resumeEvents"
    ),
    ("data:\n  path: x", "data.path (line 2): data takes a value, not a section; write data: VALUE"),
    ("data:", "data (line 1): has no value; write one or take the line out"),
    ("data: ~", "data (line 1): has no value; write one or take the line out"),
    ("data: [a, b]", "data (line 1): takes one value, not a list; write it without the dash or brackets"),
    ("dev: yes", "dev (line 1): 'yes' is neither true nor false; write true or false"),
    ("\n\ndata: a\ndata: b", "data (line 4): stands twice; keep one"),
    ("listen: []", "listen (line 1): is empty; write 127.0.0.1:8080"),
    ("listen: [[a]]", "listen (line 1): has an entry that is no plain value"),
    ("a: {b: {c: {d: {e: 1}}}}", "a.b.c.d (line 1): is nested too deep; no key has that many levels"),
    ("- a\n- b", "configuration file (line 1): is not a list of keys and values; write listen: 127.0.0.1:8080"),
    ("a word", "configuration file (line 1): is not a list of keys and values; write listen: 127.0.0.1:8080"),
    ("dev: true\n---\ndev: false", "configuration file (line 1): holds more than one document; keep the first"),
    (
      "limits:\n  textBytes: 70000",
      "limits.textBytes (line 2): 70000 does not fit in a frame of 65536; raise limits.frameBytes or lower limits.textBytes"
    ),
    ("? [a]\n: b", "configuration file (line 1): has a key that is no word; write key: value"),
    ("publicNames: ['']", "publicNames (line 1): has an empty entry; take it out"),
    ("data: ''", "data (line 1): is empty; leave the key out"),
  ])
  func S6_aWrongFileNamesKeyAndLine(file: String, expected: String) {
    #expect(problems(["serve", "--config=threadcast.yaml"], file: file) == [expected])
  }

  @Test(arguments: ["a: [}", "a: b: c", "\ta: 1", "a: 'x", "a: &x *y", "%YAML 9\n", "a: \"\\q\""])
  func S6_whatIsNoYAMLIsOneProblemWithItsLine(file: String) {
    let found = problems(["serve", "--config=threadcast.yaml"], file: file)
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("configuration file (line 1): is not YAML: ") == true)
  }

  @Test func S6_badBytesAndHugeFilesAreRefused() {
    for bytes in [[UInt8](repeating: 0xFF, count: 9), Array("data: \u{0}".utf8), [0xC3]] {
      #expect(YAMLDocument.parse(bytes).problems.count == 1)
      #expect(YAMLDocument.parse(bytes).entries.isEmpty)
    }
    let huge = [UInt8](repeating: 0x20, count: YAMLDocument.largestFileBytes + 1)
    #expect(YAMLDocument.parse(huge).problems.map(\.what) == ["is larger than 262144 bytes"])
  }

  @Test func S6_anchorsThatMultiplyThemselvesAreBounded() {
    // Nine aliases a level: taken literally, 9^4 entries.
    var file = "a: &a {" + (0..<9).map { "k\($0): 1" }.joined(separator: ", ") + "}\n"
    for (from, to) in [("a", "b"), ("b", "c"), ("c", "d")] {
      file += "\(to): &\(to) {" + (0..<9).map { "k\($0): *\(from)" }.joined(separator: ", ") + "}\n"
    }
    let document = YAMLDocument.parse(Array(file.utf8))
    #expect(document.entries.count <= 1_000)
    #expect(YAMLDocument.parse(Array("a: &a {b: *a}".utf8)).problems.map(\.what) == ["is nested too deep"])
  }

  @Test func S6_anEmptyFileIsFine() throws {
    for file in ["", "\n", "# only words\n", "---\n", "{}"] {
      #expect(try settings(["--config=threadcast.yaml"], file: file) == Settings())
    }
  }

  @Test func S6_variablesThatOthersSetAreLeftAlone() throws {
    let environment = [
      "THREADCAST_SERVICE_HOST": "10.0.0.1", "THREADCAST_PORT": "tcp://10.0.0.1:80", "THREADCAST_DATA": "",
      "PATH": "/bin",
    ]
    #expect(try settings([], environment: environment) == Settings())
  }

  @Test func S6_aMessageHoldsNoControlCharacters() {
    #expect(
      problems(["serve", "--loops", "\u{1B}[2J"]) == ["--loops: '?[2J' is no whole number; use 0 to 256"])
  }
}

@Suite("S3 dev listens on loopback only")
struct DevelopmentTests {
  @Test(arguments: ["0.0.0.0:8080", "*:1", "192.168.1.4:80", "[::]:80", "[2001:db8::1]:80", "[::ffff:127.0.0.1]:80"])
  func S3_devRefusesAnythingElse(address: String) {
    let found = problems(["serve", "--dev", "--listen", "127.0.0.1:0", "--listen", address])
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("--listen: ") == true)
    #expect(found.first?.hasSuffix("listen on 127.0.0.1 or leave dev out") == true)
    #expect(problems(["serve", "--listen", address]).isEmpty)
  }

  @Test(arguments: ["127.0.0.1:0", "127.8.9.1:80", "localhost:80", "[::1]:80", "[0:0:0:0:0:0:0:1]:80", "unix:/x"])
  func S3_devAcceptsLoopback(address: String) {
    #expect(problems(["serve", "--dev", "--listen", address]).isEmpty)
  }
}

@Suite("S2 addresses")
struct ListenAddressTests {
  @Test(arguments: [
    ("127.0.0.1:8080", ListenAddress.tcp(host: "127.0.0.1", port: 8080)),
    ("0.0.0.0:65535", .tcp(host: "0.0.0.0", port: 65_535)),
    ("*:80", .tcp(host: "0.0.0.0", port: 80)),
    ("localhost:0", .tcp(host: "127.0.0.1", port: 0)),
    ("[::1]:443", .tcp(host: "::1", port: 443)),
    ("unix:/run/a:b.sock", .unix(path: "/run/a:b.sock")),
  ])
  func S2_addressesAreRead(text: String, expected: ListenAddress) {
    #expect(ListenAddress.parse(text) == .success(expected))
  }

  @Test(arguments: [
    ("", "has no port", "write 127.0.0.1:8080"),
    ("8080", "has no address", "write 127.0.0.1:8080"),
    (":8080", "has no address", "write 127.0.0.1:8080, or 0.0.0.0:8080 for every interface"),
    ("127.0.0.1", "has no port", "write 127.0.0.1:8080"),
    ("127.0.0.1:", "has no port from 0 to 65535", "write 127.0.0.1:8080"),
    ("127.0.0.1:65536", "has no port from 0 to 65535", "write 127.0.0.1:8080"),
    ("127.0.0.1:-1", "has no port from 0 to 65535", "write 127.0.0.1:8080"),
    ("127.0.0.1:+1", "has no port from 0 to 65535", "write 127.0.0.1:8080"),
    ("127.1:80", "names a host; only address literals can be listened on", "write 127.0.0.1:80"),
    ("chat.example:80", "names a host; only address literals can be listened on", "write 127.0.0.1:80"),
    ("::1:80", "has an IPv6 address without brackets", "write [::1]:80"),
    ("[::g]:80", "is no IPv6 address", "write [::1]:80"),
    ("unix:", "has no path", "write unix:/run/threadcast.sock"),
    ("unix:/" + String(repeating: "x", count: 107), "is no usable socket path", "use at most 107 bytes"),
  ])
  func S6_addressesThatAreNoneSayWhy(text: String, what: String, suggestion: String) {
    #expect(ListenAddress.parse(text) == .failure(.init(what: what, suggestion: suggestion)))
  }

  @Test func S6_anAddressTwiceIsAProblemAndTwoFreePortsAreNot() {
    #expect(
      problems(["serve", "--listen", "127.0.0.1:1", "--listen", "localhost:1"]) == [
        "--listen: 127.0.0.1:1 stands twice; keep one"
      ])
    #expect(problems(["serve", "--listen", "127.0.0.1:0", "--listen", "127.0.0.1:0"]).isEmpty)
  }
}

@Suite("S6 the nearest word")
struct NearestTests {
  @Test(arguments: [
    ("kitten", "sitting", 3), ("", "abc", 3), ("abc", "", 3), ("dev", "dev", 0), ("dve", "dev", 1), ("DEV", "dev", 0),
    ("listen", "lisen", 1),
  ])
  func S6_editsAreCounted(first: String, second: String, expected: Int) {
    #expect(Nearest.edits(from: first, to: second) == expected)
  }

  @Test func S6_nothingNearIsNothing() {
    #expect(Nearest.to("zzzzzz", among: ["dev", "echo", "listen"]) == nil)
    #expect(Nearest.to("x", among: []) == nil)
  }
}
