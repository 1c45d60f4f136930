import Chat
import Primitives

/// Which threads' hints (R3) are due when: at once, then at most one a second for each thread, the last state winning.
///
/// Owned by one shard. Bounded: of more than 65,536 threads in one second the rest have no silence to keep.
struct ThreadHints: ~Copyable {
  /// Replies of a thread since its last hint, as far as they decide who needs one.
  struct Hint {
    var progress: ThreadProgress
    var conversation: Conversation
    /// People whom every one of these replies mentioned: they got them all.
    var reached: Set<UserID>
    /// People whose sessions got every one of these replies if they want those of threads that they follow.
    var followers: Set<UserID>
    /// The session that wrote every one of these replies.
    var origin: UInt32?
  }

  static let intervalNanoseconds: UInt64 = 1_000_000_000

  /// Threads in their second of silence; a hint waits for its end, or none does.
  private var waiting: [MessageID: Hint?] = [:]
  private var order = Ring<(root: MessageID, at: Instant)>(limit: 1 << 16)

  /// Threads in their second of silence.
  var count: Int { waiting.count }

  /// When the next silence ends.
  var nextDeadline: Instant { order.first?.at ?? .never }

  /// A reply that not everybody gets. Returns the hint when it is due at once.
  mutating func note(_ hint: Hint, at now: Instant) -> Hint? {
    let root = hint.progress.root
    guard let silence = waiting[root] else {
      beginSilence(root, at: now)
      return hint
    }
    guard var earlier = silence else {
      waiting[root] = .some(hint)
      return nil
    }
    earlier.reached.formIntersection(hint.reached)
    earlier.followers.formIntersection(hint.followers)
    if earlier.origin != hint.origin { earlier.origin = nil }
    earlier.progress = hint.progress
    waiting[root] = .some(earlier)
    return nil
  }

  private mutating func beginSilence(_ root: MessageID, at now: Instant) {
    let isKept = order.push((root, now.advanced(byNanoseconds: Self.intervalNanoseconds)))
    waiting[root] = isKept ? .some(nil) : nil
  }

  /// The hint that waits for a thread.
  func pending(_ root: MessageID) -> Hint? { waiting[root] ?? nil }

  var allPending: [Hint] { waiting.values.compactMap { $0 } }

  /// The hints whose silence is over; each begins a new one.
  mutating func due(at now: Instant) -> [Hint] {
    var due: [Hint] = []
    while let (root, at) = order.first, at <= now {
      _ = order.pop()
      if let hint = waiting[root] ?? nil {
        due.append(hint)
        beginSilence(root, at: now)
      } else {
        waiting[root] = nil
      }
    }
    return due
  }
}
