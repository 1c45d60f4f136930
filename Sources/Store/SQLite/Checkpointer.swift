internal import Workers

/// Copies the write-ahead log back into the database beside the writer, so that a commit never waits for it.
///
/// Pattern: a thread that sleeps until it is asked; one run for each asking. Threads: `run` belongs to its own, the rest
/// to the writer's. Lifecycle: made and stopped by the writer. What the writer appended during a run is left, and is
/// little: the writer copies that back itself (`LogUpkeep`), and its next transaction begins the log anew.
final class Checkpointer: Sendable {
  private struct State: Sendable {
    var isAsked = false
    var hasRun = false
    var isOver = false
  }

  private let path: String
  private let state = Guarded(State())
  private let wakeup = Wakeup()

  init(path: String) { self.path = path }

  func ask() {
    state.withLock { $0.isAsked = true }
    wakeup.wake()
  }

  /// Whether a run has ended since this was asked last.
  func takeHasRun() -> Bool {
    state.withLock { state in
      defer { state.hasRun = false }
      return state.hasRun
    }
  }

  func stop() {
    state.withLock { $0.isOver = true }
    wakeup.wake()
  }

  /// The thread's body. Returns after `stop`.
  func run() {
    while true {
      let (isAsked, isOver) = state.withLock { state in
        defer { state.isAsked = false }
        return (state.isAsked, state.isOver)
      }
      if isOver { return }
      if isAsked {
        copyBack()
        state.withLock { $0.hasRun = true }
      } else {
        _ = wakeup.wait()
      }
    }
  }

  /// A connection for each run: the file at the path may be another one by the next. Where none can be opened the log
  /// stays, and the writer, who sees it grow, copies it back.
  private func copyBack() {
    guard let connection = try? Connection(path: path, role: .visitor) else { return }
    connection.copyLogBack()
  }
}

/// When the log is copied back, and by whom. Confined to the writer's thread.
struct LogUpkeep {
  /// Pages of log, 4 KiB each, after which it is copied back: a page written again and again is copied once.
  static let pages = 2000
  /// Pages after which the writer no longer waits for the checkpointer and copies all of it within its turn.
  static let pagesAtMost = 4 * pages

  enum Step: Equatable { case nothing, ask, copyRest }

  /// The log's length when it was last asked for.
  private var mark = 0
  private var isAsked = false

  /// - Parameters:
  ///   - length: pages in the log after the last commit; it falls when the log begins anew.
  ///   - hasRun: whether the checkpointer has come to the end of a run.
  mutating func step(length: Int, hasRun: Bool) -> Step {
    if length < mark { mark = 0 }
    if isAsked, hasRun || length >= mark + Self.pagesAtMost {
      isAsked = false
      // A reader of an old moment keeps the log from beginning anew; what is copied is not asked for again.
      mark = length
      return .copyRest
    }
    guard !isAsked, length >= mark + Self.pages else { return .nothing }
    isAsked = true
    mark = length
    return .ask
  }
}
