import Primitives
import Testing

@testable import Gateway

@Suite("R5: when a loop writes what its turns have queued")
struct FlushPacerTests {
  /// A loop that spends `busy` of each turn of 1 ms and finds `depth` frames for each of 100 sockets.
  private struct Load {
    var pacer = FlushPacer()
    var now = Instant(nanoseconds: 1_000_000_000)

    mutating func run(milliseconds: Int, busyPercent: UInt64, depth: Int) {
      for _ in 0..<milliseconds {
        let began = now
        now = now.advanced(byNanoseconds: busyPercent * 10_000)
        pacer.flushed(turnBegan: began, now: now, frames: depth * 100, writes: 100)
        now = now.advanced(byNanoseconds: (100 - busyPercent) * 10_000)
      }
    }
  }

  @Test func R5_atLightLoadNothingWaits() {
    var load = Load()
    load.run(milliseconds: 200, busyPercent: 60, depth: 8)
    #expect(!load.pacer.isLoaded)
    #expect(load.pacer.shouldFlush(at: load.now, frames: 1, bytes: 100) == true)
    #expect(load.pacer.deadline == .never)
    // Busy, but every socket gets one frame a turn: waiting would gain nothing.
    load.run(milliseconds: 200, busyPercent: 100, depth: 1)
    #expect(load.pacer.shouldFlush(at: load.now, frames: 100, bytes: 100) == true)
  }

  @Test func R5_underLoadWritesWaitAtMostTwoMilliseconds() {
    var load = Load()
    load.run(milliseconds: 50, busyPercent: 100, depth: 4)
    #expect(load.pacer.isLoaded)
    let began = load.now
    var frames = 0
    var held: UInt64 = 0
    while true {
      frames += 100
      if load.pacer.shouldFlush(at: load.now, frames: frames, bytes: 1_000) { break }
      #expect(load.pacer.deadline <= began.advanced(byNanoseconds: FlushPacer.holdNanoseconds))
      load.now = load.now.advanced(byNanoseconds: 100_000)
      held = load.now.nanoseconds(since: began)
    }
    #expect(held == FlushPacer.holdNanoseconds)
  }

  @Test func R5_aHoldEndsWhenNothingComes() {
    var load = Load()
    load.run(milliseconds: 50, busyPercent: 100, depth: 4)
    #expect(load.pacer.shouldFlush(at: load.now, frames: 100, bytes: 1_000) == false)
    #expect(load.pacer.deadline == load.now.advanced(byNanoseconds: FlushPacer.quietNanoseconds))
    load.now = load.now.advanced(byNanoseconds: FlushPacer.quietNanoseconds)
    #expect(load.pacer.shouldFlush(at: load.now, frames: 100, bytes: 1_000) == true)
    load.pacer.flushed(turnBegan: load.now, now: load.now, frames: 100, writes: 100)
    #expect(load.pacer.deadline == .never)
  }

  @Test func R7_aHoldEndsWhenMuchWaits() {
    var load = Load()
    load.run(milliseconds: 50, busyPercent: 100, depth: 4)
    #expect(load.pacer.shouldFlush(at: load.now, frames: 100, bytes: FlushPacer.holdBytes - 1) == false)
    #expect(load.pacer.shouldFlush(at: load.now, frames: 200, bytes: FlushPacer.holdBytes) == true)
  }

  @Test func R5_theLoadIsLeftAtALowerThresholdThanItIsEntered() {
    var load = Load()
    load.run(milliseconds: 50, busyPercent: 100, depth: 4)
    load.run(milliseconds: 100, busyPercent: 60, depth: 4)
    #expect(load.pacer.isLoaded)
    load.run(milliseconds: 100, busyPercent: 30, depth: 4)
    #expect(!load.pacer.isLoaded)
    load.run(milliseconds: 100, busyPercent: 60, depth: 4)
    #expect(!load.pacer.isLoaded)
  }
}
