/// OS threads with mailboxes, wake-ups, the one lock type, the clock.
///
/// Threads: this room makes them; everything package in it may be called from any thread unless it says otherwise.
/// Lifecycle: a `WorkerThread` runs one closure and is joined; mailboxes and wake-ups live as long as somebody holds
/// them. It is the only room that writes `@unchecked Sendable`. Imports Primitives and CLinux, no Foundation.
