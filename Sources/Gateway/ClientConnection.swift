import Chat
import HTTP1
import Primitives
import WebSocket
import Wire

/// The part of a connection that a fan-out never touches: its protocol machines, its request under way, its session.
///
/// Confined to its shard. Everything large is optional and gone when its phase is over, so that an idle session is
/// little more than this object, its machine and its place in the index.
final class ClientConnection {
  /// What the connection is doing; each phase names who moves it on.
  enum Phase {
    /// Reading a request head or body.
    case request
    /// A request is with a reader or the writer; reading is paused.
    case answering
    /// An upgrade waits for its token to be looked up; reading is paused.
    case upgrading
    /// Upgraded; the first frame must be `connect` (L2).
    case connecting
    /// `connect` is with a reader; operations queue (L2).
    case opening
    case live
    case echo
    case subscriber
    case publisher
    /// Our close frame is out; the peer's is awaited, or the queue is running empty.
    case closing
  }

  let handle: Handle
  let isEncrypted: Bool
  var phase = Phase.request
  var parser: RequestParser?
  var machine: ConnectionMachine?
  var request: PendingRequest?
  var upgrade: PendingUpgrade?
  /// Bytes that came while reading was paused; at most one read.
  var held: [UInt8] = []
  var isReadingPaused = false
  /// The answer to a request under way ends the connection.
  var closesAfterResponse = false
  /// A kept-alive connection without a request; its end is no fault.
  var isIdleBetweenRequests = false
  var isHeadOnly = false
  var timer: TimerID?
  /// Whose token came with the upgrade (L2).
  var upgradeUser: UserID?
  var upgradeTokenHash: [UInt8]?
  var connect: ConnectRequest?
  var connectID: RequestID?
  var waitingOperations: [FrameRequest] = []
  var session: Session?
  /// While the session is being told what it missed (R6).
  var replay: Replay?
  /// The request that is changing the session's choice of replies; a later one wins.
  var choiceUpdate: RequestID?
  /// Threads whose opening is with a reader.
  var openingThreads: Set<MessageID> = []
  var requestsInFlight = 0
  var malformedInWindow = 0
  var malformedWindowEnds = Instant(nanoseconds: 0)
  /// When anything last came in or went out, for the heartbeat (L5).
  var lastActivity = Instant(nanoseconds: 0)
  var unansweredPings = 0
  /// The outlet's progress when the heartbeat last looked.
  var lastProgress: UInt32 = 0

  init(handle: Handle, isEncrypted: Bool, limits: HTTPLimits) {
    self.handle = handle
    self.isEncrypted = isEncrypted
    parser = RequestParser(limits: limits)
  }

  /// A request of the HTTP door while its body arrives.
  struct PendingRequest {
    enum Kind {
      case operation(OperationDefinition, [(name: String, value: String)])
      /// One of the fixed paths that are not operations.
      case service(String)
      /// Known to be wrong from its head; the answer waits for its end.
      case refused(Reply)
    }
    var kind: Kind
    var head: RequestHead
    var body: [UInt8] = []
  }

  /// An accepted handshake while its token is looked up.
  struct PendingUpgrade {
    var acceptance: UpgradeAcceptance
  }
}

/// One live authenticated connection.
struct Session {
  var id: SessionID
  var uid: UserID
  var tokenHash: [UInt8]
  var tokenExpiresAt: UnixSeconds
  var device: DeviceKey?
  /// Counts the node's sessions; of two of one device the higher stays.
  var ordinal: UInt64
  /// Whether somebody is looking (L7).
  var isForeground: Bool
}
