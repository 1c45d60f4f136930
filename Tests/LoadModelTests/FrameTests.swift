import JSON
import LoadModel
import Primitives
import Testing

@Suite struct FrameTests {
  private let stamp = PayloadStamp(sender: 0x2A, number: 7, intended: Instant(nanoseconds: 0x1234_5678))

  private func frame(_ text: String) -> LiveFrame {
    Array(text.utf8).withUnsafeBytes { LiveFrame.read($0, JSONParser()) }
  }

  @Test func aStampIsWrittenAndFound() {
    var payload = PayloadText.make(byteCount: 60)
    stamp.write(to: &payload)
    #expect(String(decoding: payload.prefix(33), as: UTF8.self) == "tc1:002a000000070000000012345678;")
    payload.withUnsafeBytes { #expect(PayloadStamp(startOf: $0) == stamp) }
    (Array("text: ".utf8) + payload).withUnsafeBytes {
      #expect(PayloadStamp(startOf: $0) == nil)
      #expect(PayloadStamp(foundIn: $0) == stamp)
    }
  }

  @Test func aDamagedStampIsNone() {
    for text in [
      "", "tc1:", "tc1:002a00000007000000001234567;", "tc1:002A000000070000000012345678;",
      "tc1:002a000000070000000012345678 ",
    ] {
      Array(text.utf8).withUnsafeBytes { #expect(PayloadStamp(foundIn: $0) == nil, "\(text)") }
    }
  }

  @Test func payloadsHaveTheirSizeAndAreTheSameInEveryRun() {
    for count in [33, 40, 150, 4096] { #expect(PayloadText.make(byteCount: count).count == count) }
    #expect(PayloadText.make(byteCount: 200) == PayloadText.make(byteCount: 200))
  }

  @Test(arguments: [
    #"{"event":"message","seq":912,"data":{"id":912,"text":"tc1:002a000000070000000012345678; hello"}}"#,
    #"{"data":{"text":"tc1:002a000000070000000012345678; hello"}, "seq":912, "event":"message"}"#,
  ])
  func aDeliveryIsReadHoweverItIsWritten(text: String) {
    guard case .delivery(let found, let seq) = frame(text) else { return #expect(Bool(false), "no delivery") }
    #expect(found == stamp)
    #expect(seq == 912)
  }

  @Test(arguments: [
    #"{"id":8,"ok":true,"data":{"id":912,"text":"tc1:002a000000070000000012345678;"}}"#,
    #"{"ok":true,"data":{"text":"tc1:002a000000070000000012345678;","id":912},"id":8}"#,
  ])
  func anAcknowledgementIsReadHoweverItIsWritten(text: String) {
    guard case .accepted(let request, let id, let found) = frame(text) else {
      return #expect(Bool(false), "no acknowledgement")
    }
    #expect(request == 8)
    #expect(id == 912)
    #expect(found == stamp)
  }

  @Test func aRefusalIsRead() {
    guard
      case .refused(let request, let code, let isRetryable) = frame(
        #"{"id":3,"ok":false,"error":{"code":"ERR_OVERLOADED","message":"…","retryable":true}}"#)
    else { return #expect(Bool(false), "no refusal") }
    #expect(request == 3)
    #expect(code == "ERR_OVERLOADED")
    #expect(isRetryable)
  }

  @Test func aHelloIsReadWithItsReset() {
    guard
      case .hello(let epoch, let seq, let resumed, let reason) = frame(
        #"{"id":0,"ok":true,"data":{"sessionId":"s","epoch":"e1","seq":41,"resumed":false,"reset":{"reason":"too_many"}}}"#
      )
    else { return #expect(Bool(false), "no hello") }
    #expect(epoch == "e1")
    #expect(seq == 41)
    #expect(!resumed)
    #expect(reason == "too_many")
  }

  @Test func otherEventsAreTold() {
    guard case .heartbeat(seq: 5) = frame(#"{"event":"heartbeat","seq":5}"#) else {
      return #expect(Bool(false), "no heartbeat")
    }
    guard case .event(seq: 6) = frame(#"{"event":"group.member","seq":6,"data":{}}"#) else {
      return #expect(Bool(false), "no event")
    }
    guard case .hint = frame(#"{"event":"typing","data":{}}"#) else { return #expect(Bool(false), "no hint") }
    guard case .strangeMessage(seq: 9) = frame(#"{"event":"message","seq":9,"data":{"text":"hi"}}"#) else {
      return #expect(Bool(false), "no strange message")
    }
    guard case .other = frame("nonsense") else { return #expect(Bool(false), "nonsense was understood") }
  }
}
