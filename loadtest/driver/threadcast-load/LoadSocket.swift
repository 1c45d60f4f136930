import HTTP1
import Primitives
import WebSocket

/// One client's connection, for as many times as it connects.
final class LoadSocket {
  enum Phase {
    case closed
    /// TCP and the upgrade.
    case opening
    /// Frames flow.
    case open
  }

  let index: Int
  var phase = Phase.closed
  var stream: Stream?
  /// Counts connections, so that an event of an earlier one is recognised.
  var generation: UInt32 = 0
  var handshake: ClientHandshake?
  var parser = ResponseParser()
  var machine: ConnectionMachine
  /// Frames that the kernel has not taken, from `outboundStart` on.
  var outbound: [UInt8] = []
  var outboundStart = 0
  var isDirty = false
  var isPaused = false
  /// What epoll watches.
  var armed: UInt32 = 0

  init(index: Int) {
    self.index = index
    machine = ConnectionMachine(role: .client, maximumMessageBytes: 0)
  }

  var outboundBytes: Int { outbound.count - outboundStart }
}

/// How to open a connection.
struct Opening {
  var target: String
  var subprotocols: [String] = []
  var deflate = false
  /// The last byte of a loopback address to come from.
  var source: UInt8?
  var receiveBufferBytes: Int32?
}

/// Why a connection ended.
enum SocketEnd {
  /// The server's close frame; nil without a code.
  case closed(UInt16?)
  /// The server answered the upgrade with this status.
  case refused(status: Int)
  /// Anything else, in words.
  case failed(String)
}

/// Told what happens on the connections.
protocol SocketOwner: AnyObject {
  func opened(_ socket: LoadSocket)
  /// A whole message; its bytes are valid during the call.
  func received(_ socket: LoadSocket, _ payload: UnsafeRawBufferPointer)
  func pinged(_ socket: LoadSocket)
  func ended(_ socket: LoadSocket, _ end: SocketEnd)
}
