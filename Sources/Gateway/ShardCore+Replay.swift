import Chat
import Primitives
import Store
import Telemetry
import Wire

/// Replays of what a resumed session missed (R6): a page at a time, the next one read as the socket drains.
extension ShardCore {
  mutating func beginReplay(_ connection: ClientConnection, after position: Seq) {
    connection.replay = Replay(after: position)
    outlets.setHeld(true, for: connection.handle)
    replaying.append(connection.handle)
  }

  /// Asks for the next page of every replay whose queue has drained. Called before the driver takes the reads.
  mutating func pumpReplays() {
    guard !replaying.isEmpty else { return }
    var draining: [Handle] = []
    for handle in replaying {
      guard let connection = connection(handle), connection.phase == .live, let replay = connection.replay,
        let session = connection.session
      else { continue }
      if outlets.queuedBytes(handle) <= settings.replayLowBytes {
        ask(connection, replay, session)
      } else {
        draining.append(handle)
      }
    }
    replaying = draining
  }

  private mutating func ask(_ connection: ClientConnection, _ replay: Replay, _ session: Session) {
    let slot = connection.handle.index
    let query = MissedQuery(
      uid: session.uid, after: replay.after, replies: routes.choice(of: slot),
      openThreads: routes.openedThreads(slot), limit: settings.replayPageEvents, unsent: replay.unsent,
      isFirst: replay.isFirst)
    // The form is not used: a replay has no request of its own.
    let address = ReplyAddress(shard: index, connection: connection.handle, form: .http)
    reads.append(ReadRequest(.missed(query, bytes: settings.replayPageBytes), replyTo: address))
  }

  mutating func missedLoaded(_ address: ReplyAddress, _ page: MissedTexts?) {
    guard let connection = connection(address.connection), connection.phase == .live, let replay = connection.replay
    else { return }
    guard let page else {
      // The client keeps its position and comes back with it.
      return close(connection, code: .draining, reason: #"{"reconnectAfterMs":1000}"#)
    }
    guard page.through <= position else {
      // What this session made itself until there is not known yet (M15).
      return ahead.append((page.through, .missedLoaded(address, page)))
    }
    for (seq, text) in page.events where !replay.own.contains(seq) { sendText(text, to: connection, limitBytes: .max) }
    counters.replayedEvents.add(UInt64(page.events.count))
    replay.unsent = page.unsent
    for (place, position, text) in page.hints where takesPart(connection.handle.index, in: place.conversation) {
      replay.hold(hint: text, of: place, asOf: position)
    }
    guard replay.advance(to: page.through, hasMore: page.hasMore) else { return replaying.append(connection.handle) }
    outlets.setHeld(false, for: connection.handle)
    connection.replay = nil
    for text in replay.takeHeld() { sendText(text, to: connection, limitBytes: .max) }
  }
}
