import LoadModel
import Primitives

extension LoadRun {
  func startSending(at start: Instant) {
    guard let pace = scenario.pace else { return }
    order = SendingOrder(pace, senders: senders.count, start: start)
    var window = 0
    if case .inFlight(let count) = pace {
      window = 1
      while window < count { window *= 2 }
    }
    for index in senders.indices {
      senders[index].schedule = SendSchedule(pace, sender: index, of: senders.count, start: start)
      senders[index].arrived = Array(repeating: 0, count: window)
    }
  }

  func stopSending() {
    order.stop()
    for index in senders.indices { senders[index].schedule?.stop() }
  }

  /// Sends what is due.
  /// - Returns: when to ask again at the latest.
  func sendDue() -> Instant {
    for index in order.take(at: loop.now) {
      let socket = loop.sockets[senders[index].socket]
      while socket.phase == .open {
        guard socket.outboundBytes < ClientLoop.outboundLimitBytes else {
          order.add(index)
          break
        }
        let underWay = senders[index].underWay
        guard let intended = senders[index].schedule?.takeDue(at: loop.now, underWay: underWay) else { break }
        send(index, intended, on: socket)
      }
    }
    return order.nextDue
  }

  /// One of the sender's messages is done.
  func finishOne(_ sender: Int) {
    senders[sender].underWay -= 1
    if case .inFlight = scenario.pace { order.add(sender) }
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
