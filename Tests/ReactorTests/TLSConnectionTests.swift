import COpenSSL
import Glibc
import Primitives
import Reactor
import Telemetry
import Testing
import Workers

@Suite("TLS connections on a loop")
struct TLSConnectionTests {
  let certificates: Certificates
  let context: TLSContext

  init() throws {
    certificates = try Certificates()
    context = try TLSContext(try certificates.identity("gateway.example"))
  }

  @Test(arguments: [TLSClient.Version.any, .only12])
  func bytesAreEchoed(_ version: TLSClient.Version) throws {
    let rig = try Rig(tls: context, echoes: true)
    defer { rig.stop() }
    let client = try TLSClient(port: rig.port, version: version)
    let whole = numbered(100_000)
    // Both buffers of the socket hold less than the echo, so send in pieces that fit.
    for start in stride(from: 0, to: whole.count, by: 10_000) {
      let part = Array(whole[start..<(start + 10_000)])
      try client.send(part)
      #expect(try client.receive(exactly: part.count) == part)
    }
    #expect(client.chosenALPN == "http/1.1")
    #expect(SSL_version(client.pointer) == (version == .only12 ? TLS1_2_VERSION : TLS1_3_VERSION))
  }

  @Test func openedIsToldOnlyAfterTheHandshake() throws {
    let rig = try Rig(tls: context)
    defer { rig.stop() }
    let silent = try BlockingClient(port: rig.port)
    let client = try TLSClient(port: rig.port)
    let handle = try #require(rig.journal.opened())
    try client.send([1])
    #expect(rig.journal.receives(1, from: handle) == [1])
    #expect(rig.journal.opened(0) == handle)
    #expect(rig.journal.entries.filter { if case .opened = $0 { true } else { false } }.count == 1)
    silent.close()
    #expect(rig.journal.waits { $0.contains(.abandoned) })
  }

  @Test func aSilentHandshakeEndsAtItsDeadline() throws {
    var configuration = LoopConfiguration()
    configuration.handshakeTimeoutMilliseconds = 30
    let rig = try Rig(tls: context, configuration: configuration)
    defer { rig.stop() }
    let silent = try BlockingClient(port: rig.port)
    #expect(try silent.receiveToEnd().isEmpty)
    #expect(rig.journal.waits { $0 == [.abandoned] })
    #expect(rig.metrics.handshakesTimedOut.value == 1)
  }

  @Test func C016_silentHandshakesFillOnlyTheirOwnLimit() throws {
    var configuration = LoopConfiguration()
    configuration.handshakeLimit = 2
    configuration.handshakeTimeoutMilliseconds = 1_000
    let rig = try Rig(tls: context, configuration: configuration, echoes: true)
    defer { rig.stop() }
    let living = try TLSClient(port: rig.port)
    #expect(rig.journal.opened() != nil)
    let silent = [try BlockingClient(port: rig.port), try BlockingClient(port: rig.port)]
    let third = try BlockingClient(port: rig.port)
    #expect(try third.receiveToEnd().isEmpty)
    #expect(rig.metrics.refused.value == 1)
    try living.send([1])
    #expect(try living.receive(exactly: 1) == [1])
    // Their deadline makes room.
    #expect(rig.journal.waits { $0.filter { $0 == .abandoned }.count == 3 })
    let late = try TLSClient(port: rig.port)
    try late.send([2])
    #expect(try late.receive(exactly: 1) == [2])
    for client in silent { client.close() }
  }

  @Test func aStormOfHandshakesIsWorkedOffInTurns() throws {
    var configuration = LoopConfiguration()
    configuration.handshakesPerTurn = 1
    let rig = try Rig(tls: context, configuration: configuration, echoes: true)
    defer { rig.stop() }
    let port = rig.port
    let served = Counter()
    let threads = (0..<8).map { _ in
      WorkerThread.start(name: "client") {
        guard let client = try? TLSClient(port: port), (try? client.send([6])) != nil,
          (try? client.receive(exactly: 1)) == [6]
        else { return }
        served.increment()
      }
    }
    for thread in threads { thread.join() }
    #expect(served.value == 8)
    #expect(rig.metrics.handshakesDone.value == 8)
  }

  @Test(arguments: [131_072, 16, 1])
  func C004_fortyFramesInOneRecordThenSilenceAreAllHandled(_ readBudgetBytes: Int) throws {
    var configuration = LoopConfiguration()
    configuration.readBudgetBytes = readBudgetBytes
    let rig = try Rig(tls: context, configuration: configuration)
    defer { rig.stop() }
    let client = try TLSClient(port: rig.port)
    let handle = try #require(rig.journal.opened())
    let frames = numbered(40 * 16)
    try client.send(frames)
    #expect(rig.journal.receives(frames.count, from: handle) == frames)
  }

