import Chat

/// A session that is being told what it missed (R6), page by page as its queue drains.
///
/// It is in the routing indexes from its hello on, so that nothing is lost between the replay and the live events:
/// what the fan-out would have queued is held here, up to a limit, and follows the last page. When more comes than is
/// held, all of it is dropped and one more page is read.
final class Replay {
  /// Everything up to here that concerns the session has been queued.
  var after: Seq
  var isFirst = true
  var unsent: Set<MessageID> = []
  /// Events of the session's own making, which it does not hear of (M15).
  private(set) var own: Set<Seq> = []
  private var held: [(seq: Seq, text: [UInt8])] = []
  private var heldBytes = 0
  private var isOverflowed = false
  private var hints: [ThreadPlace: (asOf: Seq, text: [UInt8])] = [:]

  static let heldEvents = 1_024

  init(after: Seq) { self.after = after }

  func hold(_ seq: Seq, _ text: [UInt8], limitBytes: Int) {
    guard !isOverflowed else { return }
    held.append((seq, text))
    heldBytes += text.count
    if held.count > Self.heldEvents || heldBytes > limitBytes {
      isOverflowed = true
      held = []
      heldBytes = 0
    }
  }

  func note(own seq: Seq) { own.insert(seq) }

  /// The last state of a thread wins, whether a page brought it or a reply that has just come.
  func hold(hint text: [UInt8], of place: ThreadPlace, asOf position: Seq) {
    if let known = hints[place], known.asOf > position { return }
    hints[place] = (position, text)
  }

  /// The user's membership ended: nothing more is told of the group's threads (R8).
  func forget(_ group: GroupID) { hints = hints.filter { $0.key.conversation != .group(group) } }

  /// A page that ends at `position` was queued. Returns whether the replay is complete: what is held follows without a
  /// gap.
  func advance(to position: Seq, hasMore: Bool) -> Bool {
    after = position
    isFirst = false
    own = own.filter { $0 > position }
    if isOverflowed {
      isOverflowed = false
      return false
    }
    held.removeAll { $0.seq <= position }
    heldBytes = held.reduce(0) { $0 + $1.text.count }
    return !hasMore
  }

  /// What follows the last page.
  func takeHeld() -> [[UInt8]] { held.map(\.text) + hints.sorted { $0.key.root < $1.key.root }.map(\.value.text) }
}
