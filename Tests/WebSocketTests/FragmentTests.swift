import Testing
import WebSocket

@Suite("RFC 6455 §5.4 fragments, §5.5 control frames")
struct FragmentTests {
  @Test(arguments: [
    Row(
      "three pieces", masked(0x01, "ab") + masked(0x00, "cd") + masked(0x80, "ef"), [.text("abcdef")]),
    Row("an empty first piece", masked(0x02, []) + masked(0x80, [7, 8]), [.binary([7, 8])]),
    Row(
      "empty middle pieces", masked(0x01, "a") + masked(0x00, "") + masked(0x00, "") + masked(0x80, "b"), [.text("ab")]),
    Row("an empty last piece", masked(0x01, "ab") + masked(0x80, ""), [.text("ab")]),
    Row("nothing but empty pieces", masked(0x01, "") + masked(0x00, "") + masked(0x80, ""), [.text("")]),
    Row(
      "a ping and a pong between",
      masked(0x01, "ab") + masked(0x89, "p") + masked(0x00, "cd") + masked(0x8A, "q") + masked(0x80, "ef"),
      [.ping([0x70]), .pong([0x71]), .text("abcdef")]),
    Row(
      "an empty ping before the first octet", masked(0x02, []) + masked(0x89, []) + masked(0x80, [9]),
      [.ping([]), .binary([9])]),
    Row("a close between", masked(0x01, "ab") + masked(0x88, [0x03, 0xE8]), [.close(1000, "")]),
    Row(
      "two messages after each other", masked(0x01, "a") + masked(0x80, "b") + masked(0x02, [1]) + masked(0x80, [2]),
      [.text("ab"), .binary([1, 2])]),
    Row(
      "a client's view", plain(0x01, [0x61]) + plain(0x89, []) + plain(0x80, [0x62]), to: .client,
      [.ping([]), .text("ab")]),
  ])
  func fragmentsAreJoined(_ row: Row) { row.check() }