  @Test func C004_decryptedBytesComeAfterResumeWithoutASocketEvent() throws {
    var configuration = LoopConfiguration()
    configuration.readBudgetBytes = 16
    let rig = try Rig(tls: context, configuration: configuration)
    defer { rig.stop() }
    rig.onLoop { $0.onReceive = { $0.loop.pauseReading($1) } }
    let client = try TLSClient(port: rig.port)
    let handle = try #require(rig.journal.opened())
    let frames = numbered(40 * 16)
    try client.send(frames)
    for round in 1...40 {
      #expect(rig.journal.receives(round * 16, from: handle) == Array(frames[..<(round * 16)]))
      rig.onLoop { $0.loop.resumeReading(handle) }
    }
  }

  @Test func C004_aConnectionWithMuchToReadDoesNotHoldUpAnother() throws {
    var configuration = LoopConfiguration()
    configuration.readBudgetBytes = 1
    let rig = try Rig(tls: context, configuration: configuration)
    defer { rig.stop() }
    let quiet = try TLSClient(port: rig.port)
    let first = try #require(rig.journal.opened(0))
    let busy = try TLSClient(port: rig.port)
    let second = try #require(rig.journal.opened(1))
    rig.onLoop {
      $0.loop.pauseReading(first)
      $0.loop.pauseReading(second)
      $0.alarm = $0.loop.now
    }
    #expect(rig.journal.waits { $0.contains(.deadline) })
    try busy.send(numbered(2_000))
    try quiet.send([1])
    rig.onLoop {
      $0.loop.resumeReading(second)
      $0.loop.resumeReading(first)
    }
    #expect(rig.journal.receives(2_000, from: second) == numbered(2_000))
    let entries = rig.journal.entries
    let quietAt = try #require(entries.firstIndex(of: .received(first, [1])))
    #expect(quietAt < 100)
    #expect(entries.count > 2_000)
  }

  @Test func C004_aPausedConnectionDoesNotHoldUpAnother() throws {
    let rig = try Rig(tls: context)
    defer { rig.stop() }
    let paused = try TLSClient(port: rig.port)
    let first = try #require(rig.journal.opened(0))
    rig.onLoop {
      $0.loop.pauseReading(first)
      $0.alarm = $0.loop.now
    }
    #expect(rig.journal.waits { $0.contains(.deadline) })
    try paused.send(numbered(40_000))
    let living = try TLSClient(port: rig.port)
    let second = try #require(rig.journal.opened(1))
    try living.send([5])
    #expect(rig.journal.receives(1, from: second) == [5])
    #expect(rig.journal.bytes(from: first).isEmpty)
    rig.onLoop { $0.loop.resumeReading(first) }
    #expect(rig.journal.receives(40_000, from: first) == numbered(40_000))
  }

  @Test func C020_bytesInTheSegmentThatEndsTheHandshakeAreDelivered() throws {
    let rig = try Rig(tls: context, echoes: true)
    defer { rig.stop() }
    // A client that holds its Finished back and sends it together with its first bytes: a memory BIO does the holding.
    let socket = try BlockingClient(port: rig.port)
    let clientContext = try #require(SSL_CTX_new(TLS_client_method()))
    let client = try #require(SSL_new(clientContext))
    defer {
      SSL_free(client)
      SSL_CTX_free(clientContext)
    }
    let incoming = BIO_new(BIO_s_mem())
    let outgoing = BIO_new(BIO_s_mem())
    SSL_set_bio(client, incoming, outgoing)
    SSL_set_connect_state(client)
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while SSL_do_handshake(client) != 1 {
      let count = BIO_read(outgoing, &buffer, Int32(buffer.count))
      if count > 0 { try socket.send(Array(buffer[..<Int(count)])) }
      let answer = try socket.receive()
      try #require(!answer.isEmpty)
      BIO_write(incoming, answer, Int32(answer.count))
    }
    let written = SSL_write(client, [1, 2, 3] as [UInt8], 3)
    #expect(written == 3)
    let count = BIO_read(outgoing, &buffer, Int32(buffer.count))
    try socket.send(Array(buffer[..<Int(count)]))
    let handle = try #require(rig.journal.opened())
    #expect(rig.journal.receives(3, from: handle) == [1, 2, 3])
    ERR_clear_error()
  }

