import Primitives
import Testing

@Suite("Instants, token bucket, histogram")
struct MeasureTests {
  @Test func instantsSaturate() {
    let start = Instant(nanoseconds: 5)
    #expect(start.advanced(byMilliseconds: 2).nanoseconds == 2_000_005)
    #expect(start.advanced(bySeconds: 3).nanoseconds == 3_000_000_005)
    #expect(start.advanced(bySeconds: .max) == .never)
    #expect(start.advanced(byMilliseconds: .max) == .never)
    #expect(Instant.never.advanced(byNanoseconds: 1) == .never)
    #expect(start.nanoseconds(since: .never) == 0)
    #expect(start.advanced(byNanoseconds: 2_999_999).milliseconds(since: start) == 2)
    #expect(start < .never)
  }

  @Test func aBucketGivesItsBurstAndThenItsRate() {
    let start = Instant(nanoseconds: 1_000_000_000_000)
    var bucket = TokenBucket(perSecond: 10, burst: 3)
    #expect(bucket.available(at: start) == 3)
    for _ in 0..<3 { #expect(bucket.take(at: start) == true) }
    #expect(bucket.take(at: start) == false)
    #expect(bucket.nextAvailable(at: start) == start.advanced(byMilliseconds: 100))
    #expect(bucket.take(at: start.advanced(byMilliseconds: 99)) == false)
    #expect(bucket.take(at: start.advanced(byMilliseconds: 100)) == true)
    #expect(bucket.take(at: start.advanced(byMilliseconds: 100)) == false)
    #expect(bucket.available(at: start.advanced(byMilliseconds: 350)) == 2)
    #expect(bucket.available(at: start.advanced(bySeconds: 1000)) == 3)
  }

  @Test func aRefusedTakeCostsNothing() {
    let start = Instant(nanoseconds: 1_000_000_000_000)
    var bucket = TokenBucket(perSecond: 1, burst: 5)
    #expect(bucket.take(3, at: start) == true)
    #expect(bucket.take(3, at: start) == false)
    #expect(bucket.take(2, at: start) == true)
    #expect(bucket.nextAvailable(6, at: start) == .never)
    #expect(bucket.nextAvailable(5, at: start) == start.advanced(bySeconds: 5))
  }

  @Test func smallValuesAreExact() {
    var histogram = Histogram()
    for value in 0..<UInt64(16) { histogram.record(value) }
    #expect(histogram.quantile(0) == 0)
    #expect(histogram.quantile(0.5) == 7)
    #expect(histogram.quantile(1) == 15)
    #expect(histogram.count == 16)
    #expect(histogram.sum == 120)
    #expect(histogram.maximum == 15)
  }

  @Test(arguments: [16, 17, 31, 32, 33, 1000, 1_000_000, 123_456_789, UInt64.max / 2, UInt64.max] as [UInt64])
  func aQuantileIsAtMostASixteenthTooHigh(_ value: UInt64) {
    var histogram = Histogram()
    histogram.record(value)
    histogram.record(.max)
    let found = histogram.quantile(0.5)
    #expect(found >= value)
    #expect(found - value <= value / 16)
  }

  @Test func mergedHistogramsCountTogether() {
    var first = Histogram()
    var second = Histogram()
    for _ in 0..<99 { first.record(10) }
    second.record(1_000_000)
    first.merge(second)
    #expect(first.count == 100)
    #expect(first.quantile(0.99) == 10)
    #expect(first.quantile(1) == 1_000_000)
    #expect(first.maximum == 1_000_000)
    first.reset()
    #expect(first.count == 0)
    #expect(first.quantile(0.99) == 0)
  }
}
