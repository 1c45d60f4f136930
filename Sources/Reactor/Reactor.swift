/// epoll loops, sockets, listeners, TLS sessions, signals.
///
/// Threads: each `EventLoop` belongs to the thread that calls `run()`; only its `LoopControl` may be touched from
/// elsewhere. Lifecycle: addresses are opened (`ListenerGroup`), loops are started (`LoopThread`), stopped and joined,
/// listeners are closed. A connection lives on one loop for life and is named by a `Handle`, so a late call for a dead
/// connection does nothing. Knows no HTTP, no WebSocket, no domain; imports no Foundation.
