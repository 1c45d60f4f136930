import CLinux
import Glibc
import Primitives
import Reactor
import Telemetry
import Testing
import Workers

@Suite("S2 S6 listeners")
struct ListenerTests {
  @Test(arguments: [
    ("127.0.0.1:8080", ListenerAddress.tcp(host: "127.0.0.1", port: 8080)),
    ("[::1]:0", .tcp(host: "::1", port: 0)),
    ("0.0.0.0:65535", .tcp(host: "0.0.0.0", port: 65535)),
    ("localhost:80", .tcp(host: "127.0.0.1", port: 80)),
    ("*:443", .tcp(host: "::", port: 443)),
    ("unix:/run/threadcast.sock", .unix(path: "/run/threadcast.sock")),
    ("unix:relative", .unix(path: "relative")),
  ])
  func S2_addressesAreRead(_ text: String, _ address: ListenerAddress) throws {
    #expect(try ListenerAddress(parsing: text) == address)
  }

  @Test(arguments: [
    "", "8080", ":8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+1", "::1:80",
    "[127.0.0.1]:80", "[::1]", "[::1]80", "example.com:80", "127.0.0.1:8o", "unix:", "256.0.0.1:1", "[::1:80",
  ])
  func S2_whatIsNoAddressIsRefused(_ text: String) {
    #expect(throws: ListenFailure.notAnAddress(text)) { try ListenerAddress(parsing: text) }
  }

  @Test func S2_aLongSocketPathIsRefused() {
    let path = String(repeating: "p", count: 108)
    #expect(throws: ListenFailure.pathTooLong(path)) { try ListenerAddress(parsing: "unix:" + path) }
  }

  @Test(arguments: [
    ("127.0.0.1:1", true), ("127.9.9.9:1", true), ("[::1]:1", true), ("unix:x", true), ("0.0.0.0:1", false),
    ("[::]:1", false), ("192.0.2.1:1", false),
  ])
  func S3_loopbackIsKnown(_ text: String, _ isLoopback: Bool) throws {
    #expect(try ListenerAddress(parsing: text).isLoopback == isLoopback)
  }

  @Test func S6_aPortInUseIsOneSentence() throws {
    let first = try ListenerGroup(opening: .tcp(host: "127.0.0.1", port: 0), loops: 2)
    guard case .tcp(_, let port) = first.address else {
      Issue.record("a TCP group has a TCP address")
      return
    }
    #expect(port != 0)
    do {
      _ = try ListenerGroup(opening: first.address, loops: 2)
      Issue.record("the same port was opened twice")
    } catch {
      #expect(error.description == "port \(port) on 127.0.0.1 is in use")
    }
  }

  @Test func S6_anAddressOfAnotherMachineIsOneSentence() {
    do {
      _ = try ListenerGroup(opening: .tcp(host: "192.0.2.1", port: 0), loops: 1)
      Issue.record("an address of another machine was opened")
    } catch {
      #expect(error.description == "this machine has no address to listen on 192.0.2.1:0")
    }
  }

  @Test func everyLoopAcceptsItsShareOfOnePort() throws {
    let group = try ListenerGroup(opening: .tcp(host: "127.0.0.1", port: 0), loops: 2)
    let first = Rig([group], echoes: true)
    let thread = LoopThread(name: "second", listeners: [group], loop: 1) {
      RigHandler(loop: $0, journal: first.journal, jobs: first.jobs, echoes: true)
    }
    var clients: [BlockingClient] = []
    for index in 0..<64 {
      let client = try BlockingClient(port: first.port)
      try client.send([UInt8(index)])
      #expect(try client.receive(exactly: 1) == [UInt8(index)])
      clients.append(client)
    }
    #expect(first.metrics.accepted.value + thread.metrics.accepted.value == 64)
    #expect(first.metrics.accepted.value > 0 && thread.metrics.accepted.value > 0)
    first.stop()
    thread.stopAndJoin()
  }

