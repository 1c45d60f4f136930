import Chat
package import Store
import Workers

/// The people, the group and the credentials of `--dev` (S3): for a first minute on loopback, never for the world.
package enum DevelopmentData {
  static let names = [("ann", "Ann"), ("bob", "Bob"), ("cyd", "Cyd"), ("dan", "Dan"), ("eve", "Eve")]

  /// Whether the store holds credentials that everybody knows, so that it must never serve anything but `--dev`.
  package static func isPresent(in store: any Store) throws(StoreFailure) -> Bool {
    try store.makeReader().keyScope(hash: Secret.digest("dev-admin")) != nil
  }

  /// Writes everything in one commit, unless it is there.
  /// - Returns: whether anything was written.
  package static func write(to store: any Store) throws(StoreFailure) -> Bool {
    let ann = UserID(stored: "ann")
    guard try store.makeReader().user(ann) == nil else { return false }
    let team = GroupID(stored: "team")
    var changes: [Mutation.Change] = []
    for (uid, name) in names { changes.append(.createUser(User(uid: UserID(stored: uid), name: name))) }
    changes.append(.createGroup(Group(guid: team, name: "Team", type: .private, owner: ann)))
    let others = names.dropFirst().map { NewMember(uid: UserID(stored: $0.0), scope: .participant) }
    changes.append(.addMembers(team, others))
    for (uid, _) in names {
      changes.append(.mintToken(UserID(stored: uid), hash: Secret.digest("dev-\(uid)"), expiresAt: .never))
    }
    changes.append(.mintKey(hash: Secret.digest("dev-admin"), scope: .fullAccess, name: "development"))
    let writer = try store.makeWriter()
    let commit = try writer.commit(
      changes.map { Mutation(actor: .application, change: $0) }, at: UnixSeconds(Clock.unixSeconds()))
    for outcome in commit.outcomes {
      if case .failure(let refusal) = outcome.result {
        throw StoreFailure(.unusable, "the development data could not be written: \(refusal.code.rawValue)")
      }
    }
    return true
  }
}
