import Chat
import Foundation
import Testing

@testable import Store

@Suite("Copying the write-ahead log back beside the commits")
struct LogUpkeepTests {
  @Test func asksOnceTheLogIsLongAndCopiesTheRestAfterTheRun() {
    var upkeep = LogUpkeep()
    #expect(upkeep.step(length: LogUpkeep.pages - 1, hasRun: false) == .nothing)
    #expect(upkeep.step(length: LogUpkeep.pages, hasRun: false) == .ask)
    #expect(upkeep.step(length: LogUpkeep.pages + 50, hasRun: false) == .nothing)
    #expect(upkeep.step(length: LogUpkeep.pages + 60, hasRun: true) == .copyRest)
    // The next transaction began the log anew.
    #expect(upkeep.step(length: 3, hasRun: false) == .nothing)
    #expect(upkeep.step(length: LogUpkeep.pages, hasRun: false) == .ask)
  }

  @Test func copiesItselfWhenTheCheckpointerDoesNotCome() {
    var upkeep = LogUpkeep()
    #expect(upkeep.step(length: LogUpkeep.pages, hasRun: false) == .ask)
    let limit = LogUpkeep.pages + LogUpkeep.pagesAtMost
    #expect(upkeep.step(length: limit - 1, hasRun: false) == .nothing)
    #expect(upkeep.step(length: limit, hasRun: false) == .copyRest)
  }

  @Test func aLogThatAReaderHoldsIsAskedForOncePerLength() {
    var upkeep = LogUpkeep()
    var asked = 0
    for length in 1...(10 * LogUpkeep.pages) where upkeep.step(length: length, hasRun: asked > 0) == .ask { asked += 1 }
    #expect(asked == 9)
  }

  /// 51 MB of messages through a log that begins anew: its file stays far below what was written, nothing is missing.
  @Test func theLogStaysShortUnderSteadyCommits() throws {
    let world = try World(.sqlite)
    let text = String(repeating: "x", count: 64_000)
    let before = try world.reader.head().value
    let log = world.folder.path + "/data/threadcast.sqlite-wal"
    var sent: [MessageID] = []
    var longest = 0
    for number in 0..<100 {
      let message = world.outgoing("\(number) \(text)", to: .user(.bob))
      let batch = (0..<8).map { _ in Mutation(actor: .user(.ann), change: .sendMessage(message)) }
      for outcome in try world.writer.commit(batch, at: world.now).outcomes {
        sent.append(try #require(outcome.fetched).message.id)
      }
      world.writer.tidy()
      longest = max(longest, try #require(FileManager.default.attributesOfItem(atPath: log)[.size] as? Int))
    }
    #expect(Set(sent).count == 800)
    #expect(try world.reader.head().value == before + 800)
    // At most what the writer puts up with, and a batch, each page with its header of 24 bytes.
    #expect(longest < (LogUpkeep.pages + LogUpkeep.pagesAtMost + 200) * (4096 + 24))
  }

  @Test func probesAloneDoNotGrowTheLogForEver() throws {
    let world = try World(.sqlite)
    let log = world.folder.path + "/data/threadcast.sqlite-wal"
    for _ in 0..<(2 * (LogUpkeep.pages + LogUpkeep.pagesAtMost)) { #expect(world.writer.isWritable()) }
    let length = try #require(FileManager.default.attributesOfItem(atPath: log)[.size] as? Int)
    #expect(length < (LogUpkeep.pages + LogUpkeep.pagesAtMost + 200) * (4096 + 24))
  }
}
