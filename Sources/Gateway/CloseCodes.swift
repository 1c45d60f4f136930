import WebSocket
import Wire

extension CloseCode {
  /// One of the gateway's own codes, whose range tells the client what to do next.
  init(_ own: GatewayCloseCode) { self.init(own.rawValue) }

  static let draining = CloseCode(GatewayCloseCode.draining)
  static let slowConsumer = CloseCode(GatewayCloseCode.slowConsumer)
  static let pongTimeout = CloseCode(GatewayCloseCode.pongTimeout)
  static let tokenExpired = CloseCode(GatewayCloseCode.tokenExpired)
  static let overloaded = CloseCode(GatewayCloseCode.overloaded)
  static let unauthenticated = CloseCode(GatewayCloseCode.unauthenticated)
  static let tokenRevoked = CloseCode(GatewayCloseCode.tokenRevoked)
  static let sessionReplaced = CloseCode(GatewayCloseCode.sessionReplaced)
}

/// The version that the hello, `threadcast version` and the log tell.
package enum GatewayVersion {
  package static let text = "0.1.0"
}
