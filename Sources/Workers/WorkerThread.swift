import CLinux
import Glibc

/// One OS thread that runs one closure. Whoever starts it joins it, once.
package final class WorkerThread: @unchecked Sendable {
  private final class Body {
    let name: String
    let run: () -> Void

    init(name: String, run: @escaping () -> Void) {
      self.name = name
      self.run = run
    }
  }

  private let thread: pthread_t
  private let lock = Lock()
  private var joined = false

  private init(thread: pthread_t) { self.thread = thread }

  /// Starts a thread.
  /// - Parameters:
  ///   - name: shown by `ps -T` and debuggers; the first 15 bytes count.
  ///   - body: what it runs; the thread owns what the closure captures.
  package static func start(name: String, _ body: sending @escaping () -> Void) -> WorkerThread {
    let context = Unmanaged.passRetained(Body(name: String(decoding: name.utf8.prefix(15), as: UTF8.self), run: body))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { preconditionFailure("a thread was started without its body") }
        let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
        _ = clinux_set_thread_name(body.name)
        body.run()
        return nil
      }, context.toOpaque())
    precondition(status == 0, "a thread could not be started: error \(status)")
    return WorkerThread(thread: thread)
  }

  deinit {
    if !joined { pthread_detach(thread) }
  }

  /// Waits until the closure has returned.
  package func join() {
    let first = lock.withLock {
      defer { joined = true }
      return !joined
    }
    precondition(first, "a thread was joined twice")
    let status = pthread_join(thread, nil)
    precondition(status == 0, "a thread could not be joined: error \(status)")
  }
}
