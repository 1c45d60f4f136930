import Testing
import WebSocket

@Suite("RFC 7692 §7.2.2: inflating")
struct InflateTests {
  /// `Hello` in one block of fixed Huffman codes (§7.2.3.1).
  static let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
  /// `Hello` as a reference to the one before (§7.2.3.2).
  static let helloAgain: [UInt8] = [0xF2, 0x00, 0x11, 0x00, 0x00]
  /// `Hello` in a block without compression (§7.2.3.3).
  static let stored: [UInt8] = [0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00]
  /// `Hello` in a block marked as the last (§7.2.3.4).
  static let final: [UInt8] = [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]
  /// `Hello` in two blocks, with an empty one between (§7.2.3.5).
  static let blocks: [UInt8] = [0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00]

  static let keeping = DeflateParameters(serverNoContextTakeover: false, clientNoContextTakeover: false)
  static let keepingServer = Setup(deflate: keeping)
  static let keepingClient = Setup(role: .client, deflate: keeping)

  @Test(arguments: [
    Row("§7.2.3.1, as printed", [0xC1, 0x07] + hello, to: .deflatingClient, [.text("Hello")]),
    Row(
      "§7.2.3.1, two fragments", [0x41, 0x03, 0xF2, 0x48, 0xCD, 0x80, 0x04, 0xC9, 0xC9, 0x07, 0x00],
      to: .deflatingClient, [.text("Hello")]),
    Row(
      "§7.2.3.2, a reference back", plain(0xC1, hello) + plain(0xC1, helloAgain), to: keepingClient,
      [.text("Hello"), .text("Hello")]),
    Row("§7.2.3.3, not compressed", plain(0xC1, stored), to: .deflatingClient, [.text("Hello")]),
    Row("§7.2.3.4, the last block", plain(0xC1, final), to: .deflatingClient, [.text("Hello")]),
    Row("§7.2.3.5, two blocks", plain(0xC1, blocks), to: .deflatingClient, [.text("Hello")]),
    Row("§7.2.3.6, nothing", plain(0xC1, [0x00]), to: .deflatingClient, [.text("")]),
  ])
  func theExamplesOfSection7_2_3(_ row: Row) { row.check() }

  @Test(arguments: [
    Row("one frame", masked(0xC1, hello), to: .deflatingServer, [.text("Hello")]),
    Row("binary", masked(0xC2, hello), to: .deflatingServer, [.binary(Array("Hello".utf8))]),
    Row("not compressed although agreed", masked(0x81, "Hello"), to: .deflatingServer, [.text("Hello")]),
    Row(
      "two kept", masked(0xC1, hello) + masked(0xC1, helloAgain), to: keepingServer, [.text("Hello"), .text("Hello")]),
    Row(
      "plain messages between leave the window alone",
      masked(0xC1, hello) + masked(0x81, "plain") + masked(0xC1, helloAgain), to: keepingServer,
      [.text("Hello"), .text("plain"), .text("Hello")]),
    Row(
      "the last block, then a reference back", masked(0xC1, final) + masked(0xC1, helloAgain), to: keepingServer,
      [.text("Hello"), .text("Hello")]),
    Row(
      "the last block without an empty one behind", masked(0xC1, Array(final.dropLast())) + masked(0xC1, helloAgain),
      to: keepingServer, [.text("Hello"), .text("Hello")]),
    Row(
      "the last block twice in one message", masked(0xC1, final.dropLast() + final), to: .deflatingServer,
      [.text("HelloHello")]),
    Row(
      "empty messages between",
      masked(0xC1, [0x00]) + masked(0xC1, hello) + masked(0xC1, [0x00])
        + masked(0xC1, helloAgain), to: keepingServer, [.text(""), .text("Hello"), .text(""), .text("Hello")]),
    Row(
      "an empty payload", masked(0xC1, hello) + masked(0xC1, []) + masked(0xC1, helloAgain), to: keepingServer,
      [.text("Hello"), .text(""), .text("Hello")]),
    Row(
      "a ping between fragments", masked(0x41, [0xF2, 0x48]) + masked(0x89, []) + masked(0x80, Array(hello[2...])),
      to: .deflatingServer, [.ping([]), .text("Hello")]),
    Row(
      "an empty last fragment", masked(0x41, hello) + masked(0x00, []) + masked(0x80, []), to: .deflatingServer,
      [.text("Hello")]),
  ])
  func messagesAreInflated(_ row: Row) { row.check() }

