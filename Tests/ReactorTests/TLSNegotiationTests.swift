import COpenSSL
import Glibc
import Primitives
import Reactor
import Telemetry
import Testing

@Suite("TLS negotiation")
struct TLSNegotiationTests {
  let certificates: Certificates

  init() throws { certificates = try Certificates() }

  @Test(arguments: [
    ("gateway.example", "gateway.example"), ("chat.example", "chat.example"), ("CHAT.example", "chat.example"),
    ("a.rooms.example", "wildcard"), ("a.b.rooms.example", "gateway.example"), ("rooms.example", "gateway.example"),
    ("unknown.example", "gateway.example"),
  ])
  func theServerNamePicksTheCertificate(_ asked: String, _ presented: String) throws {
    let context = try TLSContext(
      try certificates.identity("gateway.example"),
      named: [
        TLSNamedIdentity(serverName: "Chat.Example", identity: try certificates.identity("chat.example")),
        TLSNamedIdentity(serverName: "*.rooms.example", identity: try certificates.identity("wildcard")),
      ])
    let rig = try Rig(tls: context)
    defer { rig.stop() }
    let client = try TLSClient(port: rig.port, serverName: asked)
    #expect(client.serverCommonName == presented)
    #expect(client.chosenALPN == "http/1.1")
  }

  @Test func withoutAServerNameTheMainCertificateIsPresented() throws {
    let rig = try Rig(tls: try TLSContext(try certificates.identity("gateway.example")))
    defer { rig.stop() }
    #expect(try TLSClient(port: rig.port).serverCommonName == "gateway.example")
  }

  @Test(arguments: [
    (["h2", "http/1.1"], "http/1.1"), (["http/1.1"], "http/1.1"), ([], ""), (["http/1.10", "http/1.1"], "http/1.1"),
  ])
  func RFC7301_httpIsChosenFromTheOffer(_ offer: [String], _ chosen: String) throws {
    let rig = try Rig(tls: try TLSContext(try certificates.identity("gateway.example")))
    defer { rig.stop() }
    #expect(try TLSClient(port: rig.port, alpn: offer).chosenALPN == chosen)
  }

  @Test(arguments: [["h2"], ["http/1.0", "spdy/3"]])
  func RFC7301_anOfferWithoutHTTP1IsRefused(_ offer: [String]) throws {
    let rig = try Rig(tls: try TLSContext(try certificates.identity("gateway.example")))
    defer { rig.stop() }
    #expect(throws: ClientFailure.self) { try TLSClient(port: rig.port, alpn: offer) }
    #expect(rig.journal.waits { $0 == [.abandoned] })
  }

  @Test(arguments: [TLSClient.Version.any, .only12], ["gateway.example", "chat.example"])
  func aSecondConnectionResumesTheSession(_ version: TLSClient.Version, _ name: String) throws {
    let context = try TLSContext(
      try certificates.identity("gateway.example"),
      named: [TLSNamedIdentity(serverName: "chat.example", identity: try certificates.identity("chat.example"))])
    let rig = try Rig(tls: context, echoes: true)
    defer { rig.stop() }
    let first = try TLSClient(port: rig.port, version: version, serverName: name)
    // A TLS 1.3 ticket comes after the handshake, before the first answer.
    try first.send([1])
    #expect(try first.receive(exactly: 1) == [1])
    let session = SSL_get1_session(first.pointer)
    defer { SSL_SESSION_free(session) }
    first.closeNotify()
    let second = try TLSClient(port: rig.port, version: version, serverName: name, resuming: session)
    #expect(SSL_session_reused(second.pointer) == 1)
    try second.send([2])
    #expect(try second.receive(exactly: 1) == [2])
    #expect(rig.metrics.handshakesDone.value == 2)
    #expect(rig.metrics.handshakesResumed.value == 1)
  }

  @Test func S7_aReloadedCertificateServesNewConnectionsAndLeavesTheOldAlone() throws {
    let slot = TLSContextSlot(try TLSContext(try certificates.identity("before")))
    let group = try ListenerGroup(opening: .tcp(host: "127.0.0.1", port: 0), loops: 1, tls: slot)
    let rig = Rig([group], echoes: true)
    defer { rig.stop() }
    let old = try TLSClient(port: rig.port)
    slot.replace(with: try TLSContext(try certificates.identity("after")))
    let new = try TLSClient(port: rig.port)
    #expect(old.serverCommonName == "before")
    #expect(new.serverCommonName == "after")
    try old.send([3])
    #expect(try old.receive(exactly: 1) == [3])
  }

  @Test func C033_renegotiationIsRefused() throws {
    let rig = try Rig(tls: try TLSContext(try certificates.identity("gateway.example")), echoes: true)
    defer { rig.stop() }
    let client = try TLSClient(port: rig.port, version: .only12)
    let handle = try #require(rig.journal.opened())
    ERR_clear_error()
    #expect(SSL_renegotiate(client.pointer) == 1)
    // The refusal is a warning to which our client answers with an error of its own.
    #expect(SSL_do_handshake(client.pointer) != 1)
    ERR_clear_error()
    #expect(rig.metrics.handshakesDone.value == 1)
    client.socket.close()
    #expect(rig.journal.closes(handle) != nil)
  }

