import LoadModel
import Testing

@Suite struct DeliveryLedgerTests {
  /// Two listeners (0, 1) and one sender, who is recipient 2, of three sends that were taken as seqs 11, 12, 13.
  private func sent(_ count: Int = 3) -> DeliveryLedger {
    var ledger = DeliveryLedger(
      recipients: 3, senders: 1, audience: .everyone(selves: [2]), isAcknowledged: true)
    for number in 0..<count {
      #expect(ledger.send(0) == UInt32(number))
      ledger.accepted(0, UInt32(number), seq: 11 + UInt64(number))
    }
    return ledger
  }

  private func deliver(_ numbers: [UInt32], to recipient: Int, _ ledger: inout DeliveryLedger) {
    for number in numbers { ledger.received(recipient, from: 0, number: number, seq: 11 + UInt64(number)) }
  }

  @Test func everythingOnceAndInOrderIsClean() {
    var ledger = sent()
    deliver([0, 1, 2], to: 0, &ledger)
    #expect(!ledger.isSettled)
    deliver([0, 1, 2], to: 1, &ledger)
    #expect(ledger.isSettled)
    ledger.close()
    #expect(ledger.findings.counts == [:])
    #expect(ledger.deliveries == 6)
  }

  @Test func aLostEventInTheMiddleIsFound() {
    var ledger = sent()
    deliver([0, 2], to: 0, &ledger)
    deliver([0, 1, 2], to: 1, &ledger)
    ledger.close()
    #expect(ledger.findings.counts == [.lost: 1])
    #expect(ledger.findings.examples == ["lost: recipient 0 lacks 1 of sender 0"])
  }

  @Test func aLostEventAtTheEndIsFound() {
    var ledger = sent()
    deliver([0], to: 0, &ledger)
    deliver([0, 1, 2], to: 1, &ledger)
    #expect(!ledger.isSettled)
    ledger.close()
    #expect(ledger.findings.counts == [.lost: 2])
  }

  @Test func aDoubledEventIsFound() {
    var ledger = sent()
    deliver([0, 1, 1, 2], to: 0, &ledger)
    deliver([0, 1, 2], to: 1, &ledger)
    ledger.close()
    #expect(ledger.findings.counts == [.doubled: 1])
    #expect(ledger.deliveries == 6)
  }

  @Test func swappedEventsAreFoundAndNotCalledLost() {
    var ledger = sent()
    deliver([0, 2, 1], to: 0, &ledger)
    deliver([0, 1, 2], to: 1, &ledger)
    ledger.close()
    #expect(ledger.findings.counts == [.outOfOrder: 1])
    #expect(ledger.deliveries == 6)
  }

  @Test func aJumpOfSeveralIsSplitByWhatComesLate() {
    var ledger = sent(6)
    deliver([0, 5, 2], to: 0, &ledger)
    deliver([2], to: 0, &ledger)
    deliver([0, 1, 2, 3, 4, 5], to: 1, &ledger)
    ledger.close()
    #expect(ledger.findings.counts == [.outOfOrder: 1, .doubled: 1, .lost: 3])
  }

  @Test func aSeqThatDoesNotRiseIsFound() {
    var ledger = sent(2)
    ledger.received(0, from: 0, number: 0, seq: 12)
    ledger.received(0, from: 0, number: 1, seq: 12)
    #expect(ledger.findings.counts == [.outOfOrder: 1])
  }

  @Test func anEventBelowTheHeartbeatsPositionIsFound() {
    var ledger = sent(1)
    ledger.heartbeat(0, seq: 40)
    #expect(ledger.findings.total == 0)
    ledger.observed(0, seq: 40)
    ledger.heartbeat(0, seq: 39)
    #expect(ledger.findings.counts == [.outOfOrder: 2])
    #expect(ledger.position(of: 0) == 40)
  }

  @Test func aSendersOwnMessageIsUnexpected() {
    var ledger = sent()
    deliver([0], to: 2, &ledger)
    #expect(ledger.findings.counts == [.unexpected: 1])
    #expect(ledger.deliveries == 0)
  }

  @Test func unknownNumbersAndSendersAreUnexpected() {
    var ledger = sent()
    ledger.received(0, from: 0, number: 3, seq: 14)
    ledger.received(0, from: 1, number: 0, seq: 15)
    #expect(ledger.findings.counts == [.unexpected: 2])
  }

