import Testing
import WebSocket

/// What a machine said, without the memory its events lie in.
enum Note: Hashable, CustomStringConvertible {
  case text(String)
  case binary([UInt8])
  case ping([UInt8])
  case pong([UInt8])
  case close(UInt16?, String)
  case failed(ProtocolFailure.Kind, UInt16)

  var description: String {
    switch self {
    case .text(let text): "text(\(text.prefix(60)), \(text.utf8.count))"
    case .binary(let bytes): "binary(\(bytes.prefix(20)), \(bytes.count))"
    case .ping(let bytes): "ping(\(bytes.prefix(20)), \(bytes.count))"
    case .pong(let bytes): "pong(\(bytes.prefix(20)), \(bytes.count))"
    case .close(let code, let reason): "close(\(code.map(String.init) ?? "none"), \(reason))"
    case .failed(let kind, let code): "failed(\(kind), \(code))"
    }
  }
}

/// Ways to cut the same octets into reads.
enum Feeding: CustomStringConvertible {
  case whole
  case oneByOne
  case split(Int)

  /// Whole, one octet at a time, and cut in two at every place.
  static func all(_ count: Int) -> [Feeding] { [.whole, .oneByOne] + (1..<max(count, 1)).map { .split($0) } }

  func pieces(_ bytes: [UInt8]) -> [[UInt8]] {
    switch self {
    case .whole: [bytes]
    case .oneByOne: bytes.map { [$0] }
    case .split(let at): [Array(bytes[..<at]), Array(bytes[at...])]
    }
  }

  var description: String {
    switch self {
    case .whole: "whole"
    case .oneByOne: "one octet at a time"
    case .split(let at): "cut at \(at)"
    }
  }
}

/// How a machine is set up for a row.
struct Setup: Sendable {
  var role = Role.server
  var maximumMessageBytes = 1 << 20
  var maximumFragments = 16_384
  var deflate: DeflateParameters?

  static let server = Setup()
  static let client = Setup(role: .client)
  static let deflatingServer = Setup(deflate: DeflateParameters())
  static let deflatingClient = Setup(role: .client, deflate: DeflateParameters())

  func machine() -> ConnectionMachine {
    ConnectionMachine(
      role: role, maximumMessageBytes: maximumMessageBytes, maximumFragments: maximumFragments, deflate: deflate)
  }
}

extension ConnectionMachine {
  /// Everything that comes of these octets until more are needed.
  mutating func notes(_ bytes: [UInt8], _ inflater: Inflater? = nil) -> [Note] {
    var notes: [Note] = []
    var bytes = bytes
    bytes.withUnsafeMutableBytes { memory in
      var input = memory
      while true {
        switch next(&input, inflater: inflater) {
        case .needMore:
          if !input.isEmpty { Issue.record("octets are left without an event") }
          return
        case .message(.text, let payload):
          guard let text = String(validating: payload, as: UTF8.self) else {
            Issue.record("text was handed over that is not UTF-8")
            return
          }
          notes.append(.text(text))
        case .message(.binary, let payload): notes.append(.binary(Array(payload)))
        case .ping(let payload): notes.append(.ping(Array(payload)))
        case .pong(let payload): notes.append(.pong(Array(payload)))
        case .close(let code, let reason):
          notes.append(.close(code?.value, String(decoding: reason, as: UTF8.self)))
        case .failed(let failure): notes.append(.failed(failure.kind, failure.code.value))
        }
      }
    }
    return notes
  }
}

/// What a fresh machine says of the octets, cut in that way.
func read(_ bytes: [UInt8], _ setup: Setup = .server, _ feeding: Feeding = .whole) -> [Note] {
  var machine = setup.machine()
  let inflater = setup.deflate == nil ? nil : Inflater()
  var notes: [Note] = []
  for piece in feeding.pieces(bytes) { notes += machine.notes(piece, inflater) }
  return notes
}

/// How many octets a fresh machine needs, fed one by one, until it fails; nil when it does not.
func octetsUntilFailure(_ bytes: [UInt8], _ setup: Setup = .server) -> Int? {
  var machine = setup.machine()
  for (index, byte) in bytes.enumerated() {
    for case .failed in machine.notes([byte]) { return index + 1 }
  }
  return nil
}

/// The key of RFC 6455 §5.7.
let exampleKey: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]

/// A client's frame: its first octet, then its payload masked octet by octet. The length is written in its shortest form.
func masked(_ first: UInt8, _ payload: [UInt8], key: [UInt8] = exampleKey) -> [UInt8] {
  let head = [first] + lengthOctets(payload.count, bit: 0x80) + key
  return head + payload.enumerated().map { $1 ^ key[$0 % 4] }
}

func masked(_ first: UInt8, _ text: String) -> [UInt8] { masked(first, Array(text.utf8)) }

/// A server's frame.
func plain(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] { [first] + lengthOctets(payload.count, bit: 0) + payload }

private func lengthOctets(_ count: Int, bit: UInt8) -> [UInt8] {
  if count < 126 { return [bit | UInt8(count)] }
  if count < 65_536 { return [bit | 126, UInt8(count / 256), UInt8(count % 256)] }
  return [bit | 127] + (0..<8).map { UInt8((count >> (56 - 8 * $0)) % 256) }
}

/// One row of a table: a name to see in a report, what is sent to whom, what must come of it.
struct Row: Sendable, CustomTestStringConvertible {
  var name: String
  var bytes: [UInt8]
  var setup: Setup
  var notes: [Note]

  init(_ name: String, _ bytes: [UInt8], to setup: Setup = .server, _ notes: [Note]) {
    self.name = name
    self.bytes = bytes
    self.setup = setup
    self.notes = notes
  }

  /// Every way of feeding the row must say the same.
  func check(sourceLocation: SourceLocation = #_sourceLocation) {
    for feeding in Feeding.all(bytes.count) {
      #expect(read(bytes, setup, feeding) == notes, "\(name), \(feeding)", sourceLocation: sourceLocation)
    }
  }

  var testDescription: String { name }
}
