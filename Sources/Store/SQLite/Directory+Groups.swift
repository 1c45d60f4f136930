internal import Chat

extension Directory {
  /// A group that the caller may act in; `membership` is nil for the application outside of it.
  struct Joined {
    let group: GroupRow
    let membership: MembershipRow?
  }

  /// `ERR_GUID_NOT_FOUND` when there is no such group, or it is private and the caller never was in it;
  /// `ERR_GROUP_NOT_JOINED` when the caller is not a member.
  func joined(_ guid: GroupID, by caller: Caller) throws(StoreFailure) -> Result<Joined, Refusal> {
    guard let group = try group(guid) else { return .failure(Refusal(.guidNotFound)) }
    if let membership = try membership(group: group.key, user: caller.key) {
      return .success(Joined(group: group, membership: membership))
    }
    if caller.isApplication { return .success(Joined(group: group, membership: nil)) }
    if group.group.type == .private, try !wasEverMember(group: group.key, user: caller.key) {
      return .failure(Refusal(.guidNotFound))
    }
    return .failure(Refusal(.groupNotJoined))
  }
}