  @Test(arguments: [
    Row(
      "a new text inside a fragmented one", masked(0x01, #"{"a":"#) + masked(0x81, "1}"),
      [.failed(.interruptedMessage, 1002)]),
    Row("a new binary inside a text", masked(0x01, "a") + masked(0x82, [1]), [.failed(.interruptedMessage, 1002)]),
    Row("a second first piece", masked(0x01, "a") + masked(0x01, "b"), [.failed(.interruptedMessage, 1002)]),
    Row(
      "a new text after an empty first piece", masked(0x01, "") + masked(0x81, "b"),
      [.failed(.interruptedMessage, 1002)]),
    Row("a continuation without a start", masked(0x80, "a"), [.failed(.unexpectedContinuation, 1002)]),
    Row("an open continuation without a start", masked(0x00, "a"), [.failed(.unexpectedContinuation, 1002)]),
    Row(
      "a continuation after a whole message", masked(0x81, "a") + masked(0x80, "b"),
      [.text("a"), .failed(.unexpectedContinuation, 1002)]),
    Row(
      "a continuation after the last piece", masked(0x01, "a") + masked(0x80, "b") + masked(0x80, "c"),
      [.text("ab"), .failed(.unexpectedContinuation, 1002)]),
  ])
  func C002_messagesAreNotMixed(_ row: Row) { row.check() }

  @Test(arguments: [
    Row("a fragmented ping", masked(0x09, "0123456789"), [.failed(.fragmentedControl, 1002)]),
    Row("a fragmented pong", masked(0x0A, ""), [.failed(.fragmentedControl, 1002)]),
    Row("a fragmented close", masked(0x08, ""), [.failed(.fragmentedControl, 1002)]),
    Row(
      "a ping of 126 bytes", masked(0x89, [UInt8](repeating: 0, count: 126)), [.failed(.oversizeControl, 1002)]),
    Row(
      "a close of 126 bytes", masked(0x88, [0x03, 0xE8] + [UInt8](repeating: 0x61, count: 124)),
      [.failed(.oversizeControl, 1002)]),
    Row("a pong with a 64-bit length", [0x8A, 0xFF], [.failed(.oversizeControl, 1002)]),
    Row("opcode 3", masked(0x83, ""), [.failed(.reservedOpcode, 1002)]),
    Row("RSV2", masked(0xA9, ""), [.failed(.reservedBits, 1002)]),
    Row("an unmasked ping of a client", plain(0x89, []), [.failed(.masking, 1002)]),
  ])
  func C003_controlFramesKeepTheirRules(_ row: Row) { row.check() }

  @Test func controlPayloadsOf125BytesAreWhole() {
    let payload = (0..<125).map { UInt8($0) }
    Row("ping", masked(0x89, payload), [.ping(payload)]).check()
    Row("pong to a client", plain(0x8A, payload), to: .client, [.pong(payload)]).check()
  }

  /// A control frame cut over reads inside a message leaves the message's own octets alone.
  @Test func aSplitControlFrameDoesNotTouchTheMessage() {
    var machine = Setup.server.machine()
    let ping = masked(0x89, "12345678")
    #expect(machine.notes(masked(0x01, "left ") + ping[..<9]) == [])
    #expect(machine.notes(Array(ping[9...])) == [.ping(Array("12345678".utf8))])
    #expect(machine.notes(masked(0x8A, "abc")) == [.pong(Array("abc".utf8))])
    #expect(machine.notes(masked(0x80, "right")) == [.text("left right")])
    #expect(machine.notes(masked(0x81, "next")) == [.text("next")])
  }

  // MARK: Limits

  @Test func aMessageMayFillTheLimit() {
    let setup = Setup(maximumMessageBytes: 200)
    let whole = [UInt8](repeating: 0x61, count: 200)
    Row("whole", masked(0x82, whole), to: setup, [.binary(whole)]).check()
    Row(
      "in two", masked(0x02, Array(whole[..<150])) + masked(0x80, Array(whole[150...])), to: setup, [.binary(whole)]
    ).check()
    Row("twice", masked(0x82, whole) + masked(0x82, whole), to: setup, [.binary(whole), .binary(whole)]).check()
  }

  /// One byte more is refused when the length is announced: no octet of the payload is needed, nor kept.
  @Test func aLongerMessageIsRefusedAtItsAnnouncement() {
    let setup = Setup(maximumMessageBytes: 200)
    let announced: [UInt8] = [0x82, 0xFE, 0x00, 201] + exampleKey
    Row("201 announced", announced, to: setup, [.failed(.messageTooBig, 1009)]).check()
    #expect(octetsUntilFailure(announced, setup) == 8)
    let first = masked(0x02, [UInt8](repeating: 1, count: 150))
    Row(
      "51 more announced", first + [0x00, 0x80 | 51] + exampleKey, to: setup, [.failed(.messageTooBig, 1009)]
    ).check()
    #expect(octetsUntilFailure(first + [0x80, 0x80 | 51] + exampleKey, setup) == first.count + 6)
    Row(
      "an empty piece after a full one", first + masked(0x00, [UInt8](repeating: 1, count: 50)) + masked(0x80, []),
      to: setup, [.binary([UInt8](repeating: 1, count: 200))]
    ).check()
  }

  @Test func controlFramesDoNotCountForTheMessage() {
    let setup = Setup(maximumMessageBytes: 4, maximumFragments: 2)
    let ping = masked(0x89, [UInt8](repeating: 5, count: 100))
    Row(
      "pings between", masked(0x02, [1, 2]) + ping + ping + ping + masked(0x80, [3, 4]), to: setup,
      [
        .ping([UInt8](repeating: 5, count: 100)), .ping([UInt8](repeating: 5, count: 100)),
        .ping([UInt8](repeating: 5, count: 100)), .binary([1, 2, 3, 4]),
      ]
    ).check()
  }

  /// 10,000 fragments of 1 KB against 1 MB: the 1,025th crosses it.
  @Test func C025_manyFragmentsEndAtTheCrossingOne() {
    var machine = Setup(maximumMessageBytes: 1 << 20).machine()
    let kilobyte = [UInt8](repeating: 0x61, count: 1024)
    #expect(machine.notes(masked(0x02, kilobyte)) == [])
    let piece = masked(0x00, kilobyte)
    var sent = 1
    var notes: [Note] = []
    while notes.isEmpty, sent < 10_000 {
      notes = machine.notes(piece)
      sent += 1
    }
    #expect(notes == [.failed(.messageTooBig, 1009)])
    #expect(sent == 1025)
    #expect(machine.assembledBytes == 0)
  }

  @Test func C025_emptyContinuationsAreCounted() {
    let setup = Setup(maximumFragments: 4)
    let empty = masked(0x00, "")
    Row(
      "four are allowed", masked(0x01, "") + empty + empty + masked(0x80, "a"), to: setup, [.text("a")]
    ).check()
    Row(
      "the fifth is not", masked(0x01, "") + empty + empty + empty + empty, to: setup,
      [.failed(.tooManyFragments, 1008)]
    ).check()
    Row(
      "each message counts anew",
      masked(0x01, "") + empty + masked(0x80, "a") + masked(0x01, "") + empty
        + masked(0x80, "b"), to: setup, [.text("a"), .text("b")]
    ).check()
  }

  @Test func C025_theDefaultCapIs16384() {
    var machine = Setup.server.machine()
    #expect(machine.notes(masked(0x01, "x")) == [])
    let empty = masked(0x00, "")
    var sent = 1
    var notes: [Note] = []
    while notes.isEmpty, sent < 20_000 {
      notes = machine.notes(empty)
      sent += 1
    }
    #expect(notes == [.failed(.tooManyFragments, 1008)])
    #expect(sent == 16_385)
    #expect(machine.assembledBytes == 0)
  }
}
