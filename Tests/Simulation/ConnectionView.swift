import Chat

/// A token of a run, and how it ended.
final class SimulatedToken {
  let text: String
  let uid: UserID
  /// Unix seconds; 0 means without end.
  let expiresAt: Int64
  /// The head of the log when its revocation was committed.
  var revokedAt: Int64?

  init(text: String, uid: UserID, expiresAt: Int64) {
    self.text = text
    self.uid = uid
    self.expiresAt = expiresAt
  }
}

/// What one client's connection has been told, and what it asked for: the ground on which promises are judged.
final class ConnectionView {
  enum Phase { case opening, live, ended }

  /// A change of what the session wants to hear (L7), from its request until it is known to count.
  struct Change {
    enum Kind {
      case choice(ReplyWish)
      case opened(Int64)
      case closed(Int64)
    }
    var kind: Kind
    var request: Int64
    /// Everything up to here had come when the request was sent.
    var sentAt: Int64
    var isAnswered = false
    /// Everything from here on was routed after the change.
    var countsFrom: Int64?
  }

  enum ReplyWish: String, CaseIterable { case all, subscribed, open, none }

  enum Request {
    case send(muid: String, text: String)
    case change
    case write
    case read
    case ping
  }

  let number: Int
  let token: SimulatedToken
  var user: UserID { token.uid }
  let device: String?
  var phase = Phase.opening
  // What `connect` asked for.
  var resume: (epoch: String, seq: Int64)?
  var choice = ReplyWish.all
  var openThreads: [Int64] = []
  /// The log's head when `connect` was sent.
  var headAtConnect: Int64 = 0
  var isResumed = false
  /// Events up to here may have come out of a replay; those above came live.
  var replayEnd = Int64.max
  /// Where the session's events begin: after this.
  var start: Int64 = 0
  /// Everything up to here has been told, or does not concern the session.
  var confirmed: Int64 = 0
  /// The seq of the last event.
  var lastSeq: Int64 = 0
  var received: Set<Int64> = []
  var changes: [Change] = []
  var lastOfConversation: [Conversation: Int64] = [:]
  var pending: [Int64: Request] = [:]
  /// The last hint of each thread, and the latest moment at which nothing was under way before it.
  var hints: [Int64: (asOf: Int64, latest: Int64, notBefore: Int)] = [:]
  /// The last moment at which the server's queue and both kernels held nothing for this client.
  var emptyAt = 0
  /// The request's ids that the committer has taken in.
  var handedOver: Set<Int64> = []
  /// The muids that went out on this connection.
  var sent: Set<String> = []
  /// The node began to drain while the connection was there: what it says of that may come later.
  var sawDrain = false
  var closeCode: Int?

  init(number: Int, token: SimulatedToken, device: String?) {
    self.number = number
    self.token = token
    self.device = device
  }

  /// A seq was told: changes that were answered before it count from here on.
  func settle(at seq: Int64) {
    for index in changes.indices where changes[index].isAnswered && changes[index].countsFrom == nil {
      changes[index].countsFrom = seq
    }
  }

  /// What the session may be set to for an event: one or several, when a change is on its way.
  func choices(at seq: Int64, inReplay: Bool) -> [ReplyWish] {
    var possible = [choice]
    for change in changes {
      guard case .choice(let wish) = change.kind else { continue }
      if inReplay {
        possible.append(wish)
      } else if let from = change.countsFrom, seq >= from {
        possible = [wish]
      } else if seq > change.sentAt {
        possible.append(wish)
      }
    }
    return possible
  }

  /// The same for one thread: can it be open, can it be closed?
  /// - Parameter memberSince: where the present membership of the thread's group began; older openings count no more.
  func opening(of root: Int64, at seq: Int64, memberSince: Int64, inReplay: Bool) -> (
    maybeOpen: Bool, maybeClosed: Bool
  ) {
    var state = (maybeOpen: false, maybeClosed: true)
    if openThreads.contains(root) { state = (true, memberSince > headAtConnect && !inReplay) }
    for change in changes {
      let isOpening: Bool
      switch change.kind {
      case .opened(root): isOpening = true
      case .closed(root): isOpening = false
      default: continue
      }
      if !inReplay, let from = change.countsFrom, seq >= from {
        state = isOpening ? (true, memberSince > change.sentAt) : (false, true)
      } else if inReplay || seq > change.sentAt {
        if isOpening { state.maybeOpen = true } else { state.maybeClosed = true }
      }
    }
    return state
  }
}
