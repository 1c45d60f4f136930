import Foundation
import Glibc
import HTTP1
import Primitives
import Testing
import WebSocket

@testable import Gateway

/// One peer of a shard: bytes in, bytes out, and the client's side of the protocol over them.
final class Peer {
  let stage: Stage
  let shard: Stage.ShardBox
  let handle: Handle
  /// What the gateway has sent and nobody has read.
  private var incoming: [UInt8] = []
  private var machine: ConnectionMachine?
  private let inflater = Inflater()
  private(set) var closeCode: Int?
  private(set) var closeReason = ""
  private(set) var pings = 0
  private(set) var pongs: [String] = []
  private var texts: [String] = []
  private var maskKey: UInt32 = 0x1234_5678
  /// A reader that has stopped: what the gateway queues stays in its queue.
  var isStalled = false
  private(set) var isEnded = false

  init(_ stage: Stage, shard: Int = 0) {
    self.stage = stage
    self.shard = stage.shards[shard]
    handle = stage.makeHandle()
    self.shard.core.opened(handle, isEncrypted: false, at: stage.moment)
  }

  func send(_ bytes: [UInt8]) {
    var copy = bytes
    copy.withUnsafeMutableBytes { shard.core.received(handle, $0, at: stage.moment) }
    shard.core.closeOverflowed()
  }

  func send(_ text: String) { send(Array(text.utf8)) }

  /// Ends the connection from the peer's side.
  func vanish() { shard.core.closed(handle, at: stage.moment) }

  /// Reads everything that waits in the queue, as a socket with room would.
  func pull() {
    guard !isStalled else { return }
    let slices = UnsafeMutableBufferPointer<iovec>.allocate(capacity: 16)
    defer { slices.deallocate() }
    while true {
      switch shard.core.outlets.gather(handle.index, into: slices) {
      case .empty(let isClosing):
        if isClosing { isEnded = true }
        return
      case .slices(let count, let bytes):
        for slice in slices[..<count] {
          incoming.append(contentsOf: UnsafeRawBufferPointer(start: slice.iov_base, count: slice.iov_len))
        }
        shard.core.outlets.wrote(handle.index, byteCount: bytes)
      }
    }
  }

  /// The bytes that came since the last look.
  func rawBytes() -> [UInt8] {
    stage.settle()
    pull()
    defer { incoming = [] }
    return incoming
  }

  func rawText() -> String { String(decoding: rawBytes(), as: UTF8.self) }

  // MARK: WebSocket

  /// Upgrades and checks the handshake.
  @discardableResult
  func upgrade(
    _ target: String = "/v1/live", fields: [String: String] = [:], offer: String? = nil, with trailing: [UInt8] = []
  ) throws -> ResponseParser.Head {
    let handshake = ClientHandshake(
      host: "localhost", target: target, nonce: [UInt8](repeating: 7, count: 16),
      subprotocols: ["threadcast.v1.json"], extensionOffer: offer, fields: fields)
    var bytes: [UInt8] = []
    handshake.appendRequest(to: &bytes)
    send(bytes + trailing)
    stage.settle()
    pull()
    var parser = ResponseParser()
    var rest = incoming
    let head = rest.withUnsafeMutableBytes { buffer -> ResponseParser.Head? in
      var input = buffer
      guard case .head(let head) = parser.next(&input) else { return nil }
      if case .accepted(_, let deflate) = handshake.evaluate(head) {
        machine = ConnectionMachine(role: .client, maximumMessageBytes: 1 << 24, deflate: deflate)
      }
      incoming = Array(input)
      return head
    }
    return try #require(head)
  }

  /// A masked frame of the client's.
  func frame(_ opcode: Opcode, _ payload: [UInt8], isFinal: Bool = true) -> [UInt8] {
    var bytes: [UInt8] = []
    maskKey = maskKey &* 1_664_525 &+ 1_013_904_223
    payload.withUnsafeBytes {
      FrameEncoder.append(opcode: opcode, payload: $0, isFinal: isFinal, maskKey: maskKey, to: &bytes)
    }
    return bytes
  }

