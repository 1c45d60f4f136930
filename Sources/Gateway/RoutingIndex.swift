import Chat

/// Where a shard's live sessions are, by user and by group (R1). Groups have dense numbers, so that a fan-out walks one
/// flat list of slots; leaving is a swap with the last.
///
/// Owned by one shard. Cost of a lookup: one hash; of a delivery: the sessions that receive it.
struct RoutingIndex {
  /// A session's place in one group's list.
  struct Place: Hashable {
    var group: Int
    var position: Int
  }

  private var slotsOfUser: [UserID: [UInt32]] = [:]
  private var numberOfGroup: [GroupID: Int] = [:]
  private var slotsOfGroup: [[UInt32]] = []
  private var freeNumbers: [Int] = []
  private var nameOfGroup: [GroupID?] = []
  /// The places of the session in a slot.
  private var placesOfSlot: [UInt32: [Place]] = [:]

  /// Sessions in the index.
  var sessionCount: Int { placesOfSlot.count }

  /// Enters a session with the groups of its user.
  mutating func enter(slot: UInt32, user: UserID, groups: some Sequence<GroupID>) {
    precondition(placesOfSlot[slot] == nil, "a slot holds one session")
    slotsOfUser[user, default: []].append(slot)
    placesOfSlot[slot] = []
    for group in groups { join(slot: slot, group: group) }
  }

  /// Takes a session out of everything.
  mutating func leave(slot: UInt32, user: UserID) {
    guard let places = placesOfSlot[slot] else { return }
    for place in places { leave(slot: slot, groupNumber: place.group) }
    placesOfSlot[slot] = nil
    if var slots = slotsOfUser[user] {
      slots.removeAll { $0 == slot }
      slotsOfUser[user] = slots.isEmpty ? nil : slots
    }
  }

  /// Adds a session to a group; a session that is there already stays as it is.
  mutating func join(slot: UInt32, group: GroupID) {
    let number = number(of: group)
    guard let places = placesOfSlot[slot], !places.contains(where: { $0.group == number }) else { return }
    placesOfSlot[slot]?.append(Place(group: number, position: slotsOfGroup[number].count))
    slotsOfGroup[number].append(slot)
  }

  /// Removes a session from a group, if it is there.
  mutating func leave(slot: UInt32, group: GroupID) {
    guard let number = numberOfGroup[group] else { return }
    leave(slot: slot, groupNumber: number)
  }

  func sessions(of user: UserID) -> [UInt32] { slotsOfUser[user] ?? [] }

  func sessions(of group: GroupID) -> [UInt32] {
    guard let number = numberOfGroup[group] else { return [] }
    return slotsOfGroup[number]
  }

  func isMember(slot: UInt32, of group: GroupID) -> Bool {
    guard let number = numberOfGroup[group], let places = placesOfSlot[slot] else { return false }
    return places.contains { $0.group == number }
  }

  private mutating func number(of group: GroupID) -> Int {
    if let number = numberOfGroup[group] { return number }
    if let number = freeNumbers.popLast() {
      numberOfGroup[group] = number
      nameOfGroup[number] = group
      return number
    }
    numberOfGroup[group] = slotsOfGroup.count
    nameOfGroup.append(group)
    slotsOfGroup.append([])
    return slotsOfGroup.count - 1
  }

  private mutating func leave(slot: UInt32, groupNumber number: Int) {
    guard let places = placesOfSlot[slot], let index = places.firstIndex(where: { $0.group == number }) else { return }
    let position = places[index].position
    placesOfSlot[slot]?.swapAt(index, places.count - 1)
    placesOfSlot[slot]?.removeLast()
    let moved = slotsOfGroup[number].removeLast()
    if moved != slot {
      slotsOfGroup[number][position] = moved
      if let at = placesOfSlot[moved]?.firstIndex(where: { $0.group == number }) {
        placesOfSlot[moved]?[at].position = position
      }
    }
    if slotsOfGroup[number].isEmpty, let name = nameOfGroup[number] {
      numberOfGroup[name] = nil
      nameOfGroup[number] = nil
      freeNumbers.append(number)
    }
  }
}
