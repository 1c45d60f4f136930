/// The gateway's own close codes. Their range tells a client what to do: 4000–4099 reconnect and resume, 4100–4199
/// reconnect afresh, 4200–4299 do not reconnect.
package enum GatewayCloseCode: UInt16, Sendable, CaseIterable {
  case draining = 4000
  case slowConsumer = 4001
  case pongTimeout = 4002
  case tokenExpired = 4101
  case overloaded = 4102
  case unauthenticated = 4200
  case tokenRevoked = 4201
  case tooManySessions = 4202
  case rateLimited = 4203
  case sessionReplaced = 4204

  /// The close frame's reason, unless the code has data of its own to tell.
  package var name: String {
    switch self {
    case .draining: "draining"
    case .slowConsumer: "slow_consumer"
    case .pongTimeout: "pong_timeout"
    case .tokenExpired: "token_expired"
    case .overloaded: "overloaded"
    case .unauthenticated: "unauthenticated"
    case .tokenRevoked: "token_revoked"
    case .tooManySessions: "too_many_sessions"
    case .rateLimited: "rate_limited"
    case .sessionReplaced: "session_replaced"
    }
  }

  package var meaning: String {
    switch self {
    case .draining: "The node is going away; the reason is {\"reconnectAfterMs\":N}."
    case .slowConsumer: "The outbound queue was full."
    case .pongTimeout: "Two pings were not answered."
    case .tokenExpired: "The token expired; get a fresh one first."
    case .overloaded: "The gateway is busy; come back after the delay in the reason."
    case .unauthenticated: "No valid token came in time."
    case .tokenRevoked: "The token was revoked or the user deactivated."
    case .tooManySessions: "The user has too many sessions."
    case .rateLimited: "The client kept sending after ERR_TOO_MANY_REQUESTS."
    case .sessionReplaced: "The same device connected again."
    }
  }

  /// What a client does next.
  package enum Advice: Sendable { case reconnectAndResume, reconnectAfresh, stayAway }

  package var advice: Advice {
    switch rawValue {
    case ..<4100: .reconnectAndResume
    case ..<4200: .reconnectAfresh
    default: .stayAway
    }
  }
}
