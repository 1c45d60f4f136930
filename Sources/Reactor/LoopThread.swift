package import Telemetry
import Workers

/// An event loop on a thread of its own. The loop and its handler are made on that thread and never leave it.
package final class LoopThread: Sendable {
  /// Wakes and stops the loop.
  package let control: LoopControl
  /// The loop's counters.
  package let metrics: LoopMetrics
  private let thread: WorkerThread

  /// Starts the thread.
  /// - Parameter makeHandler: called on the new thread with the new loop; it must not keep the loop alive longer than
  ///   the handler itself.
  package init(
    name: String, configuration: LoopConfiguration = LoopConfiguration(), listeners: [ListenerGroup], loop: Int = 0,
    control: LoopControl = LoopControl(), metrics: LoopMetrics = LoopMetrics(),
    log: Log? = nil, makeHandler: @escaping @Sendable (EventLoop) -> any LoopHandler
  ) {
    self.control = control
    self.metrics = metrics
    thread = WorkerThread.start(name: name) {
      let eventLoop = EventLoop(
        configuration: configuration, listeners: listeners, loop: loop, control: control, metrics: metrics,
        log: log)
      eventLoop.setHandler(makeHandler(eventLoop))
      eventLoop.run()
    }
  }

  /// Asks the loop to stop and waits until it has.
  package func stopAndJoin() {
    control.stop()
    thread.join()
  }
}
