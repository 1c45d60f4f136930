import CLinux
import Glibc
import HTTP1
import LoadModel
import Primitives
import WebSocket
import Workers

/// Epoll over all client connections of a run, on the caller's thread.
final class ClientLoop {
  private static let receiveBytes = 262_144
  private static let eventsPerTurn = 1024
  /// What may wait for one connection; `send` refuses beyond it.
  static let outboundLimitBytes = 1 << 20
  private static let messageLimitBytes = 16 << 20

  /// The clock as it was read after the last system call that waited or received.
  private(set) var now = Clock.now()
  /// Time in which there was nothing to do.
  private(set) var idleNanoseconds: UInt64 = 0

  /// Who is told; sets itself, and takes itself out when the run is over.
  var owner: (any SocketOwner)?
  private let address: ServerAddress
  private let authority: String
  private let tls: TLSClient?
  private let polls: Bool
  private let epoll: Int32
  private let events: UnsafeMutableBufferPointer<epoll_event>
  private let buffer: UnsafeMutableRawBufferPointer
  private let inflater = Inflater()
  private(set) var sockets: [LoadSocket] = []
  private var dirty: [LoadSocket] = []
  private var masks: UInt64 = 0x9E37_79B9_7F4A_7C15
  private var didWork = false
  private var turnEnded = Clock.now()

  /// - Parameter polls: never sleeps.
  init(_ target: Target, connections: Int, polls: Bool) throws(LoadFailure) {
    address = try ServerAddress(target)
    authority = target.authority
    tls = target.isSecure ? try TLSClient() : nil
    self.polls = polls
    epoll = epoll_create1(Int32(O_CLOEXEC))
    guard epoll >= 0 else { throw LoadFailure("cannot make an epoll set", errno: errno) }
    events = .allocate(capacity: Self.eventsPerTurn)
    buffer = .allocate(byteCount: Self.receiveBytes, alignment: 64)
    sockets = (0..<connections).map { LoadSocket(index: $0) }
  }

  deinit {
    close(epoll)
    events.deallocate()
    buffer.deallocate()
  }

  var isLoopback: Bool { address.isLoopback }

  // MARK: Opening and closing

  /// Starts to connect; `opened` or `ended` follows.
  func open(_ socket: LoadSocket, _ opening: Opening) throws(LoadFailure) {
    precondition(socket.phase == .closed, "a connection is opened once")
    let descriptor = try address.connect(source: opening.source, receiveBufferBytes: opening.receiveBufferBytes)
    let nonce = withUnsafeBytes(of: (mask(), mask(), mask(), mask())) { Array($0) }
    let handshake = ClientHandshake(
      host: authority, target: opening.target, nonce: nonce, subprotocols: opening.subprotocols,
      extensionOffer: opening.deflate
        ? "permessage-deflate; server_no_context_takeover; client_no_context_takeover" : nil)
    socket.stream = Stream(descriptor, tls)
    socket.generation &+= 1
    socket.phase = .opening
    socket.handshake = handshake
    socket.parser = ResponseParser()
    socket.outbound = []
    socket.outboundStart = 0
    socket.isDirty = false
    socket.isPaused = false
    handshake.appendRequest(to: &socket.outbound)
    control(socket, EPOLL_CTL_ADD, clinux_EPOLLIN | clinux_EPOLLOUT)
    didWork = true
  }

  /// Resets the connection; its owner hears nothing.
  func drop(_ socket: LoadSocket) {
    guard socket.phase != .closed else { return }
    socket.stream?.resetOnClose()
    forget(socket)
  }

  private func forget(_ socket: LoadSocket) {
    // The last reference closes the descriptor, which takes it out of the epoll set.
    socket.stream = nil
    socket.phase = .closed
    socket.outbound = []
    socket.outboundStart = 0
    socket.generation &+= 1
  }

