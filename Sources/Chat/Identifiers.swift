/// Checks D1 and folds case: 1–100 characters of `a-z 0-9 - _`, lower-cased. Nil when anything else occurs.
private func identifier(_ raw: String) -> String? {
  var bytes: [UInt8] = []
  bytes.reserveCapacity(raw.utf8.count)
  for byte in raw.utf8 {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
      UInt8(ascii: "_"):
      bytes.append(byte)
    case UInt8(ascii: "A")...UInt8(ascii: "Z"):
      bytes.append(byte + 32)
    default:
      return nil
    }
  }
  guard (1...100).contains(bytes.count) else { return nil }
  return String(decoding: bytes, as: UTF8.self)
}

/// A user's identity (D1). Ordered by bytes.
package struct UserID: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let text: String

  /// Lower-cases; nil when `raw` breaks D1.
  package init?(_ raw: String) {
    guard let text = identifier(raw) else { return nil }
    self.text = text
  }

  /// For text that passed D1 before it was stored.
  package init(stored text: String) { self.text = text }

  /// The application itself: sends made with an admin key and no `onBehalfOf` (A2).
  package static let application = UserID(stored: "app")

  package var description: String { text }

  package static func < (a: UserID, b: UserID) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }
}

/// A group's identity (D1).
package struct GroupID: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let text: String

  /// Lower-cases; nil when `raw` breaks D1.
  package init?(_ raw: String) {
    guard let text = identifier(raw) else { return nil }
    self.text = text
  }

  /// For text that passed D1 before it was stored.
  package init(stored text: String) { self.text = text }

  package var description: String { text }

  package static func < (a: GroupID, b: GroupID) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }
}

/// Where a message goes, as its sender names it.
package enum Receiver: Hashable, Sendable {
  case user(UserID)
  case group(GroupID)

  package var identifier: String {
    switch self {
    case .user(let uid): uid.text
    case .group(let guid): guid.text
    }
  }
}

/// A conversation (D4). The printed id is never parsed back: both ends travel as values.
package enum Conversation: Hashable, Sendable {
  /// Two users in ascending byte order; the same user twice is a conversation with oneself.
  case oneOnOne(UserID, UserID)
  case group(GroupID)

  /// The conversation in which `sender` reaches `receiver`.
  package init(from sender: UserID, to receiver: Receiver) {
    switch receiver {
    case .group(let guid): self = .group(guid)
    case .user(let other): self = sender < other ? .oneOnOne(sender, other) : .oneOnOne(other, sender)
    }
  }

  /// `group_<guid>` or `<a>_user_<b>`.
  package var id: String {
    switch self {
    case .group(let guid): "group_\(guid.text)"
    case .oneOnOne(let a, let b): "\(a.text)_user_\(b.text)"
    }
  }

  /// The receiver as `viewer` would name it.
  package func receiver(seenBy viewer: UserID) -> Receiver {
    switch self {
    case .group(let guid): .group(guid)
    case .oneOnOne(let a, let b): .user(a == viewer ? b : a)
    }
  }
}
