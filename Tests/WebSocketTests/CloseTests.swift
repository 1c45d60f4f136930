import Testing
import WebSocket

@Suite("RFC 6455 §7: closing")
struct CloseTests {
  /// A close frame's payload: a code's two octets and a reason.
  static func payload(_ code: UInt16, _ reason: [UInt8] = []) -> [UInt8] {
    [UInt8(code / 256), UInt8(code % 256)] + reason
  }

  @Test(arguments: [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999])
  func codesThatMayBeSent(_ code: UInt16) {
    Row("to a server", masked(0x88, Self.payload(code)), [.close(code, "")]).check()
    Row("to a client", plain(0x88, Self.payload(code)), to: .client, [.close(code, "")]).check()
    #expect(CloseCode(code).isValidOnWire)
  }

  @Test(arguments: [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535])
  func C013_codesThatMayNotBeSentAre1002(_ code: UInt16) {
    Row("bare", masked(0x88, Self.payload(code)), [.failed(.invalidClose, 1002)]).check()
    Row("with a reason", masked(0x88, Self.payload(code, [0x61])), [.failed(.invalidClose, 1002)]).check()
    Row("to a client", plain(0x88, Self.payload(code)), to: .client, [.failed(.invalidClose, 1002)]).check()
    #expect(!CloseCode(code).isValidOnWire)
  }

  @Test(arguments: [
    Row("nothing", masked(0x88, []), [.close(nil, "")]),
    Row("a reason", masked(0x88, [0x03, 0xE8, 0x62, 0x79, 0x65]), [.close(1000, "bye")]),
    Row("a reason beyond ASCII", masked(0x88, [0x0F, 0xA0, 0xCE, 0xBA]), [.close(4000, "κ")]),
    Row(
      "125 bytes", masked(0x88, [0x03, 0xE9] + [UInt8](repeating: 0x61, count: 123)),
      [.close(1001, String(repeating: "a", count: 123))]),
    Row("one byte", masked(0x88, [0x03]), [.failed(.invalidClose, 1002)]),
    Row("a reason that is not UTF-8", masked(0x88, [0x03, 0xE8, 0xC0, 0xAF]), [.failed(.invalidClose, 1007)]),
    Row("a surrogate", masked(0x88, [0x03, 0xE8, 0xED, 0xA0, 0x80]), [.failed(.invalidClose, 1007)]),
    Row("a cut character", masked(0x88, [0x03, 0xE8, 0xE2, 0x82]), [.failed(.invalidClose, 1007)]),
    Row("a wrong code counts before a wrong reason", masked(0x88, [0x03, 0xED, 0xFF]), [.failed(.invalidClose, 1002)]),
  ])
  func C013_closePayloads(_ row: Row) { row.check() }

  /// §5.5.1: nothing is read behind a close frame, not even what is wrong.
  @Test(arguments: [
    Row("a text", masked(0x88, [0x03, 0xE8]) + masked(0x81, "late"), [.close(1000, "")]),
    Row("a second close", masked(0x88, [0x03, 0xE8]) + masked(0x88, [0x03, 0xE9]), [.close(1000, "")]),
    Row("a reserved opcode", masked(0x88, []) + masked(0x83, "x"), [.close(nil, "")]),
    Row("noise", masked(0x88, []) + [0xFF, 0xFF, 0xFF], [.close(nil, "")]),
    Row("a text to a client", plain(0x88, []) + plain(0x81, [0x61]), to: .client, [.close(nil, "")]),
  ])
  func nothingIsReadBehindAClose(_ row: Row) { row.check() }

  /// §7.1.7: a failed connection reads no more.
  @Test(arguments: [
    Row("a text", masked(0x83, "") + masked(0x81, "late"), [.failed(.reservedOpcode, 1002)]),
    Row("a close", masked(0x81, [0xFF]) + masked(0x88, [0x03, 0xE8]), [.failed(.invalidText, 1007)]),
    Row("another failure", plain(0x81, [0x61]) + masked(0x83, ""), [.failed(.masking, 1002)]),
    Row(
      "the rest of a message", masked(0x88, [0x03]) + masked(0x01, "a") + masked(0x80, "b"),
      [.failed(.invalidClose, 1002)]),
  ])
  func nothingIsReadBehindAFailure(_ row: Row) { row.check() }

