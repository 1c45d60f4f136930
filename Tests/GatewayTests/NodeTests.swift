import Bus
import Chat
import Foundation
import Reactor
import Store
import Telemetry
import Testing
import Workers

@testable import Gateway

/// The node as it runs: two loops, two readers, one committer, real sockets.
@Suite("A running node", .serialized)
struct NodeTests {
  private struct Running {
    let node: Node
    let port: UInt16
    let folder: String
  }

  private static func start(folder: String? = nil) throws -> Running {
    let folder = folder ?? NSTemporaryDirectory() + "threadcast-node-" + UUID().uuidString
    let store = try SQLiteStore.open(folder: folder)
    _ = try DevelopmentData.write(to: store)
    let group = try ListenerGroup(opening: ListenerAddress(parsing: "127.0.0.1:0"), loops: 2)
    guard case .tcp(_, let port) = group.address else { throw PlainClient.Failure(what: "no port") }
    let node = try Node(
      store: store, listeners: [group], shape: .init(loops: 2, readers: 2), settings: GatewaySettings(),
      bus: InProcessBus(), registry: MetricRegistry(), log: Log(sink: { _ in true }))
    return Running(node: node, port: port, folder: folder)
  }

  @Sendable private static func session(_ port: UInt16, _ token: String) throws -> PlainClient {
    let client = try PlainClient(port: port)
    try client.upgrade()
    try client.text(#"{"id":"hello","op":"connect","data":{"token":"\#(token)"}}"#)
    let hello = try client.next() ?? ""
    guard hello.hasPrefix(#"{"id":"hello","ok":true"#) else { throw PlainClient.Failure(what: hello) }
    return client
  }

  @Test func R4_M8_everySessionOfEveryLoopHearsEveryMessageOnceAndInOrder() throws {
    let running = try Self.start()
    defer { try? FileManager.default.removeItem(atPath: running.folder) }
    let tokens = ["dev-ann", "dev-bob", "dev-cyd", "dev-dan", "dev-eve"]
    let rounds = 20
    let outcome = Guarded<[Result<[Int], PlainClient.Failure>]>([])
    let arrived = Guarded(0)
    let port = running.port
    // Ten sessions, two of each user; one of each user sends.
    let threads = (tokens + tokens).enumerated().map { index, token in
      WorkerThread.start(name: "client-\(index)") {
        let result = Result { () throws(PlainClient.Failure) -> [Int] in
          try PlainClient.failing {
            let client = try Self.session(port, token)
            arrived.withLock { $0 += 1 }
            // Nobody speaks before all are there; who cannot come ends the test by its own failure.
            while arrived.withLock({ $0 }) < 10, outcome.withLock({ $0.isEmpty }) { Backoff.pauseMilliseconds(1) }
            if index < tokens.count {
              for round in 0..<rounds {
                let data = #"{"receiverUid":"team","receiverType":"group","text":"\#(round)"}"#
                try client.text(#"{"id":\#(round),"op":"message.send","data":\#(data)}"#)
              }
            }
            // Everybody sees every message, as an event or as the reply to its own send.
            var seqs: [Int] = []
            while seqs.count < rounds * tokens.count, let text = try client.next() {
              let message = JSONObject(text)
              if let seq = message.int("seq") ?? message.int("data.id") { seqs.append(seq) }
            }
            return seqs
          }
        }
        outcome.withLock { $0.append(result) }
      }
    }
    for thread in threads { thread.join() }
    let all = try outcome.withLock { $0 }.map { try $0.get() }
    #expect(all.count == 10)
    let first = try #require(all.first)
    #expect(first.count == rounds * tokens.count)
    for seqs in all { #expect(seqs == first && seqs == Array(Set(seqs)).sorted()) }
    running.node.drainAndStop(seconds: 5)
  }

  @Test func S7_stoppingSendsSessionsAwayAndKeepsWhatWasAcknowledged() throws {
    let running = try Self.start()
    defer { try? FileManager.default.removeItem(atPath: running.folder) }
    let ann = try Self.session(running.port, "dev-ann")
    try ann.text(
      #"{"id":1,"op":"message.send","data":{"receiverUid":"bob","receiverType":"user","text":"kept"}}"#)
    let reply = JSONObject(try ann.next() ?? "")
    let id = try #require(reply.int("data.id"))
    #expect(running.node.isReady)
    let port = running.port
    let isListening = Guarded(false)
    let heard = Guarded<Int?>(nil)
    let listener = WorkerThread.start(name: "listener") {
      guard let client = try? Self.session(port, "dev-cyd") else { return isListening.withLock { $0 = true } }
      isListening.withLock { $0 = true }
      while let text = try? client.next() { _ = text }
      heard.withLock { $0 = client.closeCode }
    }
    while !isListening.withLock({ $0 }) { Backoff.pauseMilliseconds(1) }
    running.node.drainAndStop(seconds: 5)
    listener.join()
    #expect(heard.withLock { $0 } == 4000)
    let again = try Self.start(folder: running.folder)
    let bob = try Self.session(again.port, "dev-bob")
    try bob.text(#"{"id":2,"op":"message.get","data":{"id":\#(id)}}"#)
    #expect(JSONObject(try bob.next() ?? "").string("data.text") == "kept")
    again.node.drainAndStop(seconds: 1)
  }
}
