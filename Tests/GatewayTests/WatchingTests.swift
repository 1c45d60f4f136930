import Bus
import Chat
import Foundation
import HTTP1
import Store
import Telemetry
import Testing
import WebSocket
import Wire

@testable import Gateway

/// A store that says what a test wants it to say, and counts how often it was asked to prove itself.
private final class MoodyWriter: StoreWriter {
  var isThere = true
  var commits = true
  private(set) var probes = 0

  func commit(_ batch: [Mutation], at now: UnixSeconds) throws(StoreFailure) -> Commit {
    throw StoreFailure(.unavailable, "The disk is full.")
  }

  func isWritable() -> Bool {
    probes += 1
    return commits
  }

  func isInPlace() -> Bool { isThere }
}

@Suite("S7 reload, S8 metrics and S10 readiness of a gateway without sockets")
struct WatchingTests {
  private func metric(_ stage: Stage, _ name: String) -> String? {
    let lines = stage.counters.registry.prometheusText().split(separator: "\n")
    return lines.first { $0.hasPrefix(name + " ") }.map { String($0.dropFirst(name.count + 1)) }
  }

  private func phase(_ stage: Stage, _ name: String) -> String? {
    metric(stage, "threadcast_connections_by_phase{phase=\"\(name)\"}")
  }