  @Test func aRefusedSendIsExpectedByNobody() {
    var ledger = sent(1)
    _ = ledger.send(0)
    ledger.refused(0, 1)
    _ = ledger.send(0)
    ledger.accepted(0, 2, seq: 13)
    for recipient in 0..<2 { deliver([0, 2], to: recipient, &ledger) }
    #expect(ledger.isSettled)
    ledger.close()
    #expect(ledger.findings.total == 0)
  }

  @Test func anUnansweredSendIsFound() {
    var ledger = sent(1)
    _ = ledger.send(0)
    for recipient in 0..<2 { deliver([0, 1], to: recipient, &ledger) }
    #expect(!ledger.isSettled)
    ledger.close()
    #expect(ledger.findings.counts == [.unanswered: 1])
  }

  @Test func aSecondAnswerIsFound() {
    var ledger = sent(1)
    ledger.accepted(0, 0, seq: 11)
    ledger.accepted(0, 5, seq: 16)
    #expect(ledger.findings.counts == [.unanswered: 2])
  }

  @Test func aResumedSessionMustGetWhatItMissed() {
    var ledger = sent(4)
    deliver([0], to: 0, &ledger)
    // Away for 1 and 2, resumed, and 1 is not replayed.
    deliver([2, 3], to: 0, &ledger)
    deliver([0, 1, 2, 3], to: 1, &ledger)
    ledger.close()
    #expect(ledger.findings.counts == [.lost: 1])
  }

  @Test func aReplayThatBringsAnEventAgainIsFound() {
    var ledger = sent(3)
    deliver([0, 1], to: 0, &ledger)
    deliver([1, 2], to: 0, &ledger)
    #expect(ledger.findings.counts == [.doubled: 1])
  }

  @Test func afterAResetOnlyWhatFollowsIsExpected() {
    var ledger = sent(5)
    deliver([0], to: 0, &ledger)
    // The hello stands at seq 13: numbers 1 and 2 are given up, 3 and 4 are not.
    ledger.begin(0, after: 13)
    deliver([3, 4], to: 0, &ledger)
    deliver([0, 1, 2, 3, 4], to: 1, &ledger)
    #expect(ledger.isSettled)
    ledger.close()
    #expect(ledger.findings.total == 0)
  }

  @Test func afterAResetALaterEventIsStillMissed() {
    var ledger = sent(5)
    deliver([0], to: 0, &ledger)
    ledger.begin(0, after: 13)
    deliver([4], to: 0, &ledger)
    deliver([0, 1, 2, 3, 4], to: 1, &ledger)
    ledger.close()
    #expect(ledger.findings.counts == [.lost: 1])
  }

  @Test func aResetExcusesNoGapOfBefore() {
    var ledger = sent(5)
    deliver([0, 2], to: 0, &ledger)
    ledger.begin(0, after: 15)
    deliver([0, 1, 2, 3, 4], to: 1, &ledger)
    ledger.close()
    #expect(ledger.findings.counts == [.lost: 1])
  }

  @Test func whoLeftIsJudgedByWhatItGot() {
    var ledger = sent(3)
    deliver([0, 2], to: 0, &ledger)
    deliver([0], to: 1, &ledger)
    ledger.leave(0)
    ledger.leave(1)
    #expect(ledger.isSettled)
    ledger.close()
    #expect(ledger.findings.counts == [.lost: 1])
  }

  @Test func echoedToAnotherConnectionIsUnexpected() {
    var ledger = DeliveryLedger(recipients: 2, senders: 2, audience: .oneself, isAcknowledged: false)
    _ = ledger.send(0)
    _ = ledger.send(1)
    ledger.received(0, from: 0, number: 0, seq: nil)
    #expect(!ledger.isSettled)
    ledger.received(0, from: 1, number: 0, seq: nil)
    ledger.close()
    #expect(ledger.findings.counts == [.unexpected: 1, .lost: 1])
  }

  @Test func onlyTheFirstExamplesAreKept() {
    var findings = Findings()
    for number in 0..<50 { findings.add(.lost, count: 2, "number \(number)") }
    #expect(findings.total == 100)
    #expect(findings.examples.count == 10)
  }
}
