import Primitives
import Testing

@Suite("Ring")
struct RingTests {
  @Test func elementsLeaveInTheOrderTheyCame() {
    var ring = Ring<Int>(limit: 100, initialCapacity: 2)
    for number in 0..<100 { #expect(ring.push(number) == true) }
    #expect(ring.push(100) == false)
    #expect(ring.count == 100)
    for number in 0..<100 { #expect(ring.pop() == number) }
    #expect(ring.pop() == nil)
    #expect(ring.isEmpty == true)
  }

  @Test func growingKeepsTheOrderWhereverTheHeadIs() {
    for shift in 0..<8 {
      var ring = Ring<Int>(limit: 100, initialCapacity: 8)
      for _ in 0..<shift {
        _ = ring.push(-1)
        _ = ring.pop()
      }
      for number in 0..<20 { #expect(ring.push(number) == true) }
      var taken: [Int] = []
      while let number = ring.pop() { taken.append(number) }
      #expect(taken == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19])
    }
  }

  @Test func theFrontAndTheMiddleCanBeLookedAtAndChanged() {
    var ring = Ring<Int>(limit: 4, initialCapacity: 4)
    #expect(ring.first == nil)
    for number in 1...4 { _ = ring.push(number) }
    _ = ring.pop()
    _ = ring.push(5)
    #expect(ring.first == 2)
    #expect(ring[3] == 5)
    ring[0] = 9
    #expect(ring.pop() == 9)
  }

  @Test func removingAllLeavesRoomForTheLimit() {
    var ring = Ring<String>(limit: 3)
    for text in ["a", "b", "c"] { _ = ring.push(text) }
    ring.removeAll()
    #expect(ring.isEmpty == true)
    for text in ["d", "e", "f"] { #expect(ring.push(text) == true) }
    #expect(ring.push("g") == false)
    #expect(ring.pop() == "d")
  }
}
