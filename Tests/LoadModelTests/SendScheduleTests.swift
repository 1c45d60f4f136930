import LoadModel
import Primitives
import Testing

@Suite struct SendScheduleTests {
  private func instants(_ schedule: inout SendSchedule, at now: UInt64) -> [UInt64] {
    var taken: [UInt64] = []
    while let due = schedule.takeDue(at: Instant(nanoseconds: now), underWay: 0) { taken.append(due.nanoseconds) }
    return taken
  }

  @Test func aRateKeepsItsIntendedTimesWhenTheDriverIsLate() {
    var schedule = SendSchedule(.rate(1_000), sender: 0, of: 1, start: Instant(nanoseconds: 5_000_000))
    #expect(instants(&schedule, at: 4_999_999) == [])
    #expect(instants(&schedule, at: 8_500_000) == [5_000_000, 6_000_000, 7_000_000, 8_000_000])
    #expect(schedule.nextDue == Instant(nanoseconds: 9_000_000))
  }

  @Test func aRateIsSharedAmongTheSenders() {
    var first = SendSchedule(.rate(1_000), sender: 0, of: 4, start: Instant(nanoseconds: 0))
    var last = SendSchedule(.rate(1_000), sender: 3, of: 4, start: Instant(nanoseconds: 0))
    #expect(instants(&first, at: 8_000_000) == [0, 4_000_000, 8_000_000])
    #expect(instants(&last, at: 8_000_000) == [3_000_000, 7_000_000])
  }

  @Test func aWindowSendsWhenThereIsRoom() {
    var schedule = SendSchedule(.inFlight(2), sender: 0, of: 1, start: Instant(nanoseconds: 0))
    let now = Instant(nanoseconds: 77)
    #expect(schedule.takeDue(at: now, underWay: 1) == now)
    #expect(schedule.takeDue(at: now, underWay: 2) == nil)
    #expect(schedule.nextDue == .never)
  }

  @Test func nothingIsDueAfterTheStop() {
    var schedule = SendSchedule(.rate(1), sender: 0, of: 1, start: Instant(nanoseconds: 0))
    schedule.stop()
    #expect(schedule.takeDue(at: .never, underWay: 0) == nil)
    #expect(schedule.nextDue == .never)
  }

  @Test func theOrderOfARateAgreesWithItsSchedules() {
    let start = Instant(nanoseconds: 1_000)
    let pace = Pace.rate(7)
    var order = SendingOrder(pace, senders: 3, start: start)
    var schedules = (0..<3).map { SendSchedule(pace, sender: $0, of: 3, start: start) }
    var senders: [Int] = []
    // Ten minutes, in which the roundings of 1/7 s must not drift apart.
    while senders.count < 4_200 {
      let now = order.nextDue
      for sender in order.take(at: now) {
        senders.append(sender)
        #expect(schedules[sender].takeDue(at: now, underWay: 0) != nil)
      }
    }
    #expect(Array(senders.prefix(7)) == [0, 1, 2, 0, 1, 2, 0])
    #expect(order.nextDue.nanoseconds == 1_000 + 600_000_000_000)
  }

  @Test func theOrderOfAWindowLooksAtWhoHasRoom() {
    var order = SendingOrder(.inFlight(1), senders: 3, start: Instant(nanoseconds: 0))
    #expect(order.take(at: Instant(nanoseconds: 1)) == [0, 1, 2])
    #expect(order.take(at: .never) == [])
    order.add(1)
    #expect(order.nextDue == .never)
    #expect(order.take(at: Instant(nanoseconds: 2)) == [1])
    order.add(2)
    order.stop()
    #expect(order.take(at: Instant(nanoseconds: 3)) == [])
  }

  @Test func aLateDriverLooksAtEverybodyWhoIsDue() {
    var order = SendingOrder(.rate(1_000), senders: 2, start: Instant(nanoseconds: 0))
    #expect(order.take(at: Instant(nanoseconds: 3_500_000)) == [0, 1, 0, 1])
    #expect(order.nextDue == Instant(nanoseconds: 4_000_000))
  }
}
