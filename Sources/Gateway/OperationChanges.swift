import Chat
import Store
import Wire

extension Operation {
  /// The change that this operation asks of the store; nil for questions, for what a shard does by itself, and for
  /// minting and revoking, whose secrets are turned into digests elsewhere.
  ///
  /// - Parameter actor: who asks; owns the group that it creates unless an application names another owner.
  func change(by actor: Actor) -> Mutation.Change? {
    switch self {
    case .messageSend(let message): .sendMessage(message)
    case .messageEdit(let id, let edit): .editMessage(id, edit)
    case .messageDelete(let id): .deleteMessage(id)
    case .reactionAdd(let id, let reaction): .react(id, reaction, isAdded: true)
    case .reactionRemove(let id, let reaction): .react(id, reaction, isAdded: false)
    case .threadSubscribe(let root): .setThreadSubscription(root: root, isSubscribed: true)
    case .threadUnsubscribe(let root): .setThreadSubscription(root: root, isSubscribed: false)
    case .groupsCreate(let group): .createGroup(group.group(ownedBy: Self.owner(of: group, actor)))
    case .groupsLeave(let guid): .leaveGroup(guid)
    case .membersAdd(let guid, let members): .addMembers(guid, members)
    case .membersKick(let guid, let uid): .kickMember(guid, uid)
    case .adminUsersCreate(let user): .createUser(user)
    case .connect, .ping, .sessionUpdate, .threadOpen, .threadClose, .typing, .messageGet, .messagesList,
      .reactionsList, .usersGet,
      .groupsGet, .membersList, .adminTokensMint,
      .adminTokensRevoke:
      nil
    }
  }

  private static func owner(of group: NewGroup, _ actor: Actor) -> UserID {
    switch actor {
    case .user(let uid): uid
    case .application: group.owner ?? .application
    }
  }
}
