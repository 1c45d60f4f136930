import Chat
import Testing

/// A standing in the thread of root 100, in a conversation joined at `joined`.
private func standing(
  author: Bool = false, joined: Int64 = 0, _ stored: Subscription? = nil
) -> ThreadStanding {
  ThreadStanding(stored: stored, root: MessageID(100), isRootAuthor: author, joinedSeq: Seq(joined))
}

private func on(_ cause: SubscriptionCause, _ seq: Int64) -> Subscription {
  Subscription(isSubscribed: true, cause: cause, seq: Seq(seq))
}

private func off(_ seq: Int64) -> Subscription {
  Subscription(isSubscribed: false, cause: .explicit, seq: Seq(seq))
}

@Suite("T4–T7, T9, T15 · Who follows a thread")
struct SubscriptionRulesTests {
  @Test func T5_theRootsAuthorFollowsWithoutARow() {
    #expect(standing(author: true).isSubscribed)
    #expect(!standing().isSubscribed)
  }

  @Test func T5_notWhenTheRootIsOlderThanTheMembership() {
    #expect(standing(author: true, joined: 99).isSubscribed)
    #expect(!standing(author: true, joined: 101).isSubscribed)
  }

  @Test func T5_aWordOverrulesAuthorship() {
    #expect(!standing(author: true, off(120)).isSubscribed)
    #expect(standing(author: true, on(.mention, 120)).isSubscribed)
  }

  @Test(arguments: [SubscriptionCause.reply, .mention])
  func T4_aCauseSubscribes(_ cause: SubscriptionCause) {
    #expect(standing().meeting(cause, at: Seq(130)) == .change(on(cause, 130)))
  }

  @Test func T4_whoFollowsAlreadyIsLeftAlone() {
    #expect(standing(author: true).meeting(.reply, at: Seq(130)) == .nothing)
    #expect(standing(on(.mention, 120)).meeting(.reply, at: Seq(130)) == .nothing)
    #expect(standing(on(.explicit, 120)).meeting(.mention, at: Seq(130)) == .nothing)
  }

  @Test func T6_unsubscribingIsNotSticky() {
    #expect(standing(off(120)).meeting(.reply, at: Seq(130)) == .change(on(.reply, 130)))
    #expect(standing(author: true, off(120)).meeting(.mention, at: Seq(130)) == .change(on(.mention, 130)))
  }

  @Test func T6_wishesChangeTheStateBothWays() {
    #expect(standing().wishing(true, head: Seq(140)) == .change(on(.explicit, 141)))
    #expect(standing(off(120)).wishing(true, head: Seq(140)) == .change(on(.explicit, 141)))
    #expect(standing(author: true).wishing(false, head: Seq(140)) == .change(off(141)))
    #expect(standing(on(.mention, 120)).wishing(false, head: Seq(140)) == .change(off(141)))
  }

  @Test func T15_askingForWhatIsSoMovesTheFenceAlone() {
    #expect(standing().wishing(false, head: Seq(140)) == .fence(off(140)))
    #expect(standing(off(120)).wishing(false, head: Seq(140)) == .fence(off(140)))
    #expect(standing(author: true).wishing(true, head: Seq(140)) == .fence(on(.explicit, 140)))
    #expect(standing(on(.mention, 120)).wishing(true, head: Seq(140)) == .fence(on(.explicit, 140)))
  }

  @Test(arguments: [(Int64(119), false), (120, false), (121, true)])
  func T7_lateAutomaticSubscriptionIsIgnored(_ cause: Int64, _ isHeeded: Bool) {
    let expected: SubscriptionTransition = isHeeded ? .change(on(.mention, cause)) : .nothing
    #expect(standing(off(120)).meeting(.mention, at: Seq(cause)) == expected)
  }

  @Test func C102_aLateAutomaticSubscriptionDoesNotUndoANewerUnsubscribe() {
    // The mention happened at 140, the unsubscribe at 150, the mention is looked at afterwards.
    #expect(standing(off(150)).meeting(.mention, at: Seq(140)) == .nothing)
    #expect(standing(off(150)).meeting(.mention, at: Seq(160)) == .change(on(.mention, 160)))
  }

  @Test func T7_aFenceWithoutAnEventHoldsToo() {
    guard case .fence(let fence) = standing().wishing(false, head: Seq(150)) else {
      Issue.record("Asking for what is so must move the fence.")
      return
    }
    #expect(standing(fence).meeting(.mention, at: Seq(150)) == .nothing)
    #expect(standing(fence).meeting(.mention, at: Seq(151)) == .change(on(.mention, 151)))
  }

  @Test func T9_whatIsOlderThanTheMembershipDoesNotCount() {
    #expect(!standing(joined: 200, on(.explicit, 150)).isSubscribed)
    #expect(standing(joined: 200).meeting(.mention, at: Seq(150)) == .nothing)
    #expect(standing(joined: 200).meeting(.mention, at: Seq(200)) == .nothing)
    #expect(standing(joined: 200).meeting(.mention, at: Seq(201)) == .change(on(.mention, 201)))
    // A word said at the very start of the membership, before anything else happened, does count.
    #expect(standing(joined: 200, on(.explicit, 200)).isSubscribed)
  }
}
