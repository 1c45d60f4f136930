import Primitives
import Reactor
import Telemetry
import Testing

@Suite("Plain connections on a loop")
struct PlainConnectionTests {
  @Test func bytesAreEchoed() throws {
    let rig = try Rig(echoes: true)
    defer { rig.stop() }
    let client = try BlockingClient(port: rig.port)
    try client.send(Array("hello".utf8))
    #expect(try client.receive(exactly: 5) == Array("hello".utf8))
    #expect(rig.metrics.accepted.value == 1)
  }

  @Test func theEndOfThePeersStreamIsToldOnce() throws {
    let rig = try Rig()
    let client = try BlockingClient(port: rig.port)
    let handle = try #require(rig.journal.opened())
    client.close()
    #expect(rig.journal.closes(handle) == .peerClosed)
    rig.stop()
    #expect(rig.journal.causes(of: handle) == [.peerClosed])
  }

  @Test func aStoppedLoopTellsEveryOpenConnection() throws {
    let rig = try Rig()
    let first = try BlockingClient(port: rig.port)
    let second = try BlockingClient(port: rig.port)
    let handles = [try #require(rig.journal.opened(0)), try #require(rig.journal.opened(1))]
    rig.stop()
    for handle in handles { #expect(rig.journal.causes(of: handle) == [.loopStopped]) }
    first.close()
    second.close()
  }

  @Test func C031_aSlowReaderGetsExactlyTheBytesWhileMoreAreQueued() throws {
    var configuration = LoopConfiguration()
    configuration.sendBufferBytes = 4096
    let rig = try Rig(configuration: configuration)
    defer { rig.stop() }
    let client = try BlockingClient(port: rig.port, receiveBufferBytes: 4096)
    let handle = try #require(rig.journal.opened())
    let whole = numbered(600_000)
    var sent = 0
    var got: [UInt8] = []
    while got.count < whole.count {
      if sent < whole.count {
        let part = Array(whole[sent..<min(sent + 50_000, whole.count)])
        sent += part.count
        rig.onLoop { $0.queue(part, to: handle) }
      }
      got += try client.receive(atMost: 3_001)
    }
    #expect(got == whole)
    #expect(rig.metrics.shortWrites.value > 0)
  }

  @Test func aPausedConnectionIsSilentUntilResumed() throws {
    let rig = try Rig()
    defer { rig.stop() }
    let client = try BlockingClient(port: rig.port)
    let handle = try #require(rig.journal.opened())
    rig.onLoop {
      $0.loop.pauseReading(handle)
      $0.alarm = $0.loop.now
    }
    #expect(rig.journal.waits { $0.contains(.deadline) })
    try client.send([1, 2, 3])
    // A second connection's bytes, sent later, arrive first: the loop has looked at the sockets meanwhile.
    let other = try BlockingClient(port: rig.port)
    let second = try #require(rig.journal.opened(1))
    try other.send([9])
    #expect(rig.journal.receives(1, from: second) == [9])
    #expect(rig.journal.bytes(from: handle).isEmpty)
    rig.onLoop { $0.loop.resumeReading(handle) }
    #expect(rig.journal.receives(3, from: handle) == [1, 2, 3])
  }

  @Test func aGracefulCloseDeliversEverythingAndWaitsForThePeer() throws {
    let rig = try Rig()
    defer { rig.stop() }
    let client = try BlockingClient(port: rig.port)
    let handle = try #require(rig.journal.opened())
    // Unread bytes in our socket would make a hasty close a reset.
    try client.send(numbered(10_000))
    let whole = numbered(300_000)
    rig.onLoop {
      $0.queue(whole, to: handle)
      $0.closeWhenFlushed(handle)
    }
    #expect(try client.receiveToEnd() == whole)
    client.close()
    #expect(rig.journal.closes(handle) == .finished)
  }

  @Test func aPeerThatIgnoresOurEndIsLeftAfterTheLinger() throws {
    var configuration = LoopConfiguration()
    configuration.lingerMilliseconds = 30
    let rig = try Rig(configuration: configuration)
    defer { rig.stop() }
    let client = try BlockingClient(port: rig.port)
    let handle = try #require(rig.journal.opened())
    rig.onLoop { $0.loop.close(handle, .graceful) }
    #expect(rig.journal.closes(handle) == .lingerExpired)
    #expect(try client.receiveToEnd().isEmpty)
  }

  @Test func anAbortResetsThePeer() throws {
    let rig = try Rig()
    defer { rig.stop() }
    let client = try BlockingClient(port: rig.port)
    let handle = try #require(rig.journal.opened())
    rig.onLoop {
      $0.loop.close(handle, .abort)
      $0.loop.close(handle, .graceful)
    }
    #expect(rig.journal.closes(handle) == .aborted)
    #expect(throws: ClientFailure.self) { try client.receiveToEnd() }
  }

  @Test func C030_aPeerThatResetsDuringAWriteLeavesTheProcessAlive() throws {
    let rig = try Rig()
    defer { rig.stop() }
    let client = try BlockingClient(port: rig.port, receiveBufferBytes: 4096)
    let handle = try #require(rig.journal.opened())
    rig.onLoop { $0.queue(numbered(4_000_000), to: handle) }
    _ = try client.receive(exactly: 1000)
    client.reset()
    let cause = try #require(rig.journal.closes(handle))
    guard case .reset = cause else {
      Issue.record("a reset peer was reported as \(cause)")
      return
    }
    let next = try BlockingClient(port: rig.port)
    #expect(rig.journal.opened(1) != nil)
    next.close()
  }

  @Test func aRefusedPeerIsClosedAndNeverTold() throws {
    let rig = try Rig()
    defer { rig.stop() }
    rig.onLoop {
      $0.admitting = false
      $0.alarm = $0.loop.now
    }
    #expect(rig.journal.waits { $0.contains(.deadline) })
    let client = try BlockingClient(port: rig.port)
    #expect(try client.receiveToEnd().isEmpty)
    #expect(rig.journal.entries == [.deadline])
    #expect(rig.metrics.refused.value == 1)
  }

  @Test func theReadBudgetSplitsALargeArrivalAndLosesNothing() throws {
    var configuration = LoopConfiguration()
    configuration.readBudgetBytes = 100
    let rig = try Rig(configuration: configuration)
    defer { rig.stop() }
    let client = try BlockingClient(port: rig.port)
    let handle = try #require(rig.journal.opened())
    let whole = numbered(2_500)
    try client.send(whole)
    #expect(rig.journal.receives(2_500, from: handle) == whole)
    let largest = rig.journal.entries.map { if case .received(_, let bytes) = $0 { bytes.count } else { 0 } }.max()
    #expect(largest == 100)
  }

  @Test func aStaleHandleTouchesNothing() throws {
    let rig = try Rig(echoes: true)
    defer { rig.stop() }
    let first = try BlockingClient(port: rig.port)
    let stale = try #require(rig.journal.opened(0))
    first.close()
    #expect(rig.journal.closes(stale) == .peerClosed)
    let second = try BlockingClient(port: rig.port)
    let living = try #require(rig.journal.opened(1))
    #expect(living.index == stale.index)
    rig.onLoop {
      $0.loop.close(stale, .abort)
      $0.loop.pauseReading(stale)
    }
    try second.send([7])
    #expect(try second.receive(exactly: 1) == [7])
  }
}
