import Primitives

/// Decides when a loop writes what its turns have queued (R5).
///
/// At light load at the end of every turn, so that nothing waits. A loop that is busy most of the time and already finds
/// several frames for each socket holds its writes for a moment: what arrives meanwhile leaves in the same write, and a
/// write costs the kernel much more than the frames in it. A hold ends when nothing has come for 500 µs, after 2 ms, or
/// when 64 KiB of frames wait, whichever is first.
///
/// The load is judged once for each 20 ms of work and has two thresholds, so that it does not flicker:
///
///         busy ≥ 80 % and ≥ 1.5 frames a write            busy < 50 % or < 1.25 frames a write
/// light ────────────────────────────────────────▶ loaded ──────────────────────────────────────▶ light
struct FlushPacer {
  /// The longest a frame waits for others.
  static let holdNanoseconds: UInt64 = 2_000_000
  /// A hold ends when nothing was queued for so long.
  static let quietNanoseconds: UInt64 = 500_000
  /// A hold ends when frames of this size were made during it, so that no queue nears its limit by waiting.
  static let holdBytes = 65_536
  /// How much of the clock one judgement of the load covers, at least.
  static let windowNanoseconds: UInt64 = 20_000_000

  private(set) var isLoaded = false
  private var windowBegan = Instant(nanoseconds: 0)
  private var busyNanoseconds: UInt64 = 0
  private var frames = 0
  private var writes = 0
  /// While a hold lasts: when it ends at the latest, and when it ends unless something comes.
  private var holdEnds = Instant.never
  private var quietEnds = Instant.never
  private var framesSeen = 0

  var isHolding: Bool { holdEnds != .never }

  /// When the loop must come back although nothing happens.
  var deadline: Instant { min(holdEnds, quietEnds) }

  /// Asked at the end of a turn with something to write.
  /// - Parameters:
  ///   - frames: frames queued since the last flush, counted once for each recipient.
  ///   - bytes: size of the frames made since the last flush, counted once each.
  mutating func shouldFlush(at now: Instant, frames: Int, bytes: Int) -> Bool {
    guard isLoaded, bytes < Self.holdBytes else { return true }
    if holdEnds == .never {
      holdEnds = now.advanced(byNanoseconds: Self.holdNanoseconds)
      framesSeen = 0
    }
    if frames > framesSeen {
      framesSeen = frames
      quietEnds = now.advanced(byNanoseconds: Self.quietNanoseconds)
    }
    return now >= deadline
  }

  /// Told after a flush.
  /// - Parameters:
  ///   - began: when the turn began that ends now.
  ///   - frames: frames queued since the flush before.
  ///   - writes: sockets that had something to write.
  mutating func flushed(turnBegan began: Instant, now: Instant, frames: Int, writes: Int) {
    holdEnds = .never
    quietEnds = .never
    self.frames &+= frames
    self.writes &+= writes
    busyNanoseconds &+= now.nanoseconds(since: began)
    let window = now.nanoseconds(since: windowBegan)
    if window >= Self.windowNanoseconds { judge(window, now) }
  }

  private mutating func judge(_ window: UInt64, _ now: Instant) {
    let busyPercent = busyNanoseconds &* 100 / window
    // Quarters of a frame a write, to stay with integers.
    let depth = frames &* 4 / max(writes, 1)
    if isLoaded {
      isLoaded = busyPercent >= 50 && depth >= 5
    } else {
      isLoaded = busyPercent >= 80 && depth >= 6
    }
    windowBegan = now
    busyNanoseconds = 0
    frames = 0
    writes = 0
  }
}