  @Test func C033_aFloodOfKeyUpdatesIsCutOff() throws {
    let rig = try Rig(tls: try TLSContext(try certificates.identity("gateway.example")), echoes: true)
    defer { rig.stop() }
    let client = try TLSClient(port: rig.port)
    let handle = try #require(rig.journal.opened())
    var updates = 0
    while updates < 10_000, rig.journal.causes(of: handle).isEmpty {
      ERR_clear_error()
      guard SSL_key_update(client.pointer, SSL_KEY_UPDATE_NOT_REQUESTED) == 1,
        SSL_do_handshake(client.pointer) == 1
      else { break }
      updates += 1
    }
    ERR_clear_error()
    #expect(rig.journal.closes(handle) == .tlsFailure)
    #expect(updates < 10_000)
  }

  @Test func C033_aFewKeyUpdatesAreFine() throws {
    let rig = try Rig(tls: try TLSContext(try certificates.identity("gateway.example")), echoes: true)
    defer { rig.stop() }
    let client = try TLSClient(port: rig.port)
    for round in 0..<UInt8(20) {
      ERR_clear_error()
      #expect(SSL_key_update(client.pointer, SSL_KEY_UPDATE_REQUESTED) == 1)
      try client.send([round])
      #expect(try client.receive(exactly: 1) == [round])
    }
  }

  @Test func C031_aKeyUpdateToAnswerWhileTheSocketIsFullBreaksNeitherDirection() throws {
    var configuration = LoopConfiguration()
    configuration.sendBufferBytes = 4096
    let rig = try Rig(
      tls: try TLSContext(try certificates.identity("gateway.example")), configuration: configuration)
    defer { rig.stop() }
    let client = try TLSClient(port: rig.port, receiveBufferBytes: 4096)
    let handle = try #require(rig.journal.opened())
    let whole = numbered(500_000)
    rig.onLoop { $0.queue(whole, to: handle) }
    var got = try client.receive(exactly: 1_000)
    for round in 0..<UInt8(8) {
      ERR_clear_error()
      #expect(SSL_key_update(client.pointer, SSL_KEY_UPDATE_REQUESTED) == 1)
      try client.send([round, round, round])
    }
    got += try client.receive(exactly: whole.count - got.count)
    #expect(got == whole)
    let sent: [UInt8] = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 7]
    #expect(rig.journal.receives(24, from: handle) == sent)
  }

  @Test(arguments: [TLSClient.Version.any, .only12])
  func C022_aSlowReaderIsHeardWhileItReads(_ version: TLSClient.Version) throws {
    var configuration = LoopConfiguration()
    configuration.sendBufferBytes = 4096
    let rig = try Rig(
      tls: try TLSContext(try certificates.identity("gateway.example")), configuration: configuration)
    defer { rig.stop() }
    let client = try TLSClient(port: rig.port, version: version, receiveBufferBytes: 4096)
    let handle = try #require(rig.journal.opened())
    let whole = numbered(2_000_000)
    rig.onLoop { $0.queue(whole, to: handle) }
    var got = try client.receive(exactly: 100_000)
    try client.send([1, 2, 3])
    // Far less than what is left, far more than what both sockets hold.
    got += try client.receive(exactly: 400_000)
    #expect(rig.journal.bytes(from: handle) == [1, 2, 3])
    got += try client.receive(exactly: 1_500_000)
    #expect(got == whole)
  }

  @Test func S6_eachUnusableCertificateIsOneSentence() throws {
    let good = try certificates.identity("good")
    let other = try certificates.identity("other")
    let missing = certificates.folder + "/missing"
    func failure(_ certificate: String, _ key: String) -> TLSFailure? {
      do throws(TLSFailure) {
        _ = try TLSContext(TLSIdentity(certificatePath: certificate, keyPath: key))
        return nil
      } catch { return error }
    }
    #expect(failure(good.certificatePath, good.keyPath) == nil)
    #expect(
      failure(missing, good.keyPath)?.description
        == "the certificate \(missing) cannot be read: No such file or directory")
    #expect(
      failure(good.certificatePath, missing)?.description
        == "the private key \(missing) cannot be read: No such file or directory")
    #expect(failure(good.keyPath, good.keyPath)?.description == "\(good.keyPath) holds no PEM certificate")
    #expect(
      failure(good.certificatePath, good.certificatePath)?.description
        == "\(good.certificatePath) holds no PEM private key, or one locked by a pass phrase")
    #expect(
      failure(good.certificatePath, other.keyPath)?.description
        == "the private key \(other.keyPath) does not belong to \(good.certificatePath)")
    #expect(throws: TLSFailure.serverNameInvalid("a.*.b")) {
      try TLSContext(good, named: [TLSNamedIdentity(serverName: "a.*.b", identity: other)])
    }
  }

  @Test func S9_theDaysLeftAreCounted() throws {
    #expect(try TLSContext(try certificates.identity("good")).certificateDaysLeft() == 30)
  }
}
