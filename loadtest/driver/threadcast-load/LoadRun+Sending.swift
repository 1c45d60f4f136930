import LoadModel
import Primitives

extension LoadRun {
  /// Sends what is due.
  /// - Returns: when to ask again at the latest.
  func sendDue() -> Instant {
    var earliest = Instant.never
    for index in senders.indices {
      guard senders[index].schedule != nil, isReady[senders[index].socket] else { continue }
      // A turn's worth at most, so that a sender that is behind does not keep the others from reading.
      var budget = 64
      while budget > 0 {
        let socket = loop.sockets[senders[index].socket]
        let underWay = senders[index].underWay
        guard socket.outboundBytes < ClientLoop.outboundLimitBytes,
          let intended = senders[index].schedule?.takeDue(at: loop.now, underWay: underWay)
        else { break }
        send(index, intended, on: socket)
        budget -= 1
      }
      earliest = min(earliest, senders[index].schedule?.nextDue ?? .never)
    }
    return earliest
  }

  private func send(_ index: Int, _ intended: Instant, on socket: LoadSocket) {
    let number = ledger.send(index)
    senders[index].underWay += 1
    if !senders[index].arrived.isEmpty { senders[index].arrived[Int(number) & (senders[index].arrived.count - 1)] = 0 }
    PayloadStamp(sender: index, number: number, intended: intended).write(to: &payload)
    var bytes = payload
    if !scenario.kind.isEcho {
      // Request 0 was `connect`.
      bytes = Array("{\"id\":\(number + 1)".utf8)
      bytes.reserveCapacity(payload.count + 256)
      bytes += framePrefix
      bytes += "\(muidPrefix)\(index)-\(number)".utf8
      bytes += frameMiddle
      bytes += payload
      bytes += "\"}}".utf8
    }
    precondition(loop.send(bytes, to: socket), "room for a message was checked before")
  }
}
