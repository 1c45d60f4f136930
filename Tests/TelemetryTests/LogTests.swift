import Telemetry
import Testing
import Workers

/// A log's lines and its clock.
private final class Page: Sendable {
  let lines = Guarded<[String]>([])
  let time = Guarded<Int64>(1_767_225_599_999)

  func log(_ format: LogFormat = .keyValue, level: LogLevel = .info, linesPerSecond: Int = 20) -> Log {
    let lines = lines
    let time = time
    return Log(
      level: level, format: format, linesPerSecond: linesPerSecond, unixMilliseconds: { time.withLock { $0 } },
      sink: { line in
        lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
        return true
      })
  }

  var text: [String] { lines.withLock { $0 } }
}

@Suite("S8 log lines")
struct LogTests {
  @Test func S8_anEventIsOneLineOfKeysAndValues() {
    let page = Page()
    page.log().info(
      "listener_open", ["address": "127.0.0.1:8080", "tls": false, "loops": 2, "peer": .number(UInt64.max)])
    #expect(
      page.text == [
        "2025-12-31T23:59:59.999Z info listener_open address=127.0.0.1:8080 tls=false loops=2 "
          + "peer=9223372036854775807\n"
      ])
  }

  @Test(arguments: [
    ("plain", "plain"), ("", "\"\""), ("two words", "\"two words\""), ("a=b", "\"a=b\""), ("a\"b", "\"a\\\"b\""),
    ("back\\slash", "\"back\\\\slash\""), ("line\nfeed\r\t", "\"line\\nfeed\\r\\t\""),
    ("\u{1B}[31m", "\"\\u001b[31m\""),
    ("\u{0}", "\"\\u0000\""), ("\u{7F}", "\"\\u007f\""), ("κόσμε", "κόσμε"), ("\u{85}", "\"\\u0085\""),
    ("\u{9B}2J", "\"\\u009b2J\""), ("a\u{2028}b", "\"a\\u2028b\""), ("a\u{202E}b", "\"a\\u202eb\""),
  ])
  func S8_valuesCannotForgeALine(_ value: String, _ written: String) {
    let page = Page()
    page.log().error("e", ["v": .text(value)])
    #expect(page.text == ["2025-12-31T23:59:59.999Z error e v=\(written)\n"])
  }

  @Test func S8_aLineMayBeJSON() {
    let page = Page()
    page.log(.json).warning("slow", ["query": "a \"b\"\n", "ms": 12, "retry": true])
    #expect(
      page.text == [
        "{\"ts\":\"2025-12-31T23:59:59.999Z\",\"level\":\"warning\",\"event\":\"slow\","
          + "\"query\":\"a \\\"b\\\"\\n\",\"ms\":12,\"retry\":true}\n"
      ])
  }

  @Test func S8_levelsBelowTheThresholdAreSilentAndItMoves() {
    let page = Page()
    let log = page.log(level: .warning)
    log.debug("a")
    log.info("b")
    log.warning("c")
    log.level = .debug
    log.debug("d")
    #expect(page.text.map { $0.split(separator: " ")[2] } == ["c\n", "d\n"])
    #expect(log.level == .debug)
  }

  @Test func S7_S8_theFormatMayChangeWhileRunning() {
    let page = Page()
    let log = page.log()
    log.info("a")
    log.format = .json
    log.info("b")
    log.format = .keyValue
    log.info("c")
    #expect(
      page.text == [
        "2025-12-31T23:59:59.999Z info a\n",
        "{\"ts\":\"2025-12-31T23:59:59.999Z\",\"level\":\"info\",\"event\":\"b\"}\n",
        "2025-12-31T23:59:59.999Z info c\n",
      ])
  }

  @Test func S8_fieldsOfASilentLineAreNeverMade() {
    let page = Page()
    let made = Guarded(0)
    func costly() -> Log.Fields {
      made.withLock { $0 += 1 }
      return ["n": 1]
    }
    let log = page.log(level: .info)
    log.debug("quiet", costly())
    #expect(made.withLock { $0 } == 0)
    log.info("heard", costly())
    #expect(made.withLock { $0 } == 1)
    #expect(page.text == ["2025-12-31T23:59:59.999Z info heard n=1\n"])
  }

  @Test func S8_anEventNameHasItsLinesASecondAndTheRestAreCounted() {
    let page = Page()
    let log = page.log(linesPerSecond: 2)
    for _ in 0..<5 { log.info("busy") }
    log.info("other")
    page.time.withLock { $0 += 999 }
    log.info("busy")
    page.time.withLock { $0 += 1 }
    log.info("busy", ["n": 1])
    log.info("busy")
    let words = page.text.map { $0.split(separator: " ", maxSplits: 2)[2] }
    #expect(words == ["busy\n", "busy\n", "other\n", "busy n=1 suppressed=4\n", "busy\n"])
    #expect(log.suppressed.value == 4)
  }

  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
      (1_709_164_800_001, "2024-02-29T00:00:00.001Z"), (4_107_542_399_000, "2100-02-28T23:59:59.000Z"),
      (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
    ] as [(Int64, String)])
  func S8_timesAreUTC(_ unixMilliseconds: Int64, _ text: String) {
    let page = Page()
    page.time.withLock { $0 = unixMilliseconds }
    page.log().info("t")
    #expect(page.text == ["\(text) info t\n"])
  }

  @Test func S8_linesOfManyThreadsStayWhole() {
    let page = Page()
    let log = page.log(linesPerSecond: 10_000)
    let threads = (0..<4).map { number in
      WorkerThread.start(name: "writer") { for _ in 0..<200 { log.info("line", ["thread": .number(number)]) } }
    }
    for thread in threads { thread.join() }
    #expect(page.text.count == 800)
    #expect(page.text.allSatisfy { $0.hasSuffix("\n") && $0.hasPrefix("2025-12-31T23:59:59.999Z info line thread=") })
  }
}
