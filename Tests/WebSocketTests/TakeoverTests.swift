import Testing
import WebSocket

@Suite("RFC 7692 §7.1.1, §7.1.2: context and windows")
struct TakeoverTests {
  /// JSON, a stretch of text that refers far back, an empty message twice, the first again, noise.
  static let messages: [[UInt8]] = {
    let json = Array(#"{"event":"message","seq":912,"data":{"text":"κόσμε","tags":["a","b","a"]}}"#.utf8)
    let chapter = noise(300)
    let far = chapter + [UInt8](repeating: 0x20, count: 1000) + noise(40_000, seed: 7).map { $0 & 0x3F } + chapter
    return [json, far + chapter, [], [], json, noise(2048, seed: 3)]
  }()

  private func compress(_ payload: [UInt8], _ deflater: Deflater) -> [UInt8] {
    var bytes: [UInt8] = []
    payload.withUnsafeBytes { deflater.compress($0, into: &bytes) }
    return bytes
  }

  /// Every combination of the flags with every window: what one side deflates, the other side's machine reads, and a
  /// strict peer finds no reference beyond the window.
  @Test(arguments: 8...15, [false, true]) func C008_messagesGoBothWays(_ bits: Int, _ keepsContext: Bool) throws {
    let agreed = DeflateParameters(
      serverNoContextTakeover: !keepsContext, clientNoContextTakeover: !keepsContext, serverMaxWindowBits: bits,
      clientMaxWindowBits: bits)
    for level in [1, 6] as [Int32] {
      for sender in [Role.server, .client] {
        let deflater = try Deflater(windowBits: bits, keepsContext: keepsContext, level: level)
        var strict = StrictInflater(keepsContext: keepsContext)
        let inflater = Inflater()
        var machine = Setup(role: sender == .server ? .client : .server, deflate: agreed).machine()
        for (index, message) in Self.messages.enumerated() {
          let bytes = compress(message, deflater)
          let frame = sender == .server ? plain(0xC2, bytes) : masked(0xC2, bytes)
          #expect(machine.notes(frame, inflater) == [.binary(message)], "message \(index) of the \(sender)")
          if sender == .server {
            #expect(try strict.inflate(bytes) == message, "message \(index), level \(level)")
          }
        }
        if sender == .server {
          #expect(strict.farthest <= 1 << bits, "level \(level)")
          // With 8 bits there are no references at all; with more there must have been some.
          #expect((strict.farthest == 0) == (bits == 8), "level \(level)")
        }
      }
    }
  }

  /// The two directions are agreed apart: only the sender's flag counts for what is read.
  @Test(arguments: [Role.server, .client], [false, true]) func C008_flagsAreNotMixedUp(
    _ reader: Role, _ senderKeepsContext: Bool
  ) {
    let senderIsServer = reader == .client
    // The other direction's flag says the opposite.
    let agreed = DeflateParameters(
      serverNoContextTakeover: senderIsServer ? !senderKeepsContext : senderKeepsContext,
      clientNoContextTakeover: senderIsServer ? senderKeepsContext : !senderKeepsContext)
    let first: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
    let reference: [UInt8] = [0xF2, 0x00, 0x11, 0x00, 0x00]
    let frames =
      senderIsServer ? plain(0xC1, first) + plain(0xC1, reference) : masked(0xC1, first) + masked(0xC1, reference)
    let expected: [Note] =
      senderKeepsContext ? [.text("Hello"), .text("Hello")] : [.text("Hello"), .failed(.deflate, 1007)]
    Row("a reference back", frames, to: Setup(role: reader, deflate: agreed), expected).check()
  }

  /// A window of 8 bits is kept by writing literals only: a thousand equal letters cost at least a bit each.
  @Test func anEightBitWindowHasNoReferences() throws {
    let letters = [UInt8](repeating: 0x61, count: 1000)
    let bytes = compress(letters, try Deflater(windowBits: 8))
    #expect(bytes.count >= 125)
    var strict = StrictInflater(keepsContext: false)
    #expect(try strict.inflate(bytes) == letters)
    #expect(strict.farthest == 0)
    // The smallest window with references writes the same in a few octets.
    #expect(compress(letters, try Deflater(windowBits: 9)).count < 30)
  }

  /// The strict peer itself is held to the RFC's examples.
  @Test func theStrictPeerReadsTheExamples() throws {
    var strict = StrictInflater(keepsContext: true)
    let hello = Array("Hello".utf8)
    #expect(try strict.inflate(InflateTests.hello) == hello)
    #expect(strict.farthest == 0)
    #expect(try strict.inflate(InflateTests.helloAgain) == hello)
    #expect(strict.farthest == 5)
    #expect(try strict.inflate(InflateTests.stored) == hello)
    #expect(try strict.inflate(InflateTests.blocks) == hello)
    #expect(try strict.inflate([0x00]) == [])
    var forgetful = StrictInflater(keepsContext: false)
    #expect(throws: StrictInflater.Damage.distance) { try forgetful.inflate(InflateTests.helloAgain) }
  }

  /// A thousand messages, by turns incompressible, short and JSON.
  static func turn(_ index: Int) -> [UInt8] {
    switch index % 3 {
    case 0: noise(2048, seed: UInt32(index + 1))
    case 1: Array("short message \(index % 10) ...".utf8.prefix(20))
    default: Array(#"{"event":"message","seq":\#(index),"data":{"text":"message \#(index)","tags":[]}}"#.utf8)
    }
  }

  /// With context everything is sent compressed, whether it gains or not, and a peer that keeps context reads all.
  @Test func C007_incompressibleMessagesDoNotBreakTheContext() throws {
    let deflater = try Deflater(windowBits: 15, keepsContext: true)
    let inflater = Inflater()
    var machine = InflateTests.keepingClient.machine()
    var strict = StrictInflater(keepsContext: true)
    var wrong: [Int] = []
    for index in 0..<1000 {
      let message = Self.turn(index)
      let bytes = compress(message, deflater)
      if machine.notes(plain(0xC2, bytes), inflater) != [.binary(message)] { wrong.append(index) }
      if index < 60, try strict.inflate(bytes) != message { wrong.append(index) }
    }
    #expect(wrong == [])
  }

  /// Without context a message that does not gain may be sent plain: the next one refers to none before it, and is read
  /// by a peer that keeps its window as well as by one that does not.
  @Test(arguments: [false, true]) func C007_messagesThatDoNotGainMayBeSentPlain(_ readerKeepsContext: Bool) throws {
    let deflater = try Deflater(windowBits: 15)
    let inflater = Inflater()
    let agreed = DeflateParameters(serverNoContextTakeover: !readerKeepsContext)
    var machine = Setup(role: .client, deflate: agreed).machine()
    var wrong: [Int] = []
    var sentPlain = 0
    for index in 0..<1000 {
      let message = Self.turn(index)
      let bytes = compress(message, deflater)
      let gains = bytes.count < message.count
      if !gains { sentPlain += 1 }
      let frame = gains ? plain(0xC2, bytes) : plain(0x82, message)
      if machine.notes(frame, inflater) != [.binary(message)] { wrong.append(index) }
    }
    #expect(wrong == [])
    #expect((334...667).contains(sentPlain))
  }
}
