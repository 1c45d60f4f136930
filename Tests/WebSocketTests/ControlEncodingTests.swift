import Testing
import WebSocket

@Suite("RFC 6455 §5.5: control frames written")
struct ControlEncodingTests {
  @Test func anOversizeControlFrameIsOurMistake() async {
    await #expect(processExitsWith: .failure) {
      var target: [UInt8] = []
      [UInt8](repeating: 0, count: 126).withUnsafeBytes {
        FrameEncoder.append(opcode: .ping, payload: $0, to: &target)
      }
    }
  }
}
