/// What two sides agreed for permessage-deflate (RFC 7692 §7.1).
package struct DeflateParameters: Hashable, Sendable {
  package var serverNoContextTakeover: Bool
  package var clientNoContextTakeover: Bool
  /// 8–15.
  package var serverMaxWindowBits: Int
  /// 8–15.
  package var clientMaxWindowBits: Int

  package init(
    serverNoContextTakeover: Bool = true, clientNoContextTakeover: Bool = true, serverMaxWindowBits: Int = 15,
    clientMaxWindowBits: Int = 15
  ) {
    self.serverNoContextTakeover = serverNoContextTakeover
    self.clientNoContextTakeover = clientNoContextTakeover
    self.serverMaxWindowBits = serverMaxWindowBits
    self.clientMaxWindowBits = clientMaxWindowBits
  }
}

/// What a server is willing to agree to.
package struct DeflatePolicy: Hashable, Sendable {
  /// Answer `server_no_context_takeover` even when it was not asked for, so that one compressed frame serves everybody.
  package var serverNoContextTakeover: Bool
  /// Ask for `client_no_context_takeover`; RFC 7692 §7.1.1.2 allows that without an offer.
  package var clientNoContextTakeover: Bool

  package init(serverNoContextTakeover: Bool = true, clientNoContextTakeover: Bool = true) {
    self.serverNoContextTakeover = serverNoContextTakeover
    self.clientNoContextTakeover = clientNoContextTakeover
  }

  /// The first offer that can be accepted, or nil when there is none (§5.1).
  func accept(_ offers: [ExtensionOffer]) -> DeflateParameters? {
    for offer in offers where offer.name == "permessage-deflate" {
      if let agreed = accept(offer) { return agreed }
    }
    return nil
  }

  /// Nil declines: an unknown or repeated parameter, or a value that is not allowed (§7.1).
  private func accept(_ offer: ExtensionOffer) -> DeflateParameters? {
    var agreed = DeflateParameters(
      serverNoContextTakeover: serverNoContextTakeover, clientNoContextTakeover: clientNoContextTakeover)
    var seen: Set<String> = []
    for parameter in offer.parameters {
      guard seen.insert(parameter.name).inserted else { return nil }
      switch (parameter.name, parameter.value) {
      case ("server_no_context_takeover", nil): agreed.serverNoContextTakeover = true
      case ("client_no_context_takeover", nil): agreed.clientNoContextTakeover = true
      case ("server_max_window_bits", let value?):
        guard let bits = Self.windowBits(value) else { return nil }
        agreed.serverMaxWindowBits = bits
      case ("client_max_window_bits", nil): break
      case ("client_max_window_bits", let value?):
        guard let bits = Self.windowBits(value) else { return nil }
        agreed.clientMaxWindowBits = bits
      default: return nil
      }
    }
    return agreed
  }

  /// A decimal number from 8 to 15 without leading zeros.
  static func windowBits(_ text: String) -> Int? {
    guard let bits = Int(text), (8...15).contains(bits), String(bits) == text else { return nil }
    return bits
  }
}

extension DeflateParameters {
  /// The value of the response's `Sec-WebSocket-Extensions`. A client's window is named only when it is smaller than
  /// the default, which needs the client's offer (§7.1.2.2).
  package var responseText: String {
    var text = "permessage-deflate"
    if serverNoContextTakeover { text += "; server_no_context_takeover" }
    if clientNoContextTakeover { text += "; client_no_context_takeover" }
    if serverMaxWindowBits < 15 { text += "; server_max_window_bits=\(serverMaxWindowBits)" }
    if clientMaxWindowBits < 15 { text += "; client_max_window_bits=\(clientMaxWindowBits)" }
    return text
  }
}