  @Test func S12_aUnixSocketIsOwnerOnlyServesAndGoesWithItsGroup() throws {
    let folder = try Certificates()
    let path = folder.path("gateway.sock")
    var status = stat()
    do {
      let rig = Rig([try ListenerGroup(opening: .unix(path: path), loops: 1)], echoes: true)
      #expect(lstat(path, &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600)
      let client = try BlockingClient(unixPath: path)
      try client.send([4, 5])
      #expect(try client.receive(exactly: 2) == [4, 5])
      #expect(throws: ListenFailure.inUse(.unix(path: path))) {
        try ListenerGroup(opening: .unix(path: path), loops: 1)
      }
      rig.stop()
    }
    #expect(lstat(path, &status) != 0)
  }

  @Test func whatAPausedPeerSentBeforeItHungUpIsDeliveredOnResume() throws {
    let folder = try Certificates()
    let path = folder.path("paused.sock")
    let rig = Rig([try ListenerGroup(opening: .unix(path: path), loops: 1)])
    defer { rig.stop() }
    let client = try BlockingClient(unixPath: path)
    let handle = try #require(rig.journal.opened())
    rig.onLoop {
      $0.loop.pauseReading(handle)
      $0.alarm = $0.loop.now
    }
    #expect(rig.journal.waits { $0.contains(.deadline) })
    try client.send([1, 2, 3])
    client.close()
    // The hang-up has been seen, and not taken for the end, when a second connection has been opened.
    let other = try BlockingClient(unixPath: path)
    #expect(rig.journal.opened(1) != nil)
    #expect(rig.journal.causes(of: handle).isEmpty)
    #expect(rig.journal.bytes(from: handle).isEmpty)
    rig.onLoop { $0.loop.resumeReading(handle) }
    #expect(rig.journal.closes(handle) == .peerClosed)
    #expect(rig.journal.bytes(from: handle) == [1, 2, 3])
    other.close()
  }

  @Test func C014_noDescriptorOutlivesItsConnection() async {
    await #expect(processExitsWith: .success) {
      let certificates = try Certificates()
      let context = try TLSContext(try certificates.identity("gateway.example"))
      var configuration = LoopConfiguration()
      configuration.lingerMilliseconds = 50
      let rig = try Rig(tls: context, configuration: configuration)
      let first = try TLSClient(port: rig.port)
      let firstHandle = try #require(rig.journal.opened())
      func openDescriptors() -> Int { (0..<Int32(1024)).filter { fcntl($0, F_GETFD) >= 0 }.count }
      let before = openDescriptors()
      var opened = 1
      for round in 0..<120 {
        if round % 2 == 0 {
          // A handshake that never gets anywhere, ended by FIN or RST.
          let client = try BlockingClient(port: rig.port)
          if round % 4 == 0 { client.reset() } else { client.close() }
          continue
        }
        let client = try TLSClient(port: rig.port)
        let handle = try #require(rig.journal.opened(opened))
        opened += 1
        switch round % 3 {
        case 0: client.socket.reset()
        case 1: rig.onLoop { $0.loop.close(handle, .abort) }
        default: rig.onLoop { $0.loop.close(handle, .graceful) }
        }
        try #require(rig.journal.closes(handle) != nil)
        client.socket.close()
      }
      try #require(rig.journal.waits { $0.filter { $0 == .abandoned }.count == 60 })
      try #require(openDescriptors() == before)
      try #require(rig.journal.causes(of: firstHandle).isEmpty)
      first.socket.close()
      rig.stop()
    }
  }

  @Test func aStaleSocketFileIsReplacedAndAnythingElseIsNot() throws {
    let folder = try Certificates()
    let path = folder.path("stale.sock")
    // Bound and closed without unlinking: what a killed process leaves behind.
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    #expect(bound == 0)
    close(descriptor)
    let group = try ListenerGroup(opening: .unix(path: path), loops: 1)
    #expect(group.address == .unix(path: path))

    let identity = try folder.identity("file")
    #expect(throws: ListenFailure.notASocket(identity.keyPath)) {
      try ListenerGroup(opening: .unix(path: identity.keyPath), loops: 1)
    }
  }

  @Test func C016_runningOutOfDescriptorsPausesAcceptingAndRecovers() async {
    await #expect(processExitsWith: .success) {
      let rig = try Rig(echoes: true)
      // Served once, so the loop has the descriptors it was born with.
      let early = try BlockingClient(port: rig.port)
      try #require(rig.journal.opened() != nil)
      let probe = dup(0)
      close(probe)
      var limit = rlimit(rlim_cur: rlim_t(probe) + 9, rlim_max: rlim_t(probe) + 9)
      let limited = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      try #require(limited == 0)
      var clients: [BlockingClient] = []
      // Each takes one descriptor here and one there, until neither side has any.
      while clients.count < 9, let client = try? BlockingClient(port: rig.port) { clients.append(client) }
      let patience = Clock.now().advanced(bySeconds: 10)
      while rig.metrics.acceptPauses.value == 0, Clock.now() < patience { sched_yield() }
      try #require(rig.metrics.acceptPauses.value > 0)
      let newest = clients.popLast()
      let last = try #require(newest)
      let first = clients.prefix(3)
      clients.removeFirst(3)
      for client in first { client.close() }
      for client in clients { client.close() }
      try last.send([1])
      try #require(try last.receive(exactly: 1) == [1])
      // Twenty milliseconds, doubling: a spinning loop would have counted thousands.
      try #require(rig.metrics.acceptPauses.value < 20)
      early.close()
      rig.stop()
    }
  }
}
