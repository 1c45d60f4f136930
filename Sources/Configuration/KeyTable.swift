extension Key {
  /// Every setting, in the order in which the help text and deploy/threadcast.example.yaml show them.
  static let all: [Key] = [
    Key(
      "listen", flag: "listen", "ADDR:PORT", .addresses(\.listen),
      "Where to listen; may repeat. unix:PATH is a socket file, port 0 picks a free port."),
    Key("data", flag: "data", "DIR", .text(\.data), "The folder of the embedded store."),
    Key(
      "tls.certificate", flag: "tls-cert", "FILE", .text(\.tls.certificate), "Certificate chain (PEM); turns TLS on."),
    Key("tls.key", flag: "tls-key", "FILE", .text(\.tls.key), "The certificate's private key (PEM)."),
    Key(
      "dev", flag: "dev", nil, .toggle(\.dev),
      "Demo users ann bob cyd dan eve, group team, tokens dev-ann ..., admin key dev-admin. Loopback only."),
    Key(
      "echo", flag: "echo", nil, .toggle(\.echo), "Serve /echo, /pub and /sub for conformance and benchmark clients."),
    Key("loops", flag: "loops", "N", .integer(\.loops, 0...256), "Event-loop threads; 0 is one a core."),
    Key("readers", nil, .integer(\.readers, 1...64), "Threads that read the store beside its one writer."),
    Key("log.level", flag: "log-level", "LEVEL", .level(\.log.level), "error, warning, info or debug."),
    Key("log.format", flag: "log-format", "FORMAT", .format(\.log.format), "text (key=value) or json."),
    Key(
      "publicNames", nil, .texts(\.publicNames),
      "Host names under which browsers reach the gateway; their origins are allowed."),
    Key("allowedOrigins", nil, .texts(\.allowedOrigins), "Further browser origins that are allowed, compared exactly."),
    Key(
      "heartbeatSeconds", nil, .integer(\.heartbeatSeconds, 1...300), "Quiet time before a ping and a heartbeat event."),
    Key(
      "connectSeconds", nil, .integer(\.connectSeconds, 1...60), "Time for a new socket to send its connect frame."),
    Key(
      "drainSeconds", nil, .integer(\.drainSeconds, 0...3_600),
      "Over how long sessions are sent away when the gateway stops."),
    Key(
      "limits.frameBytes", nil, .integer(\.limits.frameBytes, 1_024...16_777_216),
      "Largest message of a live socket; a larger one closes 1009."),
    Key("limits.textBytes", nil, .integer(\.limits.textBytes, 1...1_048_576), "Largest text of a message."),
    Key("limits.metadataBytes", nil, .integer(\.limits.metadataBytes, 2...1_048_576), "Largest metadata object."),
    Key("limits.customDataBytes", nil, .integer(\.limits.customDataBytes, 2...1_048_576), "Largest customData object."),
    Key("limits.tags", nil, .integer(\.limits.tags, 0...1_000), "Tags on one message."),
    Key("limits.tagCharacters", nil, .integer(\.limits.tagCharacters, 1...1_000), "Characters of one tag."),
    Key("limits.attachments", nil, .integer(\.limits.attachments, 1...100), "Attachments of one message."),
    Key("limits.jsonDepth", nil, .integer(\.limits.jsonDepth, 4...128), "Nesting of JSON in a request."),
    Key(
      "limits.bodyBytes", nil, .integer(\.limits.bodyBytes, 1_024...67_108_864),
      "Largest HTTP request body; a larger one is 413."),
    Key(
      "limits.headBytes", nil, .integer(\.limits.headBytes, 1_024...65_536),
      "Largest HTTP request head; a larger one is 431."),
    Key(
      "limits.outboundBytes", nil, .integer(\.limits.outboundBytes, 65_536...67_108_864),
      "Bytes that may wait for one session before it is closed 4001."),
    Key(
      "limits.outboundTotalBytes", nil, .integer(\.limits.outboundTotalBytes, 1_048_576...1_099_511_627_776),
      "Bytes that may wait on one loop for all sessions; above half of it each may hold an eighth of its own limit."),
    Key(
      "limits.resumeSeconds", nil, .integer(\.limits.resumeSeconds, 0...2_592_000),
      "How long ago what a resuming session missed may have begun."),
    Key(
      "limits.resumeEvents", nil, .integer(\.limits.resumeEvents, 0...1_000_000),
      "How many events a resuming session may have missed."),
  ]

  static func at(path: String) -> Key? { all.first { $0.path == path } }
  static func with(flag: String) -> Key? { all.first { $0.flag == flag } }
  static func with(variable: String) -> Key? { all.first { $0.variable == variable } }

  /// The keys of a section, `tls` → `tls.certificate`, `tls.key`; empty when there is no such section.
  static func within(section: String) -> [Key] { all.filter { $0.path.hasPrefix(section + ".") } }
}
