import Chat
import Primitives
import WebSocket

@testable import Gateway

/// A person's device: it connects, loses its connection, comes back where it was, and sends again what was not
/// acknowledged.
final class SimulatedClient {
  /// A send whose acknowledgement has not come.
  struct Unacknowledged {
    var muid: String
    var text: String
    var data: String
  }

  let number: Int
  let device: String?
  let dice: Dice
  let oracle: Oracle
  var token: SimulatedToken
  /// The token is no good any more.
  var needsToken = false
  var choice = ConnectionView.ReplyWish.all
  var openThreads: [Int64] = []
  private(set) var position: (epoch: String, seq: Int64)?
  var unacknowledged: [Unacknowledged] = []
  /// When the client tries again, in milliseconds of the run.
  var backAt = 0
  var isStalled = false

  private(set) var socket: SimulatedSocket?
  private(set) var loop: SimulatedLoop?
  private(set) var view: ConnectionView?
  private var machine: ConnectionMachine?
  private let inflater = Inflater()
  private var handshake: ClientHandshake?
  private var incoming: [UInt8] = []
  private var nextRequest: Int64 = 1
  private var hasSentClose = false

  init(number: Int, token: SimulatedToken, device: String?, dice: Dice, oracle: Oracle) {
    self.number = number
    self.token = token
    self.device = device
    self.dice = dice
    self.oracle = oracle
  }

  var isLive: Bool { view?.phase == .live && !hasSentClose }
  var isConnected: Bool { socket != nil }

  // MARK: Coming

  /// Opens a connection; the first frame may ride behind the handshake.
  func connect(to loop: SimulatedLoop, number: Int, capacity: Int, deflate: Bool) {
    let socket = loop.connect(number: number, capacity: capacity)
    let view = ConnectionView(number: number, token: token, device: device)
    self.loop = loop
    self.socket = socket
    self.view = view
    machine = nil
    incoming = []
    nextRequest = 1
    hasSentClose = false
    var fields: [String: String] = [:]
    let way = dice.below(3)
    if way == 1 { fields["Authorization"] = "Bearer \(token.text)" }
    let handshake = ClientHandshake(
      host: "localhost", target: way == 2 ? "/v1/live?access_token=\(token.text)" : "/v1/live",
      nonce: [UInt8](repeating: UInt8(number & 0xFF), count: 16), subprotocols: ["threadcast.v1.json"],
      extensionOffer: deflate ? "permessage-deflate" : nil, fields: fields)
    self.handshake = handshake
    handshake.appendRequest(to: &socket.toServer)
    sendConnect(view, withToken: way == 0)
  }

