import Glibc
import HTTP1
import WebSocket

/// A blocking client on a real socket, for tests of the running node. Every read gives up after ten seconds.
final class PlainClient {
  struct Failure: Error {
    var what: String
  }

  /// Runs `body`, every error as a `Failure`, so that it can leave its thread.
  static func failing<Value>(_ body: () throws -> Value) throws(Failure) -> Value {
    do {
      return try body()
    } catch {
      throw error as? Failure ?? Failure(what: "\(error)")
    }
  }

  private let descriptor: Int32
  private var machine = ConnectionMachine(role: .client, maximumMessageBytes: 1 << 20)
  private var buffered: [UInt8] = []
  private var texts: [String] = []
  private(set) var closeCode: Int?

  init(port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var limit = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { throw Failure(what: "connect: errno \(errno)") }
  }

  deinit { close(descriptor) }

  func upgrade() throws {
    let handshake = ClientHandshake(
      host: "localhost", target: "/v1/live", nonce: [UInt8](repeating: 3, count: 16),
      subprotocols: ["threadcast.v1.json"])
    var request: [UInt8] = []
    handshake.appendRequest(to: &request)
    try write(request)
    var parser = ResponseParser()
    while true {
      var bytes = try read()
      let head = bytes.withUnsafeMutableBytes { buffer -> ResponseParser.Head? in
        var input = buffer
        guard case .head(let head) = parser.next(&input) else { return nil }
        buffered = Array(input)
        return head
      }
      guard let head else { continue }
      guard case .accepted = handshake.evaluate(head) else { throw Failure(what: "refused: \(head.status)") }
      return
    }
  }

  func text(_ json: String) throws {
    var frame: [UInt8] = []
    var json = json
    json.withUTF8 {
      FrameEncoder.append(opcode: .text, payload: UnsafeRawBufferPointer($0), maskKey: 0x0102_0304, to: &frame)
    }
    try write(frame)
  }

  /// The next text message; nil once the gateway has closed.
  func next() throws -> String? {
    while texts.isEmpty, closeCode == nil {
      if buffered.isEmpty { buffered = try read() }
      if buffered.isEmpty { return nil }
      take()
    }
    return texts.isEmpty ? nil : texts.removeFirst()
  }

  private func take() {
    var bytes = buffered
    buffered = []
    bytes.withUnsafeMutableBytes { buffer in
      var input = buffer
      while !input.isEmpty {
        switch machine.next(&input, inflater: nil) {
        case .message(_, let payload): texts.append(String(decoding: payload, as: UTF8.self))
        case .close(let code, _): closeCode = code.map { Int($0.value) } ?? 1005
        case .ping, .pong, .needMore, .failed: break
        }
      }
    }
  }

  private func read() throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    guard count >= 0 else { throw Failure(what: "recv: errno \(errno)") }
    return Array(bytes[..<count])
  }

  private func write(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { throw Failure(what: "send: errno \(errno)") }
      sent += count
    }
  }
}
