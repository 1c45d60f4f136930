import Chat
import Testing

private typealias Rank = MembershipRules.Rank

@Suite("D5 · Rights in a group")
struct MembershipRulesTests {
  private static let owner = Rank(scope: .admin, isOwner: true)
  private static let admin = Rank(scope: .admin)
  private static let moderator = Rank(scope: .moderator)
  private static let participant = Rank(scope: .participant)

  @Test func D5_adminsAndTheOwnerAdd() {
    #expect(MembershipRules.mayAdd(Self.owner))
    #expect(MembershipRules.mayAdd(Rank(scope: .participant, isOwner: true)))
    #expect(MembershipRules.mayAdd(Self.admin))
    #expect(!MembershipRules.mayAdd(Self.moderator))
    #expect(!MembershipRules.mayAdd(Self.participant))
    #expect(MembershipRules.mayAdd(nil))
  }

  @Test func D5_whoKicksWhom() {
    let targets = [Self.participant, Self.moderator, Self.admin, Self.owner]
    func kicked(by actor: MembershipRules.Rank?) -> [Bool] { targets.map { MembershipRules.mayKick($0, by: actor) } }
    #expect(kicked(by: Self.owner) == [true, true, true, false])
    #expect(kicked(by: Self.admin) == [true, true, true, false])
    #expect(kicked(by: Self.moderator) == [true, false, false, false])
    #expect(kicked(by: Self.participant) == [false, false, false, false])
    #expect(kicked(by: nil) == [true, true, true, false])
  }

  @Test func D5_everybodyLeavesButTheOwner() {
    #expect(MembershipRules.mayLeave(Self.admin))
    #expect(MembershipRules.mayLeave(Self.participant))
    #expect(!MembershipRules.mayLeave(Self.owner))
  }
}