  func text(_ json: String) { send(frame(.text, Array(json.utf8))) }

  /// Every text message that has come and was not taken.
  private func read() {
    stage.settle()
    pull()
    guard machine != nil else { return }
    incoming.withUnsafeMutableBytes { buffer in
      var input = buffer
      while !input.isEmpty {
        guard let event = machine?.next(&input, inflater: inflater) else { return }
        switch event {
        case .message(_, let payload): texts.append(String(decoding: payload, as: UTF8.self))
        case .ping: pings += 1
        case .pong(let payload): pongs.append(String(decoding: payload, as: UTF8.self))
        case .close(let code, let reason):
          closeCode = code.map { Int($0.value) } ?? 1005
          closeReason = String(decoding: reason, as: UTF8.self)
        case .needMore, .failed: break
        }
      }
    }
    incoming = []
  }

  /// All messages that have come since the last call, as JSON objects.
  func messages() -> [JSONObject] {
    read()
    defer { texts = [] }
    return texts.map(JSONObject.init)
  }

  /// The first messages that have come; the rest stays.
  func messages(limit: Int) -> [JSONObject] {
    read()
    defer { texts.removeFirst(min(limit, texts.count)) }
    return texts.prefix(limit).map(JSONObject.init)
  }

  func rawMessages() -> [String] {
    read()
    defer { texts = [] }
    return texts
  }

  /// The close code, once everything was read.
  func closed() -> Int? {
    read()
    return closeCode
  }

  // MARK: Sessions

  /// Upgrades, connects and returns the hello.
  @discardableResult
  func connect(_ token: String, offer: String? = nil) throws -> JSONObject {
    try upgrade(offer: offer)
    text(#"{"id":"hello","op":"connect","data":{"token":"\#(token)"}}"#)
    return try #require(messages().first)
  }

  /// As above with a choice of replies.
  @discardableResult
  func connect(_ token: String, choice: String, more: String = "") throws -> JSONObject {
    try upgrade()
    text(#"{"id":"hello","op":"connect","data":{"token":"\#(token)","replies":"\#(choice)"\#(more)}}"#)
    return try #require(messages().first)
  }

  /// One operation and its reply; events that came before it stay for `messages`.
  func call(_ op: String, _ data: String = "{}") throws -> JSONObject {
    text(#"{"id":1,"op":"\#(op)","data":\#(data)}"#)
    read()
    let index = try #require(texts.firstIndex { $0.hasPrefix(#"{"id":1,"#) }, "no reply to \(op)")
    return JSONObject(texts.remove(at: index))
  }

  /// Sends a text message and returns its id.
  @discardableResult
  func say(_ text: String, to receiver: String, in type: String = "group", parent: Int = 0) throws -> Int {
    let reply = try call(
      "message.send",
      #"{"receiverUid":"\#(receiver)","receiverType":"\#(type)","text":"\#(text)","parentMessageId":\#(parent)}"#)
    return try #require(reply["data.id"] as? Int, "\(reply.text)")
  }
}

/// A JSON object read by a parser that is not ours.
struct JSONObject: CustomStringConvertible {
  let text: String
  private let value: Any?

  init(_ text: String) {
    self.text = text
    value = try? JSONSerialization.jsonObject(with: Data(text.utf8))
  }

  var description: String { text }

  /// A member by its dotted path; array positions are numbers.
  subscript(path: String) -> Any? {
    var current = value
    for part in path.split(separator: ".") {
      if let object = current as? [String: Any] {
        current = object[String(part)]
      } else if let array = current as? [Any], let index = Int(part), index < array.count {
        current = array[index]
      } else {
        return nil
      }
    }
    return current
  }

  func string(_ path: String) -> String? { self[path] as? String }
  func int(_ path: String) -> Int? { self[path] as? Int }
  func bool(_ path: String) -> Bool? { self[path] as? Bool }
}
