import Glibc
import Primitives
import Testing

/// Reads what a queue would write, `sliceLimit` slices at a time, taking `step` bytes per write.
private func drain(_ queue: inout OutboundQueue, _ pool: inout FramePool, step: Int, sliceLimit: Int = 4) -> [UInt8] {
  var out: [UInt8] = []
  let slices = UnsafeMutableBufferPointer<iovec>.allocate(capacity: sliceLimit)
  defer { slices.deallocate() }
  while !queue.isEmpty {
    let (used, total) = queue.gather(from: pool, into: slices)
    var bytes: [UInt8] = []
    for slice in slices[..<used] {
      bytes.append(contentsOf: UnsafeRawBufferPointer(start: slice.iov_base, count: slice.iov_len))
    }
    #expect(bytes.count == total)
    let taken = min(step, bytes.count)
    out.append(contentsOf: bytes[..<taken])
    queue.consume(byteCount: taken, releasingInto: &pool)
  }
  return out
}

@Suite("Outbound queue and frame pool")
struct OutboundQueueTests {
  @Test(arguments: [1, 2, 3, 5, 7, 1000])
  func R5_framesLeaveInOrderWhateverTheSocketTakes(step: Int) {
    var pool = FramePool()
    var queue = OutboundQueue()
    for value in 0..<20 {
      let frame = pool.insert(byteCount: 3) { $0.copyBytes(from: [UInt8](repeating: UInt8(value), count: 3)) }
      queue.append(frame, byteCount: 3)
    }
    #expect(queue.count == 20)
    #expect(queue.byteCount == 60)
    var expected: [UInt8] = []
    for value in 0..<20 { expected += [UInt8(value), UInt8(value), UInt8(value)] }
    #expect(drain(&queue, &pool, step: step) == expected)
    #expect(pool.count == 0)
    #expect(pool.byteCount == 0)
    #expect(queue.byteCount == 0)
  }

  @Test func R5_oneFrameServesManyQueuesAndEndsWithTheLast() {
    var pool = FramePool()
    var queues = [OutboundQueue](repeating: OutboundQueue(), count: 5)
    let frame = pool.insert(byteCount: 2) { $0.copyBytes(from: [7, 8]) }
    pool.retain(frame, count: 5)
    pool.release(frame)
    for index in queues.indices { queues[index].append(frame, byteCount: 2) }
    #expect(pool.references(to: frame) == 5)
    for index in queues.indices {
      #expect(pool.count == 1)
      #expect(drain(&queues[index], &pool, step: 1) == [7, 8])
    }
    #expect(pool.count == 0)
  }

  @Test func R7_anUrgentFrameGoesBetweenFramesNeverInsideOne() {
    var pool = FramePool()
    var queue = OutboundQueue()
    for text in ["aaa", "bbb", "ccc", "ddd"] {
      let frame = pool.insert(byteCount: 3) { $0.copyBytes(from: Array(text.utf8)) }
      queue.append(frame, byteCount: 3)
    }
    queue.consume(byteCount: 1, releasingInto: &pool)
    #expect(queue.isMidFrame)
    let pong = pool.insert(byteCount: 1) { $0.copyBytes(from: [UInt8(ascii: "!")]) }
    queue.appendUrgent(pong, byteCount: 1)
    #expect(String(decoding: drain(&queue, &pool, step: 2), as: UTF8.self) == "aa!bbbcccddd")
  }

  @Test func R7_anUrgentFrameIsFirstWhenNothingHasBegun() {
    var pool = FramePool()
    var queue = OutboundQueue()
    let data = pool.insert(byteCount: 2) { $0.copyBytes(from: Array("ab".utf8)) }
    queue.append(data, byteCount: 2)
    let pong = pool.insert(byteCount: 1) { $0.copyBytes(from: [UInt8(ascii: "!")]) }
    queue.appendUrgent(pong, byteCount: 1)
    #expect(String(decoding: drain(&queue, &pool, step: 9), as: UTF8.self) == "!ab")
  }

  @Test(arguments: [0, 1, 3])
  func R7_urgentFramesKeepTheirOrder(alreadyWritten: Int) {
    var pool = FramePool()
    var queue = OutboundQueue()
    for text in ["aaa", "bbb"] {
      let frame = pool.insert(byteCount: 3) { $0.copyBytes(from: Array(text.utf8)) }
      queue.append(frame, byteCount: 3)
    }
    queue.consume(byteCount: alreadyWritten, releasingInto: &pool)
    var out: [UInt8] = []
    for pong in ["1", "2", "3"] {
      let frame = pool.insert(byteCount: 1) { $0.copyBytes(from: Array(pong.utf8)) }
      queue.appendUrgent(frame, byteCount: 1)
    }
    out = drain(&queue, &pool, step: 1)
    let expected = [0: "123aaabbb", 1: "aa123bbb", 3: "123bbb"]
    #expect(String(decoding: out, as: UTF8.self) == expected[alreadyWritten])
    #expect(pool.count == 0)
  }

  @Test func removeAllGivesEveryReferenceBack() {
    var pool = FramePool()
    var queue = OutboundQueue()
    for _ in 0..<100 {
      let frame = pool.insert(byteCount: 10) { $0.copyBytes(from: [UInt8](repeating: 1, count: 10)) }
      queue.append(frame, byteCount: 10)
    }
    queue.consume(byteCount: 15, releasingInto: &pool)
    #expect(pool.count == 99)
    queue.removeAll(releasingInto: &pool)
    #expect(pool.count == 0)
    #expect(queue.isEmpty)
    #expect(queue.byteCount == 0)
  }
}