  private func end(_ socket: LoadSocket, _ end: SocketEnd) {
    guard socket.phase != .closed else { return }
    forget(socket)
    owner?.ended(socket, end)
  }

  // MARK: Sending

  /// Queues a text message; it leaves at the end of the turn.
  /// - Returns: false when too much waits already: nothing was queued.
  func send(_ payload: [UInt8], to socket: LoadSocket) -> Bool {
    guard socket.phase == .open, socket.outboundBytes < Self.outboundLimitBytes else { return false }
    payload.withUnsafeBytes { append(.text, $0, to: socket) }
    return true
  }

  private func append(_ opcode: Opcode, _ payload: UnsafeRawBufferPointer, to socket: LoadSocket) {
    FrameEncoder.append(opcode: opcode, payload: payload, maskKey: mask(), to: &socket.outbound)
    didWork = true
    guard !socket.isDirty else { return }
    socket.isDirty = true
    dirty.append(socket)
  }

  /// A xorshift step. A driver's masks protect nothing, so they need not be secret.
  private func mask() -> UInt32 {
    masks ^= masks << 13
    masks ^= masks >> 7
    masks ^= masks << 17
    return UInt32(truncatingIfNeeded: masks >> 16)
  }

  private func flush(_ socket: LoadSocket) {
    guard let stream = socket.stream else { return }
    while socket.outboundBytes > 0 {
      let count = socket.outbound.withUnsafeBytes {
        stream.send(UnsafeRawBufferPointer(rebasing: $0[socket.outboundStart...]))
      }
      if count == -Int(EAGAIN) { break }
      guard count > 0 else { return end(socket, .failed("cannot send: \(String(cString: strerror(Int32(-count))))")) }
      socket.outboundStart += count
    }
    if socket.outboundBytes == 0 {
      socket.outbound.removeAll(keepingCapacity: socket.outbound.capacity <= 65_536)
      socket.outboundStart = 0
    }
    watch(socket)
  }

  /// Nothing more is read of this connection until `resume`.
  func pause(_ socket: LoadSocket) {
    socket.isPaused = true
    watch(socket)
  }

  func resume(_ socket: LoadSocket) {
    socket.isPaused = false
    watch(socket)
  }

  private func watch(_ socket: LoadSocket) {
    guard socket.phase != .closed else { return }
    let awaitsRoom = socket.outboundBytes > 0 && socket.stream?.sendAwaitsInput == false
    let wanted = (socket.isPaused ? 0 : clinux_EPOLLIN) | (awaitsRoom ? clinux_EPOLLOUT : 0)
    if wanted != socket.armed { control(socket, EPOLL_CTL_MOD, wanted) }
  }

  private func control(_ socket: LoadSocket, _ operation: Int32, _ wanted: UInt32) {
    guard let stream = socket.stream else { return }
    var event = epoll_event()
    event.events = wanted
    event.data.u64 = UInt64(socket.generation) << 32 | UInt64(socket.index)
    let status = epoll_ctl(epoll, operation, stream.descriptor, &event)
    precondition(status == 0, "an epoll set could not be changed: errno \(errno)")
    socket.armed = wanted
  }

  // MARK: Turning

  /// Sends what is queued, waits until something happens or the deadline comes, and works on what happened.
  func turn(until deadline: Instant) {
    flushDirty()
    var timeout: Int32 = 0
    if !polls {
      // Rounded down: the last part of a millisecond is spent polling, so that nothing is sent late.
      timeout =
        deadline == .never ? 1000 : Int32(clamping: min(deadline.nanoseconds(since: Clock.now()) / 1_000_000, 1000))
    }
    let began = Clock.now()
    let count = epoll_wait(epoll, events.baseAddress, Int32(events.count), timeout)
    now = Clock.now()
    precondition(count >= 0 || errno == EINTR, "an epoll set could not be waited for: errno \(errno)")
    if count <= 0, !didWork {
      idleNanoseconds += now.nanoseconds(since: turnEnded)
    } else if count <= 0 || timeout > 0 {
      idleNanoseconds += now.nanoseconds(since: began)
    }
    turnEnded = now
    didWork = count > 0
    for position in 0..<max(0, Int(count)) { handle(events[position]) }
  }

