/// A status code of a close frame (RFC 6455 §7.4).
package struct CloseCode: Hashable, Sendable {
  package let value: UInt16

  package init(_ value: UInt16) { self.value = value }

  package static let normal = CloseCode(1000)
  package static let goingAway = CloseCode(1001)
  package static let protocolError = CloseCode(1002)
  package static let unsupportedData = CloseCode(1003)
  package static let invalidPayload = CloseCode(1007)
  package static let policyViolation = CloseCode(1008)
  package static let messageTooBig = CloseCode(1009)
  package static let internalError = CloseCode(1011)

  /// Whether a peer may send it: 1004, 1005, 1006 and 1015 never stand on the wire (§7.4.1), 1016–2999 are not given
  /// out, 3000–4999 belong to libraries and applications.
  package var isValidOnWire: Bool {
    switch value {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }
}