  @Test(arguments: [TLSClient.Version.any, .only12])
  func C031_aSlowReaderGetsExactlyTheBytesWhileMoreAreQueued(_ version: TLSClient.Version) throws {
    var configuration = LoopConfiguration()
    configuration.sendBufferBytes = 4096
    let rig = try Rig(tls: context, configuration: configuration)
    defer { rig.stop() }
    let client = try TLSClient(port: rig.port, version: version, receiveBufferBytes: 4096)
    let handle = try #require(rig.journal.opened())
    let whole = numbered(2_000_000)
    var sent = 0
    var got: [UInt8] = []
    while got.count < whole.count {
      if sent < whole.count {
        let part = Array(whole[sent..<min(sent + 50_001, whole.count)])
        sent += part.count
        rig.onLoop { $0.queue(part, to: handle) }
      }
      got += try client.receive(atMost: 5_003)
    }
    #expect(got == whole)
    #expect(rig.metrics.shortWrites.value > 0)
  }

  @Test func aGracefulCloseDeliversEverythingAndACloseNotify() throws {
    var configuration = LoopConfiguration()
    configuration.sendBufferBytes = 4096
    let rig = try Rig(tls: context, configuration: configuration)
    defer { rig.stop() }
    let client = try TLSClient(port: rig.port, receiveBufferBytes: 4096)
    let handle = try #require(rig.journal.opened())
    let whole = numbered(300_000)
    rig.onLoop {
      $0.queue(whole, to: handle)
      $0.closeWhenFlushed(handle)
    }
    // receiveToEnd fails unless the end is a close_notify.
    #expect(try client.receiveToEnd() == whole)
    client.closeNotify()
    client.socket.close()
    #expect(rig.journal.closes(handle) == .finished)
  }

  @Test func aPeersCloseNotifyEndsTheConnection() throws {
    let rig = try Rig(tls: context)
    defer { rig.stop() }
    let client = try TLSClient(port: rig.port)
    let handle = try #require(rig.journal.opened())
    try client.send([1, 2])
    client.closeNotify()
    #expect(rig.journal.closes(handle) == .peerClosed)
    #expect(rig.journal.bytes(from: handle) == [1, 2])
    #expect(try client.receiveToEnd().isEmpty)
  }

  @Test func C030_clientsThatResetDuringABroadcastLeaveTheProcessAlive() throws {
    let rig = try Rig(tls: context)
    defer { rig.stop() }
    for index in 0..<20 {
      let client = try TLSClient(port: rig.port, receiveBufferBytes: 4096)
      let handle = try #require(rig.journal.opened(index))
      rig.onLoop { $0.queue(numbered(1_000_000), to: handle) }
      _ = try client.receive(exactly: 1000)
      if index % 2 == 0 { rig.onLoop { $0.closeWhenFlushed(handle) } }
      client.socket.reset()
      #expect(rig.journal.closes(handle) != nil)
      #expect(rig.journal.causes(of: handle).count == 1)
    }
  }

  @Test func C032_failedHandshakesDoNotTouchAHealthyConnection() throws {
    let rig = try Rig(tls: context, echoes: true)
    defer { rig.stop() }
    let healthy = try TLSClient(port: rig.port)
    let handle = try #require(rig.journal.opened())
    for round in 0..<30 {
      let broken = try BlockingClient(port: rig.port)
      switch round % 3 {
      case 0: try broken.send(Array("GET / HTTP/1.1\r\n\r\n".utf8))
      // An SSL 3.0 record that holds nonsense.
      case 1: try broken.send([0x16, 3, 0, 0, 5, 1, 0, 0, 1, 0])
      default: broken.endWriting()
      }
      try healthy.send([UInt8(round)])
      #expect(try healthy.receive(exactly: 1) == [UInt8(round)])
      broken.close()
    }
    #expect(rig.journal.waits { $0.filter { $0 == .abandoned }.count == 30 })
    #expect(rig.journal.causes(of: handle).isEmpty)
    #expect(rig.metrics.handshakesFailed.value == 30)
  }

  @Test func aStreamOfGarbageAfterTheHandshakeIsATLSFailure() throws {
    let rig = try Rig(tls: context)
    defer { rig.stop() }
    let client = try TLSClient(port: rig.port)
    let handle = try #require(rig.journal.opened())
    try client.socket.send(Array("this is not a record at all".utf8))
    #expect(rig.journal.closes(handle) == .tlsFailure)
  }
}