  func flushDirty() {
    // A connection that fails here may queue others: take the list first.
    while !dirty.isEmpty {
      let batch = dirty
      dirty.removeAll(keepingCapacity: true)
      for socket in batch where socket.isDirty {
        socket.isDirty = false
        if socket.phase == .open { flush(socket) }
      }
    }
  }

  private func handle(_ event: epoll_event) {
    let socket = sockets[Int(event.data.u64 & 0xFFFF_FFFF)]
    guard socket.generation == UInt32(truncatingIfNeeded: event.data.u64 >> 32), let stream = socket.stream else {
      return
    }
    if event.events & clinux_EPOLLERR != 0 {
      let code = stream.pendingError
      return end(socket, .failed("the connection broke: \(String(cString: strerror(code)))"))
    }
    // TLS may have to read before it can write, so what waits is offered whatever happened.
    if socket.outboundBytes > 0 { flush(socket) }
    guard event.events & (clinux_EPOLLIN | clinux_EPOLLHUP) != 0, socket.phase != .closed else { return }
    guard !socket.isPaused else {
      if event.events & clinux_EPOLLHUP != 0 { end(socket, .failed("the server hung up")) }
      return
    }
    read(socket, stream)
  }

  private func read(_ socket: LoadSocket, _ stream: Stream) {
    let generation = socket.generation
    repeat {
      let count = stream.receive(buffer)
      now = Clock.now()
      if count == -Int(EAGAIN) { return }
      guard count > 0 else {
        let reason = count == 0 ? "the server ended the stream" : String(cString: strerror(Int32(-count)))
        return end(socket, .failed(reason))
      }
      take(socket, UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
      // A plain socket is reported again; decrypted bytes are not.
    } while stream.isSecure && socket.generation == generation && !socket.isPaused
  }

  private func take(_ socket: LoadSocket, _ bytes: UnsafeMutableRawBufferPointer) {
    var input = bytes
    if socket.phase == .opening {
      guard upgrade(socket, &input) else { return }
    }
    let generation = socket.generation
    while socket.generation == generation {
      switch socket.machine.next(&input, inflater: inflater) {
      case .needMore: return
      case .message(_, let payload): owner?.received(socket, payload)
      case .ping(let payload):
        append(.pong, payload, to: socket)
        owner?.pinged(socket)
      case .pong: break
      case .close(let code, _):
        let reply = code.map { [UInt8($0.value >> 8), UInt8($0.value & 0xFF)] } ?? []
        reply.withUnsafeBytes { append(.close, $0, to: socket) }
        flush(socket)
        end(socket, .closed(code?.value))
      case .failed(let failure): end(socket, .failed("the server broke the protocol: \(failure.reason)"))
      }
    }
  }

  /// - Returns: whether frames may follow.
  private func upgrade(_ socket: LoadSocket, _ input: inout UnsafeMutableRawBufferPointer) -> Bool {
    switch socket.parser.next(&input) {
    case .needMore: return false
    case .failed(let failure):
      end(socket, .failed("the server's answer is no HTTP: \(failure)"))
      return false
    case .head(let head):
      guard let handshake = socket.handshake else { preconditionFailure("a connection opens with a handshake") }
      switch handshake.evaluate(head) {
      case .refused(let status):
        end(socket, .refused(status: status))
        return false
      case .invalid(let reason):
        end(socket, .failed(reason))
        return false
      case .accepted(_, let deflate):
        socket.machine = ConnectionMachine(
          role: .client, maximumMessageBytes: Self.messageLimitBytes, deflate: deflate)
        socket.handshake = nil
        socket.phase = .open
        owner?.opened(socket)
        return socket.phase == .open
      }
    }
  }
}
