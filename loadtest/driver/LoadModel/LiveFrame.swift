package import JSON

/// What a server's frame on the live socket means to the driver (L3, L4).
package enum LiveFrame {
  /// A message event that carries one of our numbers.
  case delivery(PayloadStamp, seq: UInt64)
  /// A message event without one.
  case strangeMessage(seq: UInt64)
  case heartbeat(seq: UInt64)
  /// Any other event with a seq.
  case event(seq: UInt64)
  /// An event without one.
  case hint
  /// `ok` to a send; `id` is the message's id, which is its seq (M1). The stamp is that of the text, which comes back.
  case accepted(request: UInt64, id: UInt64, PayloadStamp?)
  case refused(request: UInt64?, code: String, isRetryable: Bool)
  /// `ok` to `connect`.
  case hello(epoch: String, seq: UInt64, resumed: Bool, resetReason: String?)
  case other

  /// Reads one frame. The common ones are recognised by how this project's gateway writes them, all else is parsed.
  package static func read(_ text: UnsafeRawBufferPointer, _ parser: JSONParser) -> LiveFrame {
    if let (seq, rest) = number(in: text, after: #"{"event":"message","seq":"#),
      let stamp = PayloadStamp(foundIn: UnsafeRawBufferPointer(rebasing: text[rest...]))
    {
      return .delivery(stamp, seq: seq)
    }
    if let (request, rest) = number(in: text, after: #"{"id":"#) {
      let tail = UnsafeRawBufferPointer(rebasing: text[rest...])
      if let (id, _) = number(in: tail, after: #","ok":true,"data":{"id":"#) {
        return .accepted(request: request, id: id, PayloadStamp(foundIn: tail))
      }
    }
    guard case .success(let root) = parser.parse(text, maximumDepth: 64) else { return .other }
    return read(root, text)
  }

  /// The decimal number that follows a prefix, and where it ends; nil when the prefix or a digit is not there.
  private static func number(in text: UnsafeRawBufferPointer, after prefix: StaticString) -> (UInt64, Int)? {
    var at = prefix.utf8CodeUnitCount
    guard text.count > at + 1 else { return nil }
    for index in 0..<at where text[index] != prefix.utf8Start[index] { return nil }
    let start = at
    var value: UInt64 = 0
    // 19 digits always fit.
    while at < text.count, at < start + 19, case let digit = text[at] &- UInt8(ascii: "0"), digit < 10 {
      value = value &* 10 &+ UInt64(digit)
      at += 1
    }
    return at > start ? (value, at) : nil
  }

  private static func read(_ root: JSONValue, _ text: UnsafeRawBufferPointer) -> LiveFrame {
    if let event = root["event"] {
      guard let seq = root["seq"]?.integer.flatMap(UInt64.init(exactly:)) else { return .hint }
      if event.isString("heartbeat") { return .heartbeat(seq: seq) }
      guard event.isString("message") else { return .event(seq: seq) }
      return PayloadStamp(foundIn: text).map { .delivery($0, seq: seq) } ?? .strangeMessage(seq: seq)
    }
    let request = root["id"]?.integer.flatMap(UInt64.init(exactly:))
    guard root["ok"]?.boolean == true else {
      let error = root["error"]
      return .refused(
        request: request, code: error?["code"]?.string ?? "no code",
        isRetryable: error?["retryable"]?.boolean ?? false)
    }
    let data = root["data"]
    if let epoch = data?["epoch"]?.string, let seq = data?["seq"]?.integer.flatMap(UInt64.init(exactly:)) {
      return .hello(
        epoch: epoch, seq: seq, resumed: data?["resumed"]?.boolean ?? false,
        resetReason: data?["reset"]?["reason"]?.string)
    }
    guard let request, let id = data?["id"]?.integer.flatMap(UInt64.init(exactly:)) else { return .other }
    return .accepted(request: request, id: id, PayloadStamp(foundIn: text))
  }
}
