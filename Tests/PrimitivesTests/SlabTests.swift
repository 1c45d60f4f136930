import Primitives
import Testing

/// Counts its living instances.
private final class Ticket {
  final class Count { var living = 0 }

  let count: Count

  init(_ count: Count) {
    self.count = count
    count.living += 1
  }

  deinit { count.living -= 1 }
}

private struct Unique: ~Copyable {
  var number: Int
}

@Suite("Slab and handles")
struct SlabTests {
  @Test func aHandleFindsItsElementUntilItIsRemoved() {
    var slab = Slab<String>(capacityLimit: 4)
    let first = slab.insert("a")
    let second = slab.insert("b")
    #expect(slab.count == 2)
    #expect(slab.withElement(first) { $0 } == "a")
    #expect(slab.remove(first) == "a")
    #expect(slab.remove(first) == nil)
    #expect(slab.contains(first) == false)
    #expect(slab.withElement(first) { $0 } == nil)
    #expect(slab.withElement(second) { $0 } == "b")
    #expect(slab.count == 1)
  }

  @Test func aStaleHandleMissesTheNextTenantOfItsSlot() {
    var slab = Slab<Int>(capacityLimit: 1)
    let stale = slab.insert(1)
    _ = slab.remove(stale)
    let living = slab.insert(2)
    #expect(living.index == stale.index)
    #expect(living.generation != stale.generation)
    #expect(slab.contains(stale) == false)
    #expect(slab.remove(stale) == nil)
    #expect(slab.withElement(living) { $0 } == 2)
  }

  @Test func handlesThatNameNothingMiss() {
    var slab = Slab<Int>(capacityLimit: 8)
    #expect(slab.contains(.none) == false)
    #expect(slab.contains(Handle(index: 0, generation: 1)) == false)
    #expect(slab.withElement(.none) { $0 } == nil)
    _ = slab.insert(1)
    #expect(slab.contains(Handle(index: 0, generation: 0)) == false)
    #expect(slab.contains(Handle(index: 7, generation: 1)) == false)
  }

  @Test func elementsKeepTheirPlaceWhileTheSlabGrows() {
    var slab = Slab<Int>(capacityLimit: 1000)
    let first = slab.insert(-1)
    let before = slab.withElement(first) { withUnsafePointer(to: &$0) { UInt(bitPattern: $0) } }
    var handles: [Handle] = []
    for number in 0..<999 { handles.append(slab.insert(number)) }
    let after = slab.withElement(first) { withUnsafePointer(to: &$0) { UInt(bitPattern: $0) } }
    #expect(before == after)
    #expect(slab.isFull == true)
    #expect(handles.enumerated().allSatisfy { offset, handle in slab.withElement(handle) { $0 } == offset })
  }

  @Test func elementsAreChangedInPlaceByIndex() {
    var slab = Slab<Int>(capacityLimit: 4)
    let handle = slab.insert(5)
    slab[Int(handle.index)] += 2
    #expect(slab[Int(handle.index)] == 7)
    #expect(slab.handle(at: 0) == handle)
    #expect(slab.handle(at: 1) == nil)
    #expect(slab.handle(at: -1) == nil)
  }

  @Test func liveHandlesAreListedInSlotOrder() {
    var slab = Slab<Int>(capacityLimit: 10)
    let handles = (0..<6).map { slab.insert($0) }
    _ = slab.remove(handles[1])
    _ = slab.remove(handles[4])
    var seen: [Handle] = []
    slab.forEachHandle { seen.append($0) }
    #expect(seen == [handles[0], handles[2], handles[3], handles[5]])
    #expect(slab.slotBound == 6)
  }

  @Test func everyElementIsReleasedOnce() {
    let count = Ticket.Count()
    do {
      var slab = Slab<Ticket>(capacityLimit: 600)
      var handles: [Handle] = []
      for _ in 0..<600 { handles.append(slab.insert(Ticket(count))) }
      for handle in handles[..<100] { _ = slab.remove(handle) }
      #expect(count.living == 500)
      for _ in 0..<50 { _ = slab.insert(Ticket(count)) }
      #expect(count.living == 550)
    }
    #expect(count.living == 0)
  }

  @Test func elementsNeedNotBeCopyable() {
    var slab = Slab<Unique>(capacityLimit: 2)
    let handle = slab.insert(Unique(number: 3))
    let number = slab.withElement(handle) { element in
      element.number += 1
      return element.number
    }
    #expect(number == 4)
    let taken = slab.remove(handle)
    switch consume taken {
    case .some(let element): #expect(element.number == 4)
    case .none: Issue.record("the element is gone")
    }
  }

  @Test(
    arguments: [
      (Handle(index: 0, generation: 1), UInt64(0x0000_0001_0000_0000)),
      (Handle(index: 0xFFFF_FFFE, generation: 0xFFFF_FFFF), 0xFFFF_FFFF_FFFF_FFFE),
      (Handle(index: 7, generation: 9), 0x0000_0009_0000_0007),
    ] as [(Handle, UInt64)])
  func aHandleIsOneWord(_ handle: Handle, _ bits: UInt64) {
    #expect(handle.bits == bits)
    #expect(Handle(bits: bits) == handle)
  }

  @Test func fillingBeyondTheLimitIsOurMistake() async {
    await #expect(processExitsWith: .failure) {
      var slab = Slab<Int>(capacityLimit: 1)
      _ = slab.insert(1)
      _ = slab.insert(2)
    }
  }
}