  /// Without context a reference to an earlier message has nothing to refer to.
  @Test(arguments: [
    Row("the first message", masked(0xC1, helloAgain), to: keepingServer, [.failed(.deflate, 1007)]),
    Row(
      "the second, without context", masked(0xC1, hello) + masked(0xC1, helloAgain), to: .deflatingServer,
      [.text("Hello"), .failed(.deflate, 1007)]),
    Row(
      "the second to a client, without context", plain(0xC1, hello) + plain(0xC1, helloAgain), to: .deflatingClient,
      [.text("Hello"), .failed(.deflate, 1007)]),
    Row(
      "the last block, without context", masked(0xC1, final) + masked(0xC1, helloAgain), to: .deflatingServer,
      [.text("Hello"), .failed(.deflate, 1007)]),
    Row("a block of the reserved type", masked(0xC2, [0x06, 0x00]), to: .deflatingServer, [.failed(.deflate, 1007)]),
    Row(
      "lengths that do not match", masked(0xC2, [0x00, 0x05, 0x00, 0x00, 0x00, 0x61]), to: .deflatingServer,
      [.failed(.deflate, 1007)]),
    Row("noise", masked(0xC2, [UInt8](repeating: 0xFF, count: 9)), to: .deflatingServer, [.failed(.deflate, 1007)]),
    Row(
      "noise behind the last block", masked(0xC2, final.dropLast() + [0xFF, 0xFF]), to: .deflatingServer,
      [.failed(.deflate, 1007)]),
    Row(
      "text that is not UTF-8", masked(0xC1, [0x00, 0x02, 0x00, 0xFD, 0xFF, 0xC0, 0xAF, 0x00]), to: .deflatingServer,
      [.failed(.invalidText, 1007)]),
    Row(
      "text that is cut in a character", masked(0xC1, [0x00, 0x01, 0x00, 0xFE, 0xFF, 0xCE, 0x00]),
      to: .deflatingServer, [.failed(.invalidText, 1007)]),
  ])
  func damagedDataIs1007(_ row: Row) { row.check() }

  /// Whatever is cut off at the end, the message is not complete, even when its first part could be inflated.
  @Test func aMessageCutInsideABlockIs1007() {
    for (name, bytes) in [("fixed", Self.hello), ("stored", Self.stored), ("two blocks", Self.blocks)] {
      for count in 1..<bytes.count {
        let cut = Array(bytes[..<count])
        // One octet of the stored example is an empty message of its own; so is a whole first block of two.
        if cut == [0x00] || count == 4 && name == "two blocks" { continue }
        for setup in [Setup.deflatingServer, Self.keepingServer] {
          #expect(read(masked(0xC2, cut), setup) == [.failed(.deflate, 1007)], "\(name) cut at \(count)")
        }
      }
    }
    for count in 1..<Self.final.count - 1 {
      #expect(
        read(masked(0xC2, Array(Self.final[..<count])), .deflatingServer) == [.failed(.deflate, 1007)],
        "final cut at \(count)")
    }
  }

  /// One state serves many connections: nothing of one's messages, whole or damaged, is left for the next.
  @Test func aSharedInflaterForgetsEachMessage() {
    let inflater = Inflater()
    for damaged in [Array(Self.hello[..<3]), [0x06], Self.helloAgain] {
      var first = Setup.deflatingServer.machine()
      #expect(first.notes(masked(0xC2, damaged), inflater) == [.failed(.deflate, 1007)])
      var second = Setup.deflatingServer.machine()
      #expect(second.notes(masked(0xC1, Self.hello), inflater) == [.text("Hello")])
      #expect(second.notes(masked(0xC1, Self.hello), inflater) == [.text("Hello")])
    }
  }
}
