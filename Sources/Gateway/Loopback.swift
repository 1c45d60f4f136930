/// Which names of a `Host` field mean this machine itself (A4): the guard of `--dev` against DNS rebinding.
enum Loopback {
  /// - Parameter host: the field's value, with or without a port.
  static func isLocal(host: String) -> Bool {
    let name = withoutPort(host).lowercased()
    if name == "localhost" || name == "[::1]" { return true }
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }

  private static func withoutPort(_ host: String) -> Substring {
    if host.hasPrefix("[") {
      guard let end = host.firstIndex(of: "]") else { return host[...] }
      return host[...end]
    }
    guard let colon = host.lastIndex(of: ":") else { return host[...] }
    return host[..<colon]
  }
}
