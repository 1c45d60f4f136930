/// A response's status line and fields, written into bytes (RFC 9112 §4).
package struct ResponseHead: Sendable {
  private var bytes: [UInt8] = []

  package init(status: Int) {
    bytes += "HTTP/1.1 \(status) \(Self.reason(status))\r\n".utf8
  }

  /// - Precondition: neither part holds CR, LF or NUL; both are ours, never a peer's.
  package mutating func append(_ name: StaticString, _ value: String) {
    precondition(value.utf8.allSatisfy { $0 != 13 && $0 != 10 && $0 != 0 }, "a header field is one line")
    bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    bytes += ": ".utf8
    bytes += value.utf8
    bytes += "\r\n".utf8
  }

  /// The head with its empty line.
  package func write(into target: inout [UInt8]) {
    target += bytes
    target += "\r\n".utf8
  }

  /// RFC 9110 §15, and RFC 6585 for 429 and 431.
  package static func reason(_ status: Int) -> String {
    switch status {
    case 100: "Continue"
    case 101: "Switching Protocols"
    case 200: "OK"
    case 204: "No Content"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 421: "Misdirected Request"
    case 426: "Upgrade Required"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 503: "Service Unavailable"
    case 505: "HTTP Version Not Supported"
    default: "Unknown"
    }
  }
}