  @Test func aCloseIsSentOnceAndReceivedOnce() {
    var machine = Setup.server.machine()
    #expect(machine.closeSent == false)
    #expect(machine.closeReceived == false)
    #expect(machine.notes(masked(0x88, [0x03, 0xE8])) == [.close(1000, "")])
    #expect(machine.closeReceived == true)
    #expect(machine.closeSent == false)
    #expect(machine.beginClose() == true)
    #expect(machine.closeSent == true)
    #expect(machine.beginClose() == false)
  }

  /// §5.5.1: until the peer's own close frame comes, what it had under way is still read.
  @Test func messagesAreReadBetweenOurCloseAndTheirs() {
    var machine = Setup.server.machine()
    #expect(machine.notes(masked(0x01, "a")) == [])
    #expect(machine.beginClose() == true)
    #expect(machine.closeReceived == false)
    #expect(machine.notes(masked(0x80, "b")) == [.text("ab")])
    #expect(machine.notes(masked(0x88, [0x03, 0xE8])) == [.close(1000, "")])
    #expect(machine.closeReceived == true)
    #expect(machine.notes(masked(0x81, "c")) == [])
  }

  @Test func aFailureIsNoReceivedClose() {
    var machine = Setup.server.machine()
    #expect(machine.notes(masked(0x88, [0x03])) == [.failed(.invalidClose, 1002)])
    #expect(machine.closeReceived == false)
    #expect(machine.beginClose() == true)
  }

  // MARK: Sending

  private func written(_ code: CloseCode?, _ reason: String) -> [UInt8] {
    var bytes: [UInt8] = []
    FrameEncoder.appendClosePayload(code: code, reason: reason, to: &bytes)
    return bytes
  }

  @Test func closePayloadsAreWritten() {
    #expect(written(nil, "ignored") == [])
    #expect(written(.normal, "") == [0x03, 0xE8])
    #expect(written(.goingAway, "bye") == [0x03, 0xE9, 0x62, 0x79, 0x65])
    #expect(written(CloseCode(4999), "κ") == [0x13, 0x87, 0xCE, 0xBA])
  }

  /// 123 octets are left for a reason; a character that does not fit whole is left out with all that follows.
  @Test func aLongReasonIsCutBetweenCharacters() {
    let a123 = String(repeating: "a", count: 123)
    #expect(written(.normal, a123) == [0x03, 0xE8] + [UInt8](repeating: 0x61, count: 123))
    #expect(written(.normal, a123 + "b") == [0x03, 0xE8] + [UInt8](repeating: 0x61, count: 123))
    let a122 = String(repeating: "a", count: 122)
    #expect(written(.normal, a122 + "κb") == [0x03, 0xE8] + [UInt8](repeating: 0x61, count: 122))
    let a121 = String(repeating: "a", count: 121)
    #expect(written(.normal, a121 + "κb") == [0x03, 0xE8] + [UInt8](repeating: 0x61, count: 121) + [0xCE, 0xBA])
    // The family is one character of 18 octets: 105 others leave room for it, 106 do not.
    let a105 = String(repeating: "a", count: 105)
    #expect(written(.normal, a105 + "👩‍👩‍👧").count == 125)
    let a106 = String(repeating: "a", count: 106)
    #expect(written(.normal, a106 + "👩‍👩‍👧") == [0x03, 0xE8] + [UInt8](repeating: 0x61, count: 106))
  }

  @Test func C013_1005IsNeverWritten() async {
    await #expect(processExitsWith: .failure) {
      var bytes: [UInt8] = []
      FrameEncoder.appendClosePayload(code: CloseCode(1005), reason: "", to: &bytes)
    }
  }

  @Test func C013_1006IsNeverWritten() async {
    await #expect(processExitsWith: .failure) {
      var bytes: [UInt8] = []
      FrameEncoder.appendClosePayload(code: CloseCode(1006), reason: "", to: &bytes)
    }
  }

  @Test func C013_1015IsNeverWritten() async {
    await #expect(processExitsWith: .failure) {
      var bytes: [UInt8] = []
      FrameEncoder.appendClosePayload(code: CloseCode(1015), reason: "", to: &bytes)
    }
  }
}
