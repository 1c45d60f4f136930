/// What was found wrong with deliveries.
package enum Violation: String, CaseIterable, Hashable, Sendable {
  /// An expected recipient never got it.
  case lost
  /// A recipient got it twice.
  case doubled
  /// It came after a later one of the same sender, or its seq did not rise.
  case outOfOrder
  /// A recipient got what it should not have: its own message, or one that nobody sent.
  case unexpected
  /// The bytes are not those that were sent.
  case corrupted
  /// A send was never answered, or was answered twice.
  case unanswered
  /// A session ended that should not have.
  case closed
  /// A session did not come back in time, or got no sign of life.
  case missing
}

/// Violations, counted, and the first few in words.
package struct Findings: Sendable {
  package static let exampleLimit = 10

  package private(set) var counts: [Violation: UInt64] = [:]
  package private(set) var examples: [String] = []

  package init() {}

  package var total: UInt64 { counts.values.reduce(0, +) }

  package mutating func add(_ violation: Violation, count: UInt64 = 1, _ sentence: @autoclosure () -> String) {
    counts[violation, default: 0] += count
    if examples.count < Self.exampleLimit { examples.append("\(violation.rawValue): \(sentence())") }
  }
}

/// Keeps the account of a run: each expected recipient gets each accepted message exactly once, each sender's in the
/// order of sending, with rising seqs (R4, R6). Constant work a delivery while nothing is wrong.
package struct DeliveryLedger: Sendable {
  /// Who should get what.
  package enum Audience: Hashable, Sendable {
    /// Every recipient gets everything but what it sent itself: `selves[s]` is the recipient that sender `s` is, or nil.
    case everyone(selves: [Int?])
    /// Recipient `n` gets what sender `n` sent, nobody else's.
    case oneself
  }

  /// Numbers that were jumped over at a recipient, still to be judged.
  private struct Gap {
    var from: UInt32
    var to: UInt32
    /// What had no higher seq was given up by a reset that the server announced.
    var excusedThrough: UInt64
  }

  private static let refusedMark = UInt64.max
  /// Beyond them, numbers that are jumped over count as lost at once.
  private static let gapLimit = 1_000_000

  private let recipients: Int
  private let senders: Int
  private let isOneself: Bool
  /// By sender: the recipient that it is, or −1.
  private let selves: [Int]
  private let isAcknowledged: Bool
  /// The number expected next, by recipient and sender.
  private var next: [UInt32]
  private var sentCounts: [UInt32]
  /// By sender and number: 0 unanswered, the seq of its acceptance, or the mark of a refusal.
  private var answers: [[UInt64]]
  private var lastSeqs: [UInt64]
  private var resetThrough: [UInt64]
  private var hasLeft: [Bool]
  private var gaps: [Int: [Gap]] = [:]
  private var gapCount = 0
  package private(set) var findings = Findings()
  /// Deliveries that were expected and came, each counted once.
  package private(set) var deliveries: UInt64 = 0

  /// - Parameter isAcknowledged: the server answers each send; else each counts as accepted when sent.
  package init(recipients: Int, senders: Int, audience: Audience, isAcknowledged: Bool) {
    switch audience {
    case .everyone(let selves):
      precondition(selves.count == senders, "each sender is a recipient or none")
      self.selves = selves.map { $0 ?? -1 }
    case .oneself:
      precondition(recipients == senders, "everybody is recipient and sender")
      selves = []
    }
    isOneself = audience == .oneself
    self.recipients = recipients
    self.senders = senders
    self.isAcknowledged = isAcknowledged
    next = Array(repeating: 0, count: isOneself ? recipients : recipients * senders)
    sentCounts = Array(repeating: 0, count: senders)
    answers = Array(repeating: [], count: senders)
    lastSeqs = Array(repeating: 0, count: recipients)
    resetThrough = Array(repeating: 0, count: recipients)
    hasLeft = Array(repeating: false, count: recipients)
  }

  package mutating func note(_ violation: Violation, _ sentence: @autoclosure () -> String) {
    findings.add(violation, sentence())
  }

  private func slot(_ recipient: Int, _ sender: Int) -> Int? {
    if isOneself { return recipient == sender ? recipient : nil }
    return selves[sender] == recipient ? nil : recipient * senders + sender
  }

  // MARK: Sending

  /// The number of the sender's next message, which counts as sent from now on.
  package mutating func send(_ sender: Int) -> UInt32 {
    let number = sentCounts[sender]
    sentCounts[sender] += 1
    if isAcknowledged { answers[sender].append(0) }
    return number
  }

  package func sentCount(_ sender: Int) -> UInt32 { sentCounts[sender] }

  /// All messages sent so far.
  package var sentTotal: UInt64 { sentCounts.reduce(0) { $0 + UInt64($1) } }

  /// The server took a message and gave it this seq.
  package mutating func accepted(_ sender: Int, _ number: UInt32, seq: UInt64) { answer(sender, number, seq) }

  /// The server refused a message: nobody is to get it.
  package mutating func refused(_ sender: Int, _ number: UInt32) { answer(sender, number, Self.refusedMark) }

  private mutating func answer(_ sender: Int, _ number: UInt32, _ seq: UInt64) {
    guard isAcknowledged, Int(number) < answers[sender].count, answers[sender][Int(number)] == 0 else {
      return findings.add(.unanswered, "sender \(sender) got a second or a strange answer, number \(number)")
    }
    answers[sender][Int(number)] = seq
  }

  // MARK: Receiving

  /// A message came.
  /// - Parameter seq: of the event; nil where the server has none.
  /// - Returns: whether it was expected and is the first of its number.
  @discardableResult
  package mutating func received(_ recipient: Int, from sender: Int, number: UInt32, seq: UInt64?) -> Bool {
    guard sender < senders, number < sentCounts[sender], let slot = slot(recipient, sender) else {
      findings.add(.unexpected, "recipient \(recipient) got number \(number) of sender \(sender)")
      return false
    }
    let expected = next[slot]
    if number < expected, !takeFromGap(slot, number) {
      findings.add(.doubled, "recipient \(recipient) got number \(number) of sender \(sender) again")
      return false
    }
    deliveries += 1
    if number < expected {
      findings.add(.outOfOrder, "recipient \(recipient) got number \(number) of sender \(sender) late")
      return true
    }
    if number > expected { addGap(slot, expected, number, recipient) }
    next[slot] = number + 1
    if let seq { rise(recipient, to: seq) }
    return true
  }

  /// A durable event of another kind came.
  package mutating func observed(_ recipient: Int, seq: UInt64) { rise(recipient, to: seq) }

  /// A heartbeat said that everything up to `seq` has been sent (L5).
  package mutating func heartbeat(_ recipient: Int, seq: UInt64) {
    if seq < lastSeqs[recipient] {
      findings.add(.outOfOrder, "recipient \(recipient) was told \(seq) by a heartbeat after \(lastSeqs[recipient])")
    }
    lastSeqs[recipient] = max(lastSeqs[recipient], seq)
  }

  private mutating func rise(_ recipient: Int, to seq: UInt64) {
    if seq <= lastSeqs[recipient] {
      findings.add(.outOfOrder, "recipient \(recipient) got seq \(seq) after \(lastSeqs[recipient])")
    }
    lastSeqs[recipient] = max(lastSeqs[recipient], seq)
  }

  private mutating func addGap(_ slot: Int, _ from: UInt32, _ to: UInt32, _ recipient: Int) {
    guard gapCount < Self.gapLimit else {
      return findings.add(.lost, count: UInt64(to - from), "recipient \(recipient) lacks \(from)..<\(to)")
    }
    gapCount += 1
    gaps[slot, default: []].append(Gap(from: from, to: to, excusedThrough: resetThrough[recipient]))
  }

  /// Whether the number had been jumped over and now came after all.
  private mutating func takeFromGap(_ slot: Int, _ number: UInt32) -> Bool {
    guard var list = gaps[slot], let index = list.firstIndex(where: { $0.from <= number && number < $0.to }) else {
      return false
    }
    let gap = list.remove(at: index)
    if gap.from < number { list.append(Gap(from: gap.from, to: number, excusedThrough: gap.excusedThrough)) }
    if number + 1 < gap.to { list.append(Gap(from: number + 1, to: gap.to, excusedThrough: gap.excusedThrough)) }
    gapCount += list.count - (gaps[slot]?.count ?? 0)
    gaps[slot] = list.isEmpty ? nil : list
    return true
  }

  // MARK: Sessions

  /// Where a session stands: what it says when it comes back.
  package func position(of recipient: Int) -> UInt64 { lastSeqs[recipient] }

  /// A session begins: nothing before `seq` is expected. On its first connect, or after the server said that it cannot
  /// bring what was missed (L4).
  package mutating func begin(_ recipient: Int, after seq: UInt64) {
    resetThrough[recipient] = seq
    lastSeqs[recipient] = seq
  }

  /// The session ended and is not expected to have got more than it has.
  package mutating func leave(_ recipient: Int) { hasLeft[recipient] = true }

  /// The session is there again.
  package mutating func comeBack(_ recipient: Int) { hasLeft[recipient] = false }

  // MARK: Judging

  /// Whether every send is answered and every recipient that is there has all it should get.
  package var isSettled: Bool {
    guard !isAcknowledged || answers.allSatisfy({ !$0.contains(0) }) else { return false }
    for recipient in 0..<recipients where !hasLeft[recipient] {
      for sender in 0..<senders {
        guard let slot = slot(recipient, sender), next[slot] != sentCounts[sender] else { continue }
        if missing(sender, next[slot], sentCounts[sender], resetThrough[recipient]) > 0 { return false }
      }
    }
    return true
  }

  /// Counts what never came. Once, at the end.
  package mutating func close() {
    for sender in 0..<senders where isAcknowledged {
      let open = answers[sender].lazy.filter { $0 == 0 }.count
      if open > 0 { findings.add(.unanswered, count: UInt64(open), "sender \(sender) lacks \(open) answers") }
    }
    for recipient in 0..<recipients {
      for sender in 0..<senders {
        guard let slot = slot(recipient, sender) else { continue }
        var lost = 0
        for gap in gaps[slot] ?? [] { lost += missing(sender, gap.from, gap.to, gap.excusedThrough) }
        if !hasLeft[recipient] { lost += missing(sender, next[slot], sentCounts[sender], resetThrough[recipient]) }
        if lost > 0 {
          findings.add(.lost, count: UInt64(lost), "recipient \(recipient) lacks \(lost) of sender \(sender)")
        }
      }
    }
    gaps = [:]
    gapCount = 0
  }

  /// How many of the numbers should have come.
  private func missing(_ sender: Int, _ from: UInt32, _ to: UInt32, _ excusedThrough: UInt64) -> Int {
    guard isAcknowledged else { return Int(to - from) }
    var count = 0
    for number in from..<to {
      let answer = answers[sender][Int(number)]
      // What was never answered may or may not exist; it is counted as unanswered.
      if answer != 0, answer != Self.refusedMark, answer > excusedThrough { count += 1 }
    }
    return count
  }
}
