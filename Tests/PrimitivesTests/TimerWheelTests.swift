import Primitives
import Testing

private let origin = Instant(nanoseconds: 1_000_000_000)

private func at(_ milliseconds: UInt64) -> Instant { origin.advanced(byMilliseconds: milliseconds) }

private func fired(_ wheel: inout TimerWheel, by now: Instant) -> [UInt64] {
  var tokens: [UInt64] = []
  wheel.advance(to: now) { tokens.append($0) }
  return tokens.sorted()
}

@Suite("Timer wheel")
struct TimerWheelTests {
  /// Delays in milliseconds at and around each level's reach: 2.048 s, 524 s, 37 h, 397 d.
  static let delays: [UInt64] = [
    8, 9, 16, 100, 2_040, 2_047, 2_048, 2_049, 2_056, 524_280, 524_288, 524_296, 600_000, 134_217_720, 134_217_728,
    134_217_736, 34_359_738_368, 40_000_000_000,
  ]

  @Test(arguments: delays, [0, 8, 1_000, 2_047, 524_287, 134_217_727] as [UInt64])
  func aTimerFiresNeitherEarlyNorMoreThanATickLate(_ delay: UInt64, _ start: UInt64) {
    var wheel = TimerWheel(origin: origin)
    wheel.advance(to: at(start)) { _ in }
    _ = wheel.schedule(7, at: at(start + delay))
    #expect(fired(&wheel, by: at(start + delay - 1)) == [])
    #expect(wheel.count == 1)
    #expect(fired(&wheel, by: at(start + delay + 8)) == [7])
    #expect(wheel.count == 0)
    #expect(fired(&wheel, by: at(start + delay + 100_000)) == [])
  }

  @Test func aDeadlineInThePastFiresAtTheNextTick() {
    var wheel = TimerWheel(origin: origin)
    wheel.advance(to: at(1_000)) { _ in }
    _ = wheel.schedule(1, at: at(10))
    #expect(fired(&wheel, by: at(1_000)) == [])
    #expect(fired(&wheel, by: at(1_008)) == [1])
  }

  @Test func aCancelledTimerNeverFires() {
    var wheel = TimerWheel(origin: origin)
    let first = wheel.schedule(1, at: at(50))
    let second = wheel.schedule(2, at: at(50))
    let third = wheel.schedule(3, at: at(5_000))
    #expect(wheel.cancel(first) == true)
    #expect(wheel.cancel(first) == false)
    #expect(wheel.cancel(third) == true)
    #expect(wheel.cancel(.none) == false)
    #expect(fired(&wheel, by: at(10_000)) == [2])
    #expect(wheel.cancel(second) == false)
    #expect(wheel.nextDeadline() == .never)
  }

  @Test func anOldNameDoesNotCancelTheTimerThatReusesItsPlace() {
    var wheel = TimerWheel(origin: origin)
    let old = wheel.schedule(1, at: at(50))
    #expect(wheel.cancel(old) == true)
    _ = wheel.schedule(2, at: at(50))
    #expect(wheel.cancel(old) == false)
    #expect(fired(&wheel, by: at(100)) == [2])
  }

  @Test func oneLongStepFiresEverythingOnTheWay() {
    var wheel = TimerWheel(origin: origin)
    for (token, delay) in Self.delays.enumerated() { _ = wheel.schedule(UInt64(token), at: at(delay)) }
    #expect(fired(&wheel, by: at(50_000_000_000)) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17])
  }

  @Test func theNextDeadlineLeadsToEveryTimerInFewSteps() {
    for delay in Self.delays {
      var wheel = TimerWheel(origin: origin)
      _ = wheel.schedule(1, at: at(delay))
      var steps = 0
      var tokens: [UInt64] = []
      while tokens.isEmpty, steps < 10 {
        let next = wheel.nextDeadline()
        #expect(next <= at(delay + 8))
        tokens = fired(&wheel, by: next)
        steps += 1
      }
      #expect(tokens == [1])
      #expect(steps <= 5)
    }
  }

  @Test func aHundredThousandTimersKeepTheirTicks() {
    var wheel = TimerWheel(origin: origin)
    var seed: UInt64 = 42
    var deadlines: [UInt64] = []
    for token in 0..<100_000 {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let delay = (seed >> 33) % 700_000
      deadlines.append(delay)
      _ = wheel.schedule(UInt64(token), at: at(delay))
    }
    var now: UInt64 = 0
    var early = 0
    var late = 0
    var total = 0
    while wheel.count > 0, now < 800_000 {
      now += 1_000
      wheel.advance(to: at(now)) { token in
        let deadline = deadlines[Int(token)]
        if deadline > now { early += 1 }
        if deadline + 1_016 < now { late += 1 }
        total += 1
      }
    }
    #expect(early == 0)
    #expect(late == 0)
    #expect(total == 100_000)
  }

  @Test func aTimerBeyondTheWheelIsKept() {
    var wheel = TimerWheel(origin: origin)
    let id = wheel.schedule(1, at: .never)
    #expect(fired(&wheel, by: at(1_000_000)) == [])
    #expect(wheel.cancel(id) == true)
  }
}
