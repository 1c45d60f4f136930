import Chat
import Testing

private let participant = ConversationAccess.participant(joinedSeq: Seq(1))

private func facts(
  _ access: ConversationAccess, category: Chat.Category = .message, root: Int64? = nil, isDeleted: Bool = false
) -> MessageFacts {
  MessageFacts(
    id: MessageID(40), category: category, root: root.map { MessageID($0) }, isDeleted: isDeleted, access: access)
}

private let wrongThread = Refusal(.wrongMessageThread)
private let wrongThreadOf7 = Refusal(.wrongMessageThread, details: [.rootMessageID(MessageID(7))])

@Suite("T1, T2 · Who may reply")
struct ReplyRuleTests {
  @Test(arguments: [
    (facts(participant), true),
    (facts(participant, category: .custom), true),
    (facts(.participant(joinedSeq: .none)), true),
  ])
  func T1_aRootIsAMessageOrCustomMessage(_ parent: MessageFacts, _ isSame: Bool) {
    #expect(ThreadRules.refusalOfReply(to: parent, isSameConversation: isSame) == nil)
  }

  @Test(arguments: [true, false])
  func T2_missingDeletedAndUnseenAreTheSame(_ isSame: Bool) {
    let parents: [MessageFacts?] = [
      nil, facts(participant, isDeleted: true), facts(participant, root: 7, isDeleted: true), facts(.stranger),
      facts(.stranger, root: 7), facts(.stranger, category: .action), facts(.former), facts(.former, root: 7),
    ]
    for parent in parents {
      #expect(ThreadRules.refusalOfReply(to: parent, isSameConversation: isSame) == Refusal(.messageNotFound))
    }
  }

  @Test(arguments: [
    (facts(participant), false, wrongThread),
    (facts(participant, category: .action), true, wrongThread),
    (facts(participant, category: .action), false, wrongThread),
    (facts(participant, root: 7), true, wrongThreadOf7),
    (facts(participant, root: 7), false, wrongThreadOf7),
    (facts(participant, category: .action, root: 7), true, wrongThreadOf7),
  ])
  func T2_theWrongThreadNamesTheRootOfAReply(_ parent: MessageFacts, _ isSame: Bool, _ expected: Refusal) {
    #expect(ThreadRules.refusalOfReply(to: parent, isSameConversation: isSame) == expected)
  }
}

@Suite("T8 · Who may subscribe, and who may read")
struct SubscriptionAdmissionTests {
  private static let replyOf7 = Refusal(.invalidParentMessageID, details: [.rootMessageID(MessageID(7))])

  @Test(arguments: [
    (facts(participant), Refusal?.none),
    (facts(participant, category: .custom), nil),
    (facts(participant, root: 7), replyOf7),
    (facts(participant, category: .action), Refusal(.invalidParentMessageID)),
    (facts(participant, isDeleted: true), Refusal(.messageIDNotFound)),
    (facts(participant, root: 7, isDeleted: true), Refusal(.messageIDNotFound)),
    (facts(.former), Refusal(.messageNoAccess)),
    (facts(.former, root: 7), Refusal(.messageNoAccess)),
    (facts(.stranger), Refusal(.messageIDNotFound)),
    (facts(.stranger, root: 7), Refusal(.messageIDNotFound)),
  ])
  func T8_subscribing(_ root: MessageFacts, _ expected: Refusal?) {
    #expect(ThreadRules.refusalOfSubscription(to: root) == expected)
  }

  @Test func T8_aMissingMessage() {
    #expect(ThreadRules.refusalOfSubscription(to: nil) == Refusal(.messageIDNotFound))
    #expect(ThreadRules.refusalOfReading(nil) == Refusal(.messageIDNotFound))
    #expect(ThreadRules.refusalOfListingReplies(of: nil) == Refusal(.messageIDNotFound))
  }

  @Test(arguments: [
    (facts(participant), Refusal?.none), (facts(participant, root: 7), nil), (facts(participant, isDeleted: true), nil),
    (facts(.former), Refusal(.messageNoAccess)), (facts(.stranger), Refusal(.messageIDNotFound)),
  ])
  func T2_reading(_ message: MessageFacts, _ expected: Refusal?) {
    #expect(ThreadRules.refusalOfReading(message) == expected)
  }

  @Test(arguments: [
    (facts(participant), Refusal?.none), (facts(participant, isDeleted: true), nil),
    (facts(participant, root: 7), replyOf7), (facts(.former, root: 7), Refusal(.messageNoAccess)),
    (facts(.stranger, root: 7), Refusal(.messageIDNotFound)),
  ])
  func T10_repliesOfADeletedRootStayReadable(_ root: MessageFacts, _ expected: Refusal?) {
    #expect(ThreadRules.refusalOfListingReplies(of: root) == expected)
  }
}