  @Test func S7_aSessionKeepsWhatItsHelloToldAndTheNextGetsTheNewSettings() throws {
    let stage = try Stage()
    let old = Peer(stage)
    let oldHello = try old.connect("dev-ann")
    #expect(oldHello.int("data.limits.textBytes") == 16_384 && oldHello.int("data.heartbeatSeconds") == 25)
    // Upgraded before, connected after: it is held to what it is told, and is told what it is held to.
    let between = Peer(stage)
    try between.upgrade()

    var settings = GatewaySettings()
    settings.limits.textBytes = 8
    settings.limits.frameBytes = 1_024
    settings.heartbeatSeconds = 100
    stage.post(.reload(settings))
    stage.settle()

    let new = Peer(stage)
    let newHello = try new.connect("dev-bob")
    #expect(newHello.int("data.limits.textBytes") == 8 && newHello.int("data.limits.frameBytes") == 1_024)
    #expect(newHello.int("data.heartbeatSeconds") == 100)
    between.text(#"{"id":1,"op":"connect","data":{"token":"dev-cyd"}}"#)
    #expect(try #require(between.messages().first).int("data.limits.textBytes") == 16_384)

    try old.say("longer than eight", to: "team")
    try between.say("longer than eight", to: "team")
    let refused = try new.call(
      "message.send", #"{"receiverUid":"team","receiverType":"group","text":"longer than eight"}"#)
    #expect(refused.string("error.code") == "ERR_TOO_LARGE")
    try new.say("short", to: "team")

    try old.say(String(repeating: "x", count: 2_000), to: "team")
    new.text("{\"id\":2,\"op\":\"ping\",\"data\":{\"x\":\"" + String(repeating: "x", count: 2_000) + "\"}}")
    #expect(new.closed() == 1009)

    stage.advance(seconds: 30)
    _ = (old.messages(), between.messages())
    #expect(old.pings == 1 && between.pings == 1)
  }

  @Test func S7_A4_theOriginListIsThatOfTheLastReload() throws {
    var settings = GatewaySettings()
    settings.origins = OriginPolicy(allowed: ["https://old.example"])
    let stage = try Stage(settings: settings)
    let before = Peer(stage)
    #expect(try before.upgrade(fields: ["Origin": "https://old.example"]).status == 101)
    settings.origins = OriginPolicy(allowed: ["https://new.example"])
    stage.post(.reload(settings))
    stage.settle()
    #expect(try Peer(stage).upgrade(fields: ["Origin": "https://old.example"]).status == 403)
    #expect(try Peer(stage).upgrade(fields: ["Origin": "https://new.example"]).status == 101)
    before.text(#"{"id":1,"op":"connect","data":{"token":"dev-ann"}}"#)
    #expect(try #require(before.messages().first).bool("ok") == true)
  }

  @Test func S7_everyShardGoesByTheNewSettingsOnce() throws {
    let stage = try Stage(shards: 3)
    var settings = GatewaySettings()
    settings.limits.tags = 1
    for shard in 0..<3 { stage.post(.reload(settings), toShard: shard) }
    stage.settle()
    for shard in 0..<3 {
      let peer = Peer(stage, shard: shard)
      #expect(try peer.connect("dev-ann").int("data.limits.tags") == 1)
    }
  }

  @Test func S8_connectionsAreCountedByWhatTheyDo() throws {
    let stage = try Stage()
    #expect(phase(stage, "request") == "0" && phase(stage, "live") == "0")
    let waiting = Peer(stage)
    let live = Peer(stage)
    try live.connect("dev-ann")
    let connecting = Peer(stage)
    try connecting.upgrade()
    #expect(phase(stage, "request") == "1" && phase(stage, "live") == "1" && phase(stage, "connecting") == "1")
    connecting.send(connecting.frame(.close, []))
    #expect(phase(stage, "connecting") == "0" && phase(stage, "closing") == "1")
    for peer in [waiting, live, connecting] { peer.vanish() }
    for name in ["request", "live", "connecting", "closing"] { #expect(phase(stage, name) == "0") }
    #expect(metric(stage, "threadcast_sessions") == "0")
  }

  @Test func S8_deflateTellsWhatItSaves() throws {
    let stage = try Stage()
    #expect(metric(stage, "threadcast_deflate_ratio") == "1")
    let contexts = try #require(metric(stage, "threadcast_deflate_contexts").flatMap { Int($0) })
    let ann = Peer(stage)
    let bob = Peer(stage)
    try ann.connect("dev-ann", offer: "permessage-deflate")
    try bob.connect("dev-bob", offer: "permessage-deflate")
    try ann.say(String(repeating: "again and ", count: 400), to: "team")
    let before = try #require(metric(stage, "threadcast_deflate_input_bytes_total").flatMap { Int($0) })
    let after = try #require(metric(stage, "threadcast_deflate_output_bytes_total").flatMap { Int($0) })
    #expect(before > 4_000 && after < before / 2)
    let ratio = try #require(metric(stage, "threadcast_deflate_ratio").flatMap { Double($0) })
    #expect(abs(ratio - Double(after) / Double(before)) < 1e-9)
    #expect(metric(stage, "threadcast_deflate_contexts").flatMap { Int($0) } == contexts + 1)
  }

  @Test func S8_aCommitCountsItsChanges() throws {
    let stage = try Stage()
    let ann = Peer(stage)
    try ann.connect("dev-ann")
    for _ in 0..<5 {
      ann.text(#"{"id":1,"op":"message.send","data":{"receiverUid":"team","receiverType":"group","text":"x"}}"#)
    }
    stage.settle()
    #expect(metric(stage, "threadcast_store_batch_changes_count") == "1")
    #expect(metric(stage, "threadcast_store_batch_changes_sum") == "5")
    #expect(metric(stage, "threadcast_store_batch_changes_bucket{le=\"4\"}") == "0")
    #expect(metric(stage, "threadcast_store_batch_changes_bucket{le=\"8\"}") == "1")
    #expect(metric(stage, "threadcast_messages_total") == "5")
  }

  private func committer(_ readiness: Readiness, _ log: Log) -> Committer {
    Committer(
      shards: [], bus: InProcessBus(), node: NodeID("test"),
      counters: GatewayCounters(registry: MetricRegistry(), log: log, shards: 0), readiness: readiness,
      settings: GatewaySettings())
  }

  @Test func S10_aStoreThatIsGoneIsNoticedWithoutASendAndItsReturnToo() {
    let readiness = Readiness()
    let committer = committer(readiness, Log(sink: { _ in true }))
    let writer = MoodyWriter()
    committer.look(at: writer, quietSeconds: 1)
    #expect(readiness.isReady && writer.probes == 0)
    writer.isThere = false
    committer.look(at: writer, quietSeconds: 2)
    #expect(!readiness.isReady && writer.probes == 0)
    writer.isThere = true
    writer.commits = false
    committer.look(at: writer, quietSeconds: 3)
    #expect(!readiness.isReady && writer.probes == 1)
    writer.commits = true
    committer.look(at: writer, quietSeconds: 4)
    #expect(readiness.isReady && writer.probes == 2)
  }

  @Test func S10_aStoreThatCannotCommitIsNoticedWithinTenQuietSeconds() {
    let readiness = Readiness()
    let lines = Counter()
    let committer = committer(
      readiness,
      Log(sink: { line in
        if String(decoding: line, as: UTF8.self).contains(" store_") { lines.increment() }
        return true
      }))
    let writer = MoodyWriter()
    writer.commits = false
    for second in 1..<Committer.probeSeconds { committer.look(at: writer, quietSeconds: second) }
    #expect(readiness.isReady && writer.probes == 0)
    committer.look(at: writer, quietSeconds: Committer.probeSeconds)
    #expect(!readiness.isReady && writer.probes == 1)
    for second in 11..<15 { committer.look(at: writer, quietSeconds: second) }
    // One line when it broke, none while it stays broken, one when it works again.
    #expect(lines.value == 1)
    writer.commits = true
    committer.look(at: writer, quietSeconds: 15)
    #expect(readiness.isReady && lines.value == 2)
  }

  @Test func H_everyResponseIsDatedAndA401SaysHow() throws {
    let stage = try Stage()
    let peer = Peer(stage)
    peer.send("GET /v1/users/ann HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let refused = peer.rawText()
    #expect(refused.hasPrefix("HTTP/1.1 401 ") && refused.contains("\r\nWWW-Authenticate: Bearer\r\n"))
    peer.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let fine = peer.rawText()
    #expect(fine.hasPrefix("HTTP/1.1 200 ") && !fine.contains("WWW-Authenticate"))
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(identifier: "GMT")
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    for text in [refused, fine] {
      let field = try #require(text.split(separator: "\r\n").first { $0.hasPrefix("Date: ") })
      let date = try #require(formatter.date(from: String(field.dropFirst(6))), "\(field)")
      #expect(abs(date.timeIntervalSinceNow) < 30)
    }
  }
}
