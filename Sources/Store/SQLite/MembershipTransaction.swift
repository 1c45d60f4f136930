internal import Chat

/// Groups and who is in them, inside a transaction (D3, D5, D8, T9).
struct MembershipTransaction {
  let session: WriterSession
  let caller: Caller
  let now: UnixSeconds

  private var directory: Directory { session.directory }

  // MARK: Creating

  /// Anybody makes a group of their own; the application makes one for anybody.
  func create(_ group: Group) throws(StoreFailure) -> Outcome {
    guard caller.isApplication || group.owner == caller.uid else {
      return Outcome(.failure(Refusal(.badRequest, details: [.field("owner")])))
    }
    guard let owner = try directory.user(group.owner) else { return Outcome(.failure(Refusal(.uidNotFound))) }
    if try directory.group(group.guid) != nil {
      return Outcome(.failure(Refusal(.badRequest, "The guid is taken.", details: [.field("guid")])))
    }
    var created = group
    created.createdAt = now
    created.updatedAt = now
    created.membersCount = 0
    let statements = session.statements
    guard let keys = try statements.newGroupConversation.first({ (conversation: $0.integer(0), group: $0.integer(1)) })
    else { preconditionFailure("The insert makes one row.") }
    let row = statements.newGroup
    row.bind(keys.group).bind(group.guid.text).bind(keys.conversation).bind(owner.key).bind(group.name).bind(
      group.type.rawValue)
    row.bind(group.icon).bind(group.description).bind(group.metadata.text).bind(PackedFields.packing(group.tags))
    try row.bind(now.value).bind(now.value).run()
    let stored = directory.remember(
      GroupRow(key: keys.group, ownerKey: owner.key, conversationKey: keys.conversation, group: created))
    let isOwnAct = owner.key == caller.key
    let joined = try join(
      owner, stored, scope: .admin, action: isOwnAct ? .joined : .added, actor: isOwnAct ? nil : caller.uid)
    return Outcome(.success(.group(joined.group.group)), events: [joined.event])
  }

  // MARK: Coming

  func add(_ members: [NewMember], to guid: GroupID) throws(StoreFailure) -> Outcome {
    guard members.count <= 100 else {
      return Outcome(.failure(Refusal(.badRequest, "At most 100 members a request.", details: [.field("uids")])))
    }
    var group: GroupRow
    switch try directory.joined(guid, by: caller) {
    case .failure(let refusal): return Outcome(.failure(refusal))
    case .success(let joined):
      guard MembershipRules.mayAdd(rank(joined)) else { return Outcome(.failure(Refusal(.groupNoClearance))) }
      group = joined.group
    }
    var results: [(uid: UserID, result: Result<Member, Refusal>)] = []
    var events: [Event] = []
    for member in members {
      guard let user = try directory.user(member.uid) else {
        results.append((member.uid, .failure(Refusal(.uidNotFound))))
        continue
      }
      guard try directory.membership(group: group.key, user: user.key) == nil else {
        results.append((member.uid, .failure(Refusal(.alreadyJoined))))
        continue
      }
      let joined = try join(user, group, scope: member.scope, action: .added, actor: caller.uid)
      group = joined.group
      events.append(joined.event)
      results.append((member.uid, .success(Member(user: user.user, scope: member.scope, joinedAt: now))))
    }
    return Outcome(.success(.members(results)), events: events)
  }

  private func join(
    _ user: UserRow, _ group: GroupRow, scope: Scope, action: MembershipAction, actor: UserID?
  ) throws(StoreFailure) -> (group: GroupRow, event: Event) {
    let changed = try count(1, group)
    let event = try happen(action, user, changed, scope: scope, actor: actor)
    try session.statements.newMembership.bind(group.key).bind(user.key).bind(event.seq.value).bind(user.user.uid.text)
      .bind(scope.rawValue).bind(now.value).run()
    directory.remember(
      membership: MembershipRow(scope: scope, joinedSeq: event.seq.value, joinedAt: now.value), group: group.key,
      user: user.key)
    return (changed, event)
  }