  private func sendConnect(_ view: ConnectionView, withToken: Bool) {
    view.choice = choice
    view.sawDrain = oracle.isDraining
    view.openThreads = openThreads
    view.headAtConnect = oracle.model.head
    if let position, !dice.chance(50) { view.resume = position }
    if let position, dice.chance(15) {
      view.resume =
        dice.chance(500) ? (String(repeating: "0", count: 32), position.seq) : (position.epoch, position.seq + 1_000)
    }
    var data: [String] = []
    if withToken || dice.chance(300) { data.append(#""token":"\#(token.text)""#) }
    if let device {
      data.append(#""device":{"id":"\#(device)"}"#)
      oracle.newestOfDevice[device] = view.number
    }
    if let resume = view.resume { data.append(#""resume":{"epoch":"\#(resume.epoch)","seq":\#(resume.seq)}"#) }
    data.append(#""replies":"\#(choice.rawValue)""#)
    if !openThreads.isEmpty { data.append(#""openThreads":[\#(openThreads.map(String.init).joined(separator: ","))]"#) }
    // The epoch is the store's own dice: it would make every run another.
    let told = data.map { $0.contains("epoch") ? "\"resume\":\(view.resume?.seq ?? 0)" : $0 }.joined(separator: ",")
    oracle.trace.note("#\(view.number) \(view.user) connects: \(told)")
    sendFrame(#"{"id":0,"op":"connect","data":{\#(data.joined(separator: ","))}}"#)
  }

  // MARK: Going

  enum Ending: Int, CaseIterable { case closeFrame, endOfStream, reset }

  func leave(_ ending: Ending) {
    guard let socket, let view else { return }
    oracle.trace.note("#\(view.number) leaves by \(ending)")
    switch ending {
    case .closeFrame:
      guard !hasSentClose, machine != nil else { return leave(.endOfStream) }
      hasSentClose = true
      socket.toServer += frame(.close, [0x03, 0xE8])
      machine?.beginClose()
    case .endOfStream:
      socket.clientEnded = true
      lost()
    case .reset:
      socket.clientReset = true
      socket.toServer = []
      lost()
    }
  }

  /// The connection is over for the client; what it was not told, it will ask for.
  func lost() {
    guard let view else { return }
    if view.phase == .live { position = (oracle.epoch, max(view.confirmed, 0)) }
    oracle.trace.note("#\(view.number) lost at \(view.confirmed)")
    view.phase = .ended
    socket?.clientEnded = true
    socket = nil
    loop = nil
    self.view = nil
    machine = nil
    isStalled = false
    backAt = oracle.now + dice.from(0...1500)
  }

  /// The node died. What its kernel still holds may or may not arrive.
  func nodeDied() {
    guard let socket else { return }
    if dice.chance(500) { socket.toClient = [] }
    socket.serverEnded = true
    loop = nil
  }

  // MARK: Requests

  /// A request with the next id; the view remembers what its answer will mean.
  @discardableResult func request(_ op: String, _ data: String, _ kind: ConnectionView.Request) -> Int64 {
    let id = nextRequest
    nextRequest += 1
    view?.pending[id] = kind
    if let view { oracle.trace.note("#\(view.number) \(view.user) > \(id) \(op) \(data.prefix(120))") }
    sendFrame(#"{"id":\#(id),"op":"\#(op)","data":\#(data)}"#)
    return id
  }

  func send(_ send: Unacknowledged) {
    view?.sent.insert(send.muid)
    request("message.send", send.data, .send(muid: send.muid, text: send.text))
  }

  private func sendFrame(_ json: String) {
    guard let socket else { return }
    let payload = Array(json.utf8)
    if payload.count > 2, dice.chance(100) {
      let cut = dice.from(1...(payload.count - 1))
      socket.toServer += frame(.text, Array(payload[..<cut]), isFinal: false)
      if dice.chance(300) { socket.toServer += frame(.ping, [1, 2, 3]) }
      socket.toServer += frame(.continuation, Array(payload[cut...]))
    } else {
      socket.toServer += frame(.text, payload)
    }
  }

  private func frame(_ opcode: Opcode, _ payload: [UInt8], isFinal: Bool = true) -> [UInt8] {
    var bytes: [UInt8] = []
    payload.withUnsafeBytes {
      FrameEncoder.append(
        opcode: opcode, payload: $0, isFinal: isFinal, maskKey: UInt32(truncatingIfNeeded: dice.next()), to: &bytes)
    }
    return bytes
  }

  // MARK: Reading

  /// Reads so many bytes at most of what has arrived.
  func read(_ most: Int) {
    guard let socket, let view, !isStalled else { return }
    let count = min(most, socket.toClient.count)
    if count > 0 {
      incoming += socket.toClient.prefix(count)
      socket.toClient.removeFirst(count)
      take(view)
    }
    if self.socket === socket, socket.toClient.isEmpty, socket.serverEnded { return lost() }
    if let loop, socket.toClient.isEmpty, loop.core.outlets.queuedBytes(socket.handle) == 0 {
      view.emptyAt = oracle.now
    }
  }

  private func take(_ view: ConnectionView) {
    if machine == nil, !upgraded(view) { return }
    var bytes = incoming
    incoming = []
    bytes.withUnsafeMutableBytes { buffer in
      var input = buffer
      while !input.isEmpty {
        guard let event = machine?.next(&input, inflater: inflater) else { return }
        switch event {
        case .message(_, let payload): oracle.received(Array(payload), view)
        case .ping(let payload): socket?.toServer += hasSentClose ? [] : frame(.pong, Array(payload))
        case .close(let code, _):
          let value = code.map { Int($0.value) } ?? 1005
          closed(value, view)
        case .failed(let failure): oracle.expect(false, view, "RFC 6455: the gateway's frames: \(failure.kind)")
        case .pong, .needMore: break
        }
      }
    }
    acknowledge(view)
  }

  private func closed(_ code: Int, _ view: ConnectionView) {
    if !hasSentClose { oracle.closed(code, view, peakQueuedBytes: socket?.peakQueuedBytes ?? 0) }
    view.closeCode = code
    if (4100...4101).contains(code) || (4200...4201).contains(code) { needsToken = true }
    if !hasSentClose, dice.chance(800) { socket?.toServer += frame(.close, [UInt8(code >> 8), UInt8(code & 0xFF)]) }
    hasSentClose = true
    if dice.chance(500) { socket?.clientEnded = true }
  }

  private func upgraded(_ view: ConnectionView) -> Bool {
    guard let end = incoming.firstRange(of: Array("\r\n\r\n".utf8)), let handshake else { return false }
    let head = String(decoding: incoming[..<end.lowerBound], as: UTF8.self)
    let isDeflated = head.lowercased().contains("permessage-deflate")
    guard head.hasPrefix("HTTP/1.1 101 ") else {
      oracle.trace.note("#\(view.number) refused: \(head.prefix(16))")
      if head.hasPrefix("HTTP/1.1 401 ") { needsToken = true }
      let isExpected =
        head.hasPrefix("HTTP/1.1 401 ") && (view.token.revokedAt != nil || view.token.expiresAt != 0)
        || head.hasPrefix("HTTP/1.1 503 ") && (view.sawDrain || oracle.storeFailed)
      oracle.expect(isExpected, view, "L2: refused: \(Array(incoming.prefix(30))) \(head)")
      leave(.endOfStream)
      return false
    }
    oracle.expect(isDeflated == (handshake.extensionOffer != nil), view, "L1: deflate \(isDeflated)")
    incoming.removeFirst(end.upperBound)
    machine = ConnectionMachine(
      role: .client, maximumMessageBytes: 1 << 20, deflate: isDeflated ? DeflateParameters() : nil)
    return true
  }

  /// Forgets sends that were answered.
  private func acknowledge(_ view: ConnectionView) {
    let waiting = Set(
      view.pending.values.compactMap { request in
        if case .send(let muid, _) = request { muid } else { nil }
      })
    unacknowledged.removeAll { send in view.sent.contains(send.muid) && !waiting.contains(send.muid) }
  }
}
