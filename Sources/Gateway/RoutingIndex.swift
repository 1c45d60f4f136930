import Chat

/// Where a shard's live sessions are: by user, by group, and by the threads whose replies they want (R1, R2).
///
/// Groups have dense numbers and two flat lists of slots each: sessions that get every reply, and *selective* ones. A
/// thread has one list of the sessions that have a *seat* in it, because they opened it or follow it. A fan-out walks
/// lists; leaving is a swap with the last.
///
/// Owned by one shard. Cost of a lookup: one hash; of a delivery: the sessions that receive it.
struct RoutingIndex {
  /// A session's place in one of a group's lists.
  private struct Place {
    var group: Int
    var position: Int
  }

  /// Why a session gets a thread's replies whatever its choice says.
  struct Seat {
    /// The group's number, or -1 in a one-on-one conversation.
    fileprivate var group: Int
    fileprivate var position: Int
    var isOpened: Bool
    var isFollowed: Bool
  }

  private struct Entry {
    var choice = ReplyChoice.all
    var isPresent = false
    var places: [Place] = []
    var seats: [MessageID: Seat] = [:]
    var openedCount = 0
  }

  private var slotsOfUser: [UserID: [UInt32]] = [:]
  private var numberOfGroup: [GroupID: Int] = [:]
  private var nameOfGroup: [GroupID?] = []
  private var everyReply: [[UInt32]] = []
  private var selective: [[UInt32]] = []
  private var freeNumbers: [Int] = []
  private var slotsOfThread: [MessageID: [UInt32]] = [:]
  private var entries: [Entry] = []
  /// Sessions in the index.
  private(set) var sessionCount = 0

  /// Nothing is left of anybody; for tests.
  var isEmpty: Bool {
    sessionCount == 0 && slotsOfUser.isEmpty && numberOfGroup.isEmpty && slotsOfThread.isEmpty
  }

  // MARK: Sessions

  /// Enters a session with the groups of its user.
  mutating func enter(slot: UInt32, user: UserID, groups: some Sequence<GroupID>, choice: ReplyChoice = .all) {
    while entries.count <= Int(slot) { entries.append(Entry()) }
    precondition(!entries[Int(slot)].isPresent, "a slot holds one session")
    entries[Int(slot)] = Entry(choice: choice, isPresent: true)
    slotsOfUser[user, default: []].append(slot)
    sessionCount += 1
    for group in groups { join(slot: slot, group: group) }
  }

  /// Takes a session out of everything.
  mutating func leave(slot: UInt32, user: UserID) {
    guard isPresent(slot) else { return }
    for root in entries[Int(slot)].seats.keys { removeSeat(slot: slot, root: root) }
    for place in entries[Int(slot)].places { leave(slot: slot, groupNumber: place.group) }
    entries[Int(slot)] = Entry()
    sessionCount -= 1
    if var slots = slotsOfUser[user] {
      slots.removeAll { $0 == slot }
      slotsOfUser[user] = slots.isEmpty ? nil : slots
    }
  }

  func sessions(of user: UserID) -> [UInt32] { slotsOfUser[user] ?? [] }

  private func isPresent(_ slot: UInt32) -> Bool { Int(slot) < entries.count && entries[Int(slot)].isPresent }

  // MARK: Groups

  /// Adds a session to a group; a session that is there already stays as it is.
  mutating func join(slot: UInt32, group: GroupID) {
    guard isPresent(slot), !isMember(slot: slot, of: group) else { return }
    add(slot, toGroup: number(of: group))
  }

  /// Removes a session from a group, if it is there, and from the group's threads (T9).
  mutating func leave(slot: UInt32, group: GroupID) {
    guard isPresent(slot), let number = numberOfGroup[group] else { return }
    for (root, seat) in entries[Int(slot)].seats where seat.group == number { removeSeat(slot: slot, root: root) }
    leave(slot: slot, groupNumber: number)
  }

  func isMember(slot: UInt32, of group: GroupID) -> Bool {
    guard isPresent(slot), let number = numberOfGroup[group] else { return false }
    return entries[Int(slot)].places.contains { $0.group == number }
  }

  /// Sessions that get everything of the group.
  func everyReplySessions(of group: GroupID) -> [UInt32] {
    guard let number = numberOfGroup[group] else { return [] }
    return everyReply[number]
  }

  /// Sessions that get only some of the group's replies.
  func selectiveSessions(of group: GroupID) -> [UInt32] {
    guard let number = numberOfGroup[group] else { return [] }
    return selective[number]
  }

  private mutating func number(of group: GroupID) -> Int {
    if let number = numberOfGroup[group] { return number }
    if let number = freeNumbers.popLast() {
      numberOfGroup[group] = number
      nameOfGroup[number] = group
      return number
    }
    numberOfGroup[group] = nameOfGroup.count
    nameOfGroup.append(group)
    everyReply.append([])
    selective.append([])
    return nameOfGroup.count - 1
  }

  private mutating func add(_ slot: UInt32, toGroup number: Int) {
    if entries[Int(slot)].choice == .all {
      entries[Int(slot)].places.append(Place(group: number, position: everyReply[number].count))
      everyReply[number].append(slot)
    } else {
      entries[Int(slot)].places.append(Place(group: number, position: selective[number].count))
      selective[number].append(slot)
    }
  }

