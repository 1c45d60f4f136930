import Testing

@testable import Configuration

private func launch(_ arguments: [String], environment: [String: String] = [:], file: String? = nil) -> Launch {
  Launch.read(arguments: arguments, environment: environment) { path in
    guard path == "threadcast.yaml", let file else {
      return .failure(ConfigurationFile.Failure(reason: "No such file or directory"))
    }
    return .success(Array(file.utf8))
  }
}

private func problems(_ arguments: [String], environment: [String: String] = [:], file: String? = nil) -> [String] {
  guard case .refused(let problems) = launch(arguments, environment: environment, file: file) else { return [] }
  return problems.map(\.description)
}

@Suite("S5 subcommands")
struct CommandTests {
  @Test(arguments: [
    (["token", "mint", "--uid", "ann"], Command.mintToken(uid: "ann", ttlSeconds: nil)),
    (["token", "mint", "--uid=ann", "--ttl", "90s"], .mintToken(uid: "ann", ttlSeconds: 90)),
    (["token", "mint", "--ttl", "15m", "--uid", "ann"], .mintToken(uid: "ann", ttlSeconds: 900)),
    (["token", "mint", "--uid", "ann", "--ttl", "24h"], .mintToken(uid: "ann", ttlSeconds: 86_400)),
    (["token", "mint", "--uid", "ann", "--ttl", "36525d"], .mintToken(uid: "ann", ttlSeconds: 3_155_760_000)),
    (["token", "revoke"], .revokeToken),
    (["key", "mint", "--scope", "fullAccess"], .mintKey(scope: "fullAccess", name: "")),
    (["key", "mint", "--scope", "authOnly", "--name", "login page"], .mintKey(scope: "authOnly", name: "login page")),
    (["key", "list"], .listKeys),
    (["key", "revoke", "3f9a01c25b7e"], .revokeKey(id: "3f9a01c25b7e")),
    (["migrate"], .migrate),
    (["backup", "copy.sqlite"], .backup(file: "copy.sqlite", overwrites: false)),
    (["backup", "--force", "copy.sqlite"], .backup(file: "copy.sqlite", overwrites: true)),
  ])
  func S5_commandsAreRead(arguments: [String], expected: Command) {
    #expect(launch(arguments + ["--data", "d"]) == .run(expected, data: "d", asJSON: false))
    #expect(launch(arguments + ["--json"]) == .run(expected, data: "./data", asJSON: true))
  }

