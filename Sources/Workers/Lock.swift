import Glibc

/// The one lock of the house: a pthread mutex, because ThreadSanitizer understands it (it reports false races for
/// `Synchronization.Mutex`, a bare futex). No caller may call out of its room, or take a second lock, while holding it.
package final class Lock: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  package init() {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    let status = pthread_mutex_init(mutex, nil)
    precondition(status == 0, "a mutex could not be initialised: error \(status)")
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deinitialize(count: 1)
    mutex.deallocate()
  }

  /// Runs `body` while holding the lock.
  package func withLock<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let status = pthread_mutex_lock(mutex)
    precondition(status == 0, "a mutex could not be locked: error \(status)")
    defer { pthread_mutex_unlock(mutex) }
    return try body()
  }
}
