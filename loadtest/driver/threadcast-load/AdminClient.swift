import Glibc
import HTTP1
import JSON
import LoadModel
import Workers

/// A blocking HTTP connection for the set-up. One call at a time; each waits at most 10 s.
final class AdminClient {
  private let stream: Stream
  private let authority: String
  private var input: [UInt8] = []

  init(_ target: Target) throws(LoadFailure) {
    let descriptor = try ServerAddress(target).connect(isBlocking: true)
    stream = Stream(descriptor, target.isSecure ? try TLSClient() : nil)
    authority = target.authority
  }

  /// Calls until the server has time for it, at most 100 times.
  /// - Parameter credential: a header line's name and value.
  /// - Returns: the body of a successful answer.
  func call(
    _ method: String, _ path: String, _ credential: (name: String, value: String), _ body: [UInt8]
  ) throws(LoadFailure) -> [UInt8] {
    for _ in 0..<100 {
      let (status, answer) = try attempt(method, path, credential, body)
      switch status {
      case 200...299: return answer
      case 429, 503: usleep(100_000)
      default:
        // The body names the error; it holds no secret of ours.
        throw LoadFailure(
          "\(method) \(path) was answered with \(status): \(String(decoding: answer.prefix(200), as: UTF8.self))")
      }
    }
    throw LoadFailure("\(method) \(path): the server has had no time for it for 10 s")
  }

  private func attempt(
    _ method: String, _ path: String, _ credential: (name: String, value: String), _ body: [UInt8]
  ) throws(LoadFailure) -> (status: Int, body: [UInt8]) {
    var request = Array("\(method) \(path) HTTP/1.1\r\nHost: \(authority)\r\n".utf8)
    request += "\(credential.name): \(credential.value)\r\nContent-Type: application/json\r\n".utf8
    request += "Content-Length: \(body.count)\r\n\r\n".utf8
    request += body
    var rest = request[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { stream.send($0) }
      guard count > 0 else { throw LoadFailure("cannot send to the server", errno: Int32(-count)) }
      rest = rest.dropFirst(count)
    }
    var parser = ResponseParser()
    while true {
      if input.isEmpty { try readMore() }
      var taken = 0
      let event = input.withUnsafeMutableBytes { bytes in
        var view = bytes
        defer { taken = bytes.count - view.count }
        return parser.next(&view)
      }
      input.removeFirst(taken)
      switch event {
      case .needMore: continue
      case .failed(let failure): throw LoadFailure("the server's answer is no HTTP: \(failure)")
      case .head(let head):
        guard let length = head.values(of: "content-length").first.flatMap({ Int($0) }), (0...1 << 24).contains(length)
        else { throw LoadFailure("the server's answer to \(method) \(path) has no length") }
        while input.count < length { try readMore() }
        let body = Array(input.prefix(length))
        input.removeFirst(length)
        return (head.status, body)
      }
    }
  }

  private func readMore() throws(LoadFailure) {
    var bytes = [UInt8](repeating: 0, count: 16_384)
    let count = bytes.withUnsafeMutableBytes { stream.receive($0) }
    guard count > 0 else {
      throw count == 0
        ? LoadFailure("the server closed the connection")
        : LoadFailure("cannot read from the server", errno: Int32(-count))
    }
    input += bytes.prefix(count)
  }
}