  @Test func S5_theDataFolderComesFromTheStrongestSource() {
    let file = "data: /file\n"
    let list = Command.listKeys
    #expect(
      launch(["key", "list", "--config", "threadcast.yaml"], file: file) == .run(list, data: "/file", asJSON: false))
    #expect(
      launch(["key", "list"], environment: ["THREADCAST_CONFIG": "threadcast.yaml"], file: file)
        == .run(list, data: "/file", asJSON: false))
    #expect(
      launch(["key", "list", "--config=threadcast.yaml"], environment: ["THREADCAST_DATA": "/variable"], file: file)
        == .run(list, data: "/variable", asJSON: false))
  }

  /// A wrong settings file must not stand in the way of a backup, unless it has to say where the data is.
  @Test func S5_aNamedFolderReadsNoSettings() {
    let wrong = "limits:\n  tags: 9000\n"
    let arguments = ["backup", "copy", "--config", "threadcast.yaml"]
    #expect(
      launch(arguments + ["--data", "d"], file: wrong)
        == .run(.backup(file: "copy", overwrites: false), data: "d", asJSON: false))
    #expect(problems(arguments, file: wrong) == ["limits.tags (line 2): 9000 is above 1000; use 0 to 1000"])
  }

  @Test func S5_checkConfigTakesWhatServeTakes() throws {
    let launched = launch(
      ["check-config", "--config", "threadcast.yaml", "--loops", "3", "--json"], file: "limits:\n  tags: 3\n")
    guard case .checked(let settings, asJSON: true) = launched else {
      Issue.record("\(launched)")
      return
    }
    #expect(settings.loops == 3 && settings.limits.tags == 3)
    let changed = settings.entries.filter { !$0.isDefault }
    #expect(changed.map(\.key) == ["loops", "limits.tags"])
    #expect(changed.map(\.value) == [.number(3), .number(3)])
    #expect(settings.entries.count == Key.all.count)
    let listen = try #require(settings.entries.first { $0.key == "listen" })
    #expect(listen.value == .list(["127.0.0.1:8080"]) && listen.text == "[\"127.0.0.1:8080\"]")
  }

  @Test func S6_checkConfigListsEveryProblem() {
    #expect(
      problems(["check-config", "--config=threadcast.yaml", "--lopps", "3"], file: "limits:\n  tag: 3\ndev: maybe\n")
        == [
          "--lopps: is not a known flag; did you mean --loops?",
          "limits.tag (line 2): is not a known key; did you mean limits.tags?",
          "dev (line 3): 'maybe' is neither true nor false; write true or false",
        ])
  }

  @Test(arguments: [
    (["token"], "token: needs another word; write threadcast token mint, threadcast token revoke"),
    (["token", "mnit"], "token mnit: is not a known command; did you mean threadcast token mint?"),
    (
      ["key", "zzzzzzzz"],
      "key zzzzzzzz: is not a known command; write threadcast key mint, threadcast key list, threadcast key revoke"
    ),
    (["tokn", "mint"], "tokn: is not a known command; did you mean threadcast token?"),
    (["check-conf"], "check-conf: is not a known command; did you mean threadcast check-config?"),
    (["migrate", "--dta", "x"], "--dta: is not a known flag; did you mean --data?"),
    (["token", "mint"], "--uid: is missing; see the example in --help"),
    (["token", "mint", "--uid"], "--uid: needs a value; write --uid UID"),
    (["token", "mint", "--uid", "a", "--uid", "b"], "--uid: takes one value, not 2; keep one"),
    (
      ["token", "mint", "--uid", "a", "--ttl", "soon"],
      "--ttl: 'soon' is no time to live; write 90s, 15m, 24h or 30d, up to 36525d"
    ),
    (["key", "mint"], "--scope: is missing; see the example in --help"),
    (["key", "mint", "--scope", "fullaccess"], "--scope: 'fullaccess' is not known; did you mean fullAccess?"),
    (["key", "mint", "--scope", "root"], "--scope: 'root' is not known; use fullAccess or authOnly"),
    (
      ["key", "mint", "--scope", "authOnly", "--name", String(repeating: "n", count: 101)],
      "--name: is no name; use at most 100 bytes without control characters"
    ),
    (["key", "revoke"], "key revoke: needs a ID; write threadcast key revoke ID"),
    (["backup"], "backup: needs a FILE; write threadcast backup FILE"),
    (["backup", "a", "b"], "b: is not expected after a; take it out"),
    (["backup", "a", "--force=yes"], "--force: takes no value; write --force alone"),
    (["backup", "--frce", "a"], "--frce: is not a known flag; did you mean --force?"),
    (["version", "--jsn"], "--jsn: is not a known flag; did you mean --json?"),
    (["migrate", "now"], "now: is not expected here; flags begin with two dashes"),
  ])
  func S6_aWrongCommandSaysWhatToDo(arguments: [String], expected: String) {
    #expect(problems(arguments) == [expected])
  }

  @Test(arguments: [
    "0s", "0d", "-1h", "+1h", "1", "h", "1w", "36526d", "99999999999999999999d", "9223372036854775807d", "1 h",
  ])
  func S6_aTimeToLiveThatIsNone(text: String) {
    #expect(problems(["token", "mint", "--uid", "a", "--ttl=\(text)"]).count == 1)
  }

  @Test func S5_everyCommandHasHelpWithAnExample() {
    for form in CommandForm.all {
      guard case .help(let text) = launch(form.words + ["--help"]) else {
        Issue.record("\(form.path) has no help")
        continue
      }
      #expect(text.hasPrefix("Usage: threadcast \(form.path)"))
      #expect(text.contains("\nExample: threadcast \(form.path)"))
      for flag in form.flags { #expect(text.contains("--\(flag.name)")) }
      #expect(HelpText.program.contains("  \(form.path)"))
      #expect(launch(["help"] + form.words) == .help(text))
      // The example is a command line that works, but for the file that it may name.
      let example = form.example.split(separator: " ").dropFirst().prefix { $0 != "<" }.map(String.init)
      #expect(problems(example).allSatisfy { $0.hasPrefix("--config: ") })
    }
    #expect(launch(["token", "--help"]) == launch(["help", "token"]))
  }
}

@Suite("S6 a hostile settings file is bounded")
struct YAMLBoundTests {
  @Test(arguments: ["[", "{a: ", "- ", "? "])
  func S6_aDeeplyNestedFileIsRefusedAtOnce(bracket: String) {
    let bytes = Array(String(repeating: bracket, count: 200_000 / bracket.utf8.count).utf8)
    let begun = ContinuousClock.now
    let problems = YAMLDocument.parse(bytes).problems
    #expect(problems.count == 1)
    #expect(problems.first?.what.hasPrefix("is nested too deep") == true)
    #expect(ContinuousClock.now - begun < .seconds(10))
  }

  @Test func S6_manyAnchorsAreRefusedAtOnce() {
    let anchors = (0..<20_000).map { "- &a\($0) x" }.joined(separator: "\n")
    let begun = ContinuousClock.now
    #expect(YAMLDocument.parse(Array(anchors.utf8)).problems.map(\.what) == ["has too many parts"])
    #expect(ContinuousClock.now - begun < .seconds(10))
  }

  /// Empty mappings add no entry, so that the bound on entries would never stop them.
  @Test func S6_aliasesThatStandForMuchAreRefusedAtOnce() {
    var file = "a: &a {}\n"
    for (from, to) in [("a", "b"), ("b", "c"), ("c", "d")] {
      file += "\(to): &\(to) {" + (0..<1_300).map { "k\($0): *\(from)" }.joined(separator: ", ") + "}\n"
    }
    let begun = ContinuousClock.now
    #expect(YAMLDocument.parse(Array(file.utf8)).problems.map(\.what).contains("stands for too much"))
    #expect(ContinuousClock.now - begun < .seconds(10))
  }
}
