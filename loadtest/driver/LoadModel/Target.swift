/// Where a server listens, out of `ws://HOST:PORT`.
package struct Target: Hashable, Sendable {
  /// A name or an address, an IPv6 one without its brackets.
  package var host: String
  /// 1–65,535.
  package var port: UInt16
  package var isSecure: Bool

  /// Where `serve` listens when it is told nothing.
  package static let standard = Target(host: "127.0.0.1", port: 8080, isSecure: false)

  package init(host: String, port: UInt16, isSecure: Bool) {
    self.host = host
    self.port = port
    self.isSecure = isSecure
  }

  /// Refuses what is not `ws://` or `wss://` with a host and no path.
  package init?(_ text: String) {
    var rest = text[...]
    if rest.hasPrefix("ws://") {
      isSecure = false
      rest = rest.dropFirst(5)
    } else if rest.hasPrefix("wss://") {
      isSecure = true
      rest = rest.dropFirst(6)
    } else {
      return nil
    }
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    port = isSecure ? 443 : 80
    var authority = rest
    if rest.hasPrefix("[") {
      guard let end = rest.firstIndex(of: "]") else { return nil }
      host = String(rest[rest.index(after: rest.startIndex)..<end])
      authority = rest[rest.index(after: end)...]
    } else {
      let end = rest.firstIndex(of: ":") ?? rest.endIndex
      host = String(rest[..<end])
      authority = rest[end...]
    }
    guard !host.isEmpty, !host.contains(where: { "/?#@ ".contains($0) }) else { return nil }
    guard !authority.isEmpty else { return }
    guard authority.first == ":", let number = UInt16(authority.dropFirst()), number > 0 else { return nil }
    port = number
  }

  /// As it stands in a `Host` field.
  package var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
