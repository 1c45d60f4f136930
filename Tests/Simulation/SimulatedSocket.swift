import Glibc
import Primitives

/// One TCP connection between a client and a loop, both kernels included.
final class SimulatedSocket {
  /// The server's side, as the event loop keeps it.
  enum State { case open, lingering, dead }

  let handle: Handle
  /// Counts the connections of a run; names this one in the trace.
  let number: Int
  var state = State.open
  var isOpened = false
  var isPaused = false
  var wantsWrite = false
  var owesWritable = false
  var lingerEnds = Instant.never

  /// Sent by the client, not yet read by the server.
  var toServer: [UInt8] = []
  var clientEnded = false
  var clientReset = false
  /// Written by the server, not yet read by the client.
  var toClient: [UInt8] = []
  var serverEnded = false
  var serverReset = false
  /// Bytes that fit into `toClient`: the server's send buffer and the client's window.
  let capacity: Int
  /// What waited in the server's queue in the turn that sealed it, or in the last one.
  var peakQueuedBytes = 0
  var lastQueuedBytes = 0
  var isSealed = false

  init(handle: Handle, number: Int, capacity: Int) {
    self.handle = handle
    self.number = number
    self.capacity = capacity
  }

  var room: Int { capacity - toClient.count }
}

/// What one system call moved.
enum SimulatedWrite {
  case complete
  case partial(Int)
  case failed
}

extension SimulatedSocket {
  /// `EventLoop.write`: takes what there is room for, and at most `budget` bytes.
  func write(_ slices: UnsafeBufferPointer<iovec>, budget: Int) -> SimulatedWrite {
    guard state == .open else { return .failed }
    if wantsWrite {
      owesWritable = true
      return .partial(0)
    }
    if clientReset {
      // The peer's reset is met by the write first.
      return .failed
    }
    var left = min(room, budget)
    var taken = 0
    for slice in slices {
      let count = min(slice.iov_len, left)
      toClient.append(contentsOf: UnsafeRawBufferPointer(start: slice.iov_base, count: count))
      taken += count
      left -= count
      if count < slice.iov_len {
        wantsWrite = true
        owesWritable = true
        return .partial(taken)
      }
    }
    return .complete
  }
}
