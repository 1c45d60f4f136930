import Primitives
import Reactor
import Workers

/// What a loop told its handler, for a test on another thread to wait on.
final class Journal: Sendable {
  enum Entry: Equatable, Sendable {
    case abandoned
    case opened(Handle, listener: Int)
    case received(Handle, [UInt8])
    case writable(Handle)
    case closed(Handle, CloseCause)
    case mail
    case deadline
    case note(String)
  }

  private let guarded = Guarded<[Entry]>([])
  private let wakeup = Wakeup()

  func record(_ entry: Entry) {
    guarded.withLock { $0.append(entry) }
    wakeup.wake()
  }

  var entries: [Entry] { guarded.withLock { $0 } }

  /// Blocks until `condition` holds for the entries; false when it does not within ten seconds.
  func waits(for condition: ([Entry]) -> Bool) -> Bool {
    let deadline = Clock.now().advanced(bySeconds: 10)
    while true {
      if condition(entries) { return true }
      if !wakeup.wait(until: deadline) { return condition(entries) }
    }
  }

  /// The `index`th opened connection, or nil after ten seconds.
  func opened(_ index: Int = 0) -> Handle? {
    var found: [Handle] = []
    _ = waits { entries in
      found = entries.compactMap { if case .opened(let handle, _) = $0 { handle } else { nil } }
      return found.count > index
    }
    return found.count > index ? found[index] : nil
  }

  /// The causes told for a connection so far.
  func causes(of handle: Handle) -> [CloseCause] {
    entries.compactMap { if case .closed(handle, let cause) = $0 { cause } else { nil } }
  }

  func closes(_ handle: Handle) -> CloseCause? {
    _ = waits { _ in !causes(of: handle).isEmpty }
    return causes(of: handle).first
  }

  /// Bytes received from a connection so far.
  func bytes(from handle: Handle) -> [UInt8] {
    entries.flatMap { if case .received(handle, let bytes) = $0 { bytes } else { [UInt8]() } }
  }

  func receives(_ count: Int, from handle: Handle) -> [UInt8] {
    _ = waits { _ in bytes(from: handle).count >= count }
    return bytes(from: handle)
  }
}
