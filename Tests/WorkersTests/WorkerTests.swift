import Glibc
import Primitives
import Testing
import Workers

@Suite("Threads, mailboxes, wake-ups")
struct WorkerTests {
  @Test func aThreadRunsItsBodyUnderItsName() {
    let seen = Guarded("")
    let thread = WorkerThread.start(name: "a-name-of-more-than-fifteen") {
      let file = open("/proc/thread-self/comm", O_RDONLY | O_CLOEXEC)
      var name = [UInt8](repeating: 0, count: 64)
      let count = read(file, &name, 64)
      close(file)
      let text = String(decoding: name.prefix(max(0, count)), as: UTF8.self)
      seen.withLock { $0 = text }
    }
    thread.join()
    #expect(seen.withLock { $0 } == "a-name-of-more-\n")
  }

  @Test func aThreadIsJoinedOnce() async {
    await #expect(processExitsWith: .failure) {
      let thread = WorkerThread.start(name: "once") {}
      thread.join()
      thread.join()
    }
  }

  @Test func theLockKeepsThreadsApart() {
    let count = Guarded(0)
    let threads = (0..<4).map { _ in
      WorkerThread.start(name: "adder") { for _ in 0..<10_000 { count.withLock { $0 += 1 } } }
    }
    for thread in threads { thread.join() }
    #expect(count.withLock { $0 } == 40_000)
  }

  @Test func aFullMailboxRefusesAndKeepsWhatItHas() {
    let mailbox = Mailbox<Int>(limit: 3, wakeup: Wakeup())
    #expect(mailbox.post(1) == .accepted)
    #expect(mailbox.post(contentsOf: [2, 3, 4]) == .full)
    #expect(mailbox.count == 1)
    #expect(mailbox.post(contentsOf: [2, 3]) == .accepted)
    #expect(mailbox.post(4) == .full)
    var batch: [Int] = []
    mailbox.drain(into: &batch)
    #expect(batch == [1, 2, 3])
    #expect(mailbox.post(4) == .accepted)
    batch.removeAll()
    mailbox.drain(into: &batch)
    #expect(batch == [4])
  }

  @Test func onlyTheFirstMessageWakes() {
    let wakeup = Wakeup()
    let mailbox = Mailbox<Int>(limit: 10, wakeup: wakeup)
    #expect(!wakeup.consume())
    mailbox.post(1)
    #expect(wakeup.consume())
    mailbox.post(2)
    mailbox.post(contentsOf: [3])
    #expect(!wakeup.consume())
    var batch: [Int] = []
    mailbox.drain(into: &batch)
    mailbox.post(contentsOf: [])
    #expect(!wakeup.consume())
    mailbox.post(contentsOf: [4, 5])
    #expect(wakeup.consume())
  }

  @Test func messagesOfEachSenderStayInOrder() {
    let mailbox = Mailbox<(sender: Int, number: Int)>(limit: 100_000, wakeup: Wakeup())
    let threads = (0..<4).map { sender in
      WorkerThread.start(name: "sender") {
        for number in stride(from: 0, to: 2_000, by: 2) {
          mailbox.post((sender, number))
          mailbox.post(contentsOf: [(sender, number + 1)])
        }
      }
    }
    var received: [[Int]] = [[], [], [], []]
    let deadline = Clock.now().advanced(bySeconds: 10)
    var batch: [(sender: Int, number: Int)] = []
    while received.contains(where: { $0.count < 2_000 }), mailbox.wait(until: deadline, drainingInto: &batch) {
      for message in batch { received[message.sender].append(message.number) }
      batch.removeAll(keepingCapacity: true)
    }
    for thread in threads { thread.join() }
    for sender in 0..<4 { #expect(received[sender] == Array(0..<2_000)) }
  }

  @Test func aWaitEndsAtItsDeadline() {
    let wakeup = Wakeup()
    let now = Clock.now()
    #expect(!wakeup.wait(until: now))
    #expect(!wakeup.wait(until: now.advanced(byMilliseconds: 5)))
    #expect(Clock.now() >= now.advanced(byMilliseconds: 5))
    wakeup.wake()
    wakeup.wake()
    #expect(wakeup.wait(until: now))
    #expect(!wakeup.consume())
    var batch: [Int] = []
    #expect(!Mailbox<Int>(limit: 1, wakeup: wakeup).wait(until: now, drainingInto: &batch))
  }

  @Test func aFinishedMailboxHandsOverWhatWaitsAndThenEndsTheWait() {
    let mailbox = Mailbox<Int>(limit: 4, wakeup: Wakeup())
    mailbox.post(1)
    mailbox.finish()
    var batch: [Int] = []
    #expect(mailbox.wait(drainingInto: &batch))
    #expect(batch == [1])
    batch.removeAll()
    #expect(!mailbox.wait(drainingInto: &batch))
    #expect(batch.isEmpty)
  }

  @Test func theClocksAgree() {
    let first = Clock.now()
    let second = Clock.now()
    #expect(first <= second)
    let seconds = Clock.unixSeconds()
    let milliseconds = Clock.unixMilliseconds()
    #expect(milliseconds / 1000 >= seconds)
    #expect(milliseconds / 1000 - seconds <= 60)
    #expect(seconds > 1_700_000_000)
  }
}