  // MARK: Going

  func leave(_ guid: GroupID) throws(StoreFailure) -> Outcome {
    switch try directory.joined(guid, by: caller) {
    case .failure(let refusal): return Outcome(.failure(refusal))
    case .success(let joined):
      guard let membership = joined.membership else { return Outcome(.failure(Refusal(.groupNotJoined))) }
      guard MembershipRules.mayLeave(rank(caller.row, membership, joined.group)) else {
        return Outcome(.failure(Refusal(.groupNoClearance, "The owner cannot leave the group.")))
      }
      return try end(membership, of: caller.row, joined.group, action: .left, actor: nil)
    }
  }

  /// Kicking oneself is leaving by another name, under the same rights as kicking anybody.
  func kick(_ uid: UserID, from guid: GroupID) throws(StoreFailure) -> Outcome {
    switch try directory.joined(guid, by: caller) {
    case .failure(let refusal): return Outcome(.failure(refusal))
    case .success(let joined):
      let actor = rank(joined)
      guard let user = try directory.user(uid) else { return Outcome(.failure(Refusal(.uidNotFound))) }
      guard let membership = try directory.membership(group: joined.group.key, user: user.key) else {
        return Outcome(.failure(Refusal(.groupNotJoined)))
      }
      guard MembershipRules.mayKick(rank(user, membership, joined.group), by: actor) else {
        return Outcome(.failure(Refusal(.groupNoClearance)))
      }
      return try end(membership, of: user, joined.group, action: .kicked, actor: caller.uid)
    }
  }

  /// T9: what the user had in the group goes with the membership.
  private func end(
    _ membership: MembershipRow, of user: UserRow, _ group: GroupRow, action: MembershipAction, actor: UserID?
  ) throws(StoreFailure) -> Outcome {
    let changed = try count(-1, group)
    let event = try happen(action, user, changed, scope: membership.scope, actor: actor)
    let statements = session.statements
    try statements.endMembership.bind(event.seq.value).bind(group.key).bind(user.key).run()
    try statements.deleteSubscriptions.bind(user.key).bind(group.conversationKey).run()
    try statements.deleteMarkers.bind(user.key).bind(group.conversationKey).run()
    directory.remember(membership: nil, group: group.key, user: user.key)
    return Outcome(.success(.done), events: [event])
  }

  // MARK: Both

  private func count(_ change: Int64, _ group: GroupRow) throws(StoreFailure) -> GroupRow {
    let counted = try session.statements.changeMembersCount.bind(change).bind(group.key).first { $0.integer(0) }
    guard let counted else { throw .damaged("group \(group.key) is missing") }
    return directory.remember(group.with(membersCount: Int(counted)))
  }

  private func happen(
    _ action: MembershipAction, _ user: UserRow, _ group: GroupRow, scope: Scope, actor: UserID?
  ) throws(StoreFailure) -> Event {
    var payload = PackedFields()
    payload.add(action.rawValue)
    payload.add(scope.rawValue)
    payload.add(actor?.text ?? "")
    let seq = try session.append(
      .groupMember, at: now, conversation: group.conversationKey, user: user.key, payload: payload.bytes)
    let change = MembershipChange(group: group.group, user: user.user, action: action, scope: scope, actor: actor)
    return Event(seq: seq, body: .groupMember(change))
  }

  /// The caller's rank; nil for the application.
  private func rank(_ joined: Directory.Joined) -> MembershipRules.Rank? {
    guard !caller.isApplication, let membership = joined.membership else { return nil }
    return rank(caller.row, membership, joined.group)
  }

  private func rank(_ user: UserRow, _ membership: MembershipRow, _ group: GroupRow) -> MembershipRules.Rank {
    MembershipRules.Rank(scope: membership.scope, isOwner: user.key == group.ownerKey)
  }
}
