import Glibc
import LoadModel
import Primitives

extension LoadRun {
  func received(_ socket: LoadSocket, _ payload: UnsafeRawBufferPointer) {
    if scenario.kind.isEcho { return receivedEcho(socket, payload) }
    let index = socket.index
    let listens = index < scenario.sessions || sendersListen
    switch LiveFrame.read(payload, parser) {
    case .delivery(let stamp, let seq):
      guard listens else { return ledger.note(.unexpected, "sender \(index) got a message") }
      delivered(index, stamp, seq)
    case .strangeMessage(let seq):
      ledger.note(.unexpected, "session \(index) got message \(seq), which is none of this run")
    case .heartbeat(let seq):
      heartbeats[index] += 1
      if listens { ledger.heartbeat(index, seq: seq) }
    case .event(let seq): if listens { ledger.observed(index, seq: seq) }
    case .accepted(let request, let id, let stamp): accepted(index, request, id, stamp)
    case .refused(let request, let code, let isRetryable): refused(index, request, code, isRetryable)
    case .hello(let epoch, let seq, let resumed, let resetReason):
      hello(socket, epoch: epoch, seq: seq, resumed: resumed, resetReason: resetReason)
    case .hint: break
    case .other: fail("session \(index) got a frame that is no event and no reply")
    }
  }

  private func receivedEcho(_ socket: LoadSocket, _ bytes: UnsafeRawBufferPointer) {
    guard let stamp = PayloadStamp(startOf: bytes), bytes.count == payload.count, hasOurText(bytes) else {
      return ledger.note(.corrupted, "connection \(socket.index) got \(bytes.count) bytes that nobody sent")
    }
    guard socket.index < scenario.sessions else {
      return ledger.note(.unexpected, "publisher \(socket.index) got a message")
    }
    delivered(socket.index, stamp, nil)
  }

  /// All that follows the stamp is the same in every payload.
  private func hasOurText(_ bytes: UnsafeRawBufferPointer) -> Bool {
    payload.withUnsafeBytes { own in
      let start = PayloadStamp.byteCount
      guard let ours = own.baseAddress, let theirs = bytes.baseAddress else { return false }
      return memcmp(ours + start, theirs + start, own.count - start) == 0
    }
  }

  private func delivered(_ index: Int, _ stamp: PayloadStamp, _ seq: UInt64?) {
    guard ledger.received(index, from: stamp.sender, number: stamp.number, seq: seq) else { return }
    let now = loop.now
    // What a session missed while it was away is late by design.
    if window.contains(stamp.intended), stamp.intended >= readyAt[index], !isStalledReader(index) {
      if stamp.intended < stalledAt {
        latency.record(now.nanoseconds(since: stamp.intended))
      } else {
        stalledLatency.record(now.nanoseconds(since: stamp.intended))
      }
    }
    guard scenario.kind != .durableSends, !senders[stamp.sender].arrived.isEmpty else { return }
    let slot = Int(stamp.number) & (senders[stamp.sender].arrived.count - 1)
    senders[stamp.sender].arrived[slot] += 1
    guard senders[stamp.sender].arrived[slot] == expectedDeliveries else { return }
    finishOne(stamp.sender)
    if window.contains(stamp.intended) { completion.record(now.nanoseconds(since: stamp.intended)) }
  }

  private func accepted(_ index: Int, _ request: UInt64, _ id: UInt64, _ stamp: PayloadStamp?) {
    guard let sender = sender(index, request) else { return }
    guard let stamp, stamp.sender == sender, UInt64(stamp.number) == request - 1 else {
      return ledger.note(.corrupted, "sender \(sender) was answered with another message than it sent")
    }
    ledger.accepted(sender, stamp.number, seq: id)
    if window.contains(stamp.intended) { acknowledged.record(loop.now.nanoseconds(since: stamp.intended)) }
    if window.contains(loop.now) { acknowledgedInWindow += 1 }
    if scenario.kind == .durableSends { finishOne(sender) }
  }

  private func refused(_ index: Int, _ request: UInt64?, _ code: String, _ isRetryable: Bool) {
    guard let request, isReady[index] else { return fail("session \(index) was refused: \(code)") }
    guard let sender = sender(index, request) else { return }
    guard isRetryable else { return fail("a send was refused: \(code)") }
    ledger.refused(sender, UInt32(request - 1))
    refusedSends += 1
    finishOne(sender)
  }

  /// The sender that a connection is, if the request was a send.
  private func sender(_ index: Int, _ request: UInt64) -> Int? {
    let sender = index - scenario.sessions
    guard senders.indices.contains(sender), request > 0, request <= UInt64(ledger.sentCount(sender)) else {
      ledger.note(.unanswered, "session \(index) got an answer to request \(request), which it did not make")
      return nil
    }
    return sender
  }
}