  private mutating func leave(slot: UInt32, groupNumber number: Int) {
    guard let index = entries[Int(slot)].places.firstIndex(where: { $0.group == number }) else { return }
    let position = entries[Int(slot)].places[index].position
    entries[Int(slot)].places.swapAt(index, entries[Int(slot)].places.count - 1)
    entries[Int(slot)].places.removeLast()
    let moved =
      entries[Int(slot)].choice == .all
      ? Self.take(position, outOf: &everyReply[number]) : Self.take(position, outOf: &selective[number])
    if let moved, let at = entries[Int(moved)].places.firstIndex(where: { $0.group == number }) {
      entries[Int(moved)].places[at].position = position
    }
    if everyReply[number].isEmpty, selective[number].isEmpty, let name = nameOfGroup[number] {
      numberOfGroup[name] = nil
      nameOfGroup[number] = nil
      freeNumbers.append(number)
    }
  }

  /// Removes by a swap with the last; returns who was moved into the gap.
  private static func take(_ position: Int, outOf list: inout [UInt32]) -> UInt32? {
    let last = list.removeLast()
    guard position < list.count else { return nil }
    list[position] = last
    return last
  }

  // MARK: Choices

  func choice(of slot: UInt32) -> ReplyChoice { isPresent(slot) ? entries[Int(slot)].choice : .none }

  /// Changes what a session wants; threads followed are forgotten unless it still wants those.
  mutating func setChoice(_ choice: ReplyChoice, slot: UInt32) {
    guard isPresent(slot), entries[Int(slot)].choice != choice else { return }
    // Both lists of every group, so that a number is not freed on the way.
    let groups = entries[Int(slot)].places.map(\.group)
    let names = groups.compactMap { nameOfGroup[$0] }
    if choice != .subscribed {
      for root in entries[Int(slot)].seats.keys { unfollow(slot: slot, root: root) }
    }
    let seats = entries[Int(slot)].seats
    for number in groups { leave(slot: slot, groupNumber: number) }
    entries[Int(slot)].choice = choice
    for (old, name) in zip(groups, names) {
      let number = number(of: name)
      add(slot, toGroup: number)
      guard number != old else { continue }
      for (root, seat) in seats where seat.group == old { entries[Int(slot)].seats[root]?.group = number }
    }
  }

  // MARK: Threads

  /// The sessions that have a seat in the thread, whatever their choice.
  func seated(in root: MessageID) -> [UInt32] { slotsOfThread[root] ?? [] }

  func seat(of slot: UInt32, in root: MessageID) -> Seat? { isPresent(slot) ? entries[Int(slot)].seats[root] : nil }

  /// Threads that the session has opened.
  func openedCount(_ slot: UInt32) -> Int { isPresent(slot) ? entries[Int(slot)].openedCount : 0 }

  /// The roots that the session has opened.
  func openedThreads(_ slot: UInt32) -> Set<MessageID> {
    guard isPresent(slot) else { return [] }
    return Set(entries[Int(slot)].seats.filter(\.value.isOpened).keys)
  }

  /// False when the session is not in the thread's group.
  @discardableResult mutating func open(slot: UInt32, _ place: ThreadPlace) -> Bool {
    guard takeSeat(slot, place) else { return false }
    if entries[Int(slot)].seats[place.root]?.isOpened == false {
      entries[Int(slot)].seats[place.root]?.isOpened = true
      entries[Int(slot)].openedCount += 1
    }
    return true
  }

  mutating func close(slot: UInt32, root: MessageID) {
    guard let seat = seat(of: slot, in: root), seat.isOpened else { return }
    entries[Int(slot)].seats[root]?.isOpened = false
    entries[Int(slot)].openedCount -= 1
    if !seat.isFollowed { removeSeat(slot: slot, root: root) }
  }

  mutating func follow(slot: UInt32, _ place: ThreadPlace) {
    guard takeSeat(slot, place) else { return }
    entries[Int(slot)].seats[place.root]?.isFollowed = true
  }

  mutating func unfollow(slot: UInt32, root: MessageID) {
    guard let seat = seat(of: slot, in: root), seat.isFollowed else { return }
    entries[Int(slot)].seats[root]?.isFollowed = false
    if !seat.isOpened { removeSeat(slot: slot, root: root) }
  }

  private mutating func takeSeat(_ slot: UInt32, _ place: ThreadPlace) -> Bool {
    guard isPresent(slot) else { return false }
    var group = -1
    if case .group(let name) = place.conversation {
      guard let number = numberOfGroup[name], entries[Int(slot)].places.contains(where: { $0.group == number }) else {
        return false
      }
      group = number
    }
    if entries[Int(slot)].seats[place.root] == nil {
      let position = slotsOfThread[place.root]?.count ?? 0
      entries[Int(slot)].seats[place.root] = Seat(
        group: group, position: position, isOpened: false, isFollowed: false)
      slotsOfThread[place.root, default: []].append(slot)
    }
    return true
  }

  private mutating func removeSeat(slot: UInt32, root: MessageID) {
    guard let seat = entries[Int(slot)].seats.removeValue(forKey: root) else { return }
    if seat.isOpened { entries[Int(slot)].openedCount -= 1 }
    if let moved = Self.take(seat.position, outOf: &slotsOfThread[root, default: []]) {
      entries[Int(moved)].seats[root]?.position = seat.position
    }
    if slotsOfThread[root]?.isEmpty == true { slotsOfThread[root] = nil }
  }
}
