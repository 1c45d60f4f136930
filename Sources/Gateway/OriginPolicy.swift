/// From which web pages a browser may open a live socket (A4). A browser sends `Origin` with every upgrade and lets no
/// script change it; a client that is no browser sends none and is let in, because there is no cookie to ride on.
package struct OriginPolicy: Hashable, Sendable {
  /// Compared to the letter, for example `https://app.example.com:8443`.
  package var allowed: Set<String>
  /// Host names under which the gateway is known: `https://NAME` is allowed, on the default port.
  package var publicNames: Set<String>
  /// `http://localhost`, on any port: for the first minute on one machine.
  package var allowsLocalhost: Bool

  package init(allowed: Set<String> = [], publicNames: Set<String> = [], allowsLocalhost: Bool = false) {
    self.allowed = allowed
    self.publicNames = publicNames
    self.allowsLocalhost = allowsLocalhost
  }

  /// - Parameter origins: every `Origin` field of the request. `null` is what a sandboxed or forged page sends.
  func allows(_ origins: [String]) -> Bool {
    guard let origin = origins.first else { return true }
    guard origins.count == 1, origin != "null" else { return false }
    if allowed.contains(origin) { return true }
    guard let host = Self.host(of: origin) else { return false }
    if publicNames.contains(where: { origin == "https://\($0)" }) { return true }
    if host.hasPrefix("localhost") { return allowsLocalhost && Loopback.isLocal(host: host) }
    return Loopback.isLocal(host: host)
  }

  /// `host` or `host:port` of an origin of a web page; nil for anything else, capitals included: browsers send none.
  private static func host(of origin: String) -> String? {
    guard let scheme = ["https://", "http://"].first(where: { origin.hasPrefix($0) }) else { return nil }
    let rest = origin.dropFirst(scheme.count)
    let isPlain = rest.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
        UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
        true
      default: false
      }
    }
    return isPlain && !rest.isEmpty ? String(rest) : nil
  }
}
