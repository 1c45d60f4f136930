/// The mention tokens of a text (M9): `<@uid:UID>` and `<@all:LABEL>`. Whether a named person is a participant is for
/// the store to say.
package struct Mentions: Hashable, Sendable {
  /// In order of first mention, each once, lower-cased as in D1.
  package var uids: [UserID]
  /// Whether an `<@all:…>` token occurs; it counts in groups only.
  package var all: Bool

  package init(uids: [UserID] = [], all: Bool = false) {
    self.uids = uids
    self.all = all
  }

  package static let none = Mentions()

  /// Reads the tokens of `text` in one pass. A token that is not complete and valid is plain text; UID is as in D1, a
  /// LABEL is one or more characters other than `<` and `>`.
  package init(in text: String) {
    self = text.utf8.withContiguousStorageIfAvailable(Mentions.init(scanning:)) ?? Mentions(scanning: Array(text.utf8))
  }

  /// The mentions of a message's own words: text or caption (M9). Nothing else of a message is searched.
  package init(of content: Content) {
    switch content {
    case .text(let text): self.init(in: text)
    case .media(_, _, let caption): self = caption.map(Mentions.init(in:)) ?? .none
    case .custom, .action, .deleted: self = .none
    }
  }

  private init(scanning bytes: some RandomAccessCollection<UInt8>) {
    self.init()
    var named: Set<UserID> = []
    var position = bytes.startIndex
    while let open = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
      let body = bytes.index(after: open)
      // A token holds no second `<`, so the next one bounds the search: the pass stays linear.
      guard let stop = bytes[body...].firstIndex(where: { $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "<") })
      else { return }
      if bytes[stop] == UInt8(ascii: ">") { take(bytes[body..<stop], named: &named) }
      position = stop
    }
  }

  private mutating func take(_ token: some Collection<UInt8>, named: inout Set<UserID>) {
    if token.starts(with: "@uid:".utf8) {
      guard let uid = UserID(String(decoding: token.dropFirst(5), as: UTF8.self)) else { return }
      if named.insert(uid).inserted { uids.append(uid) }
    } else if token.starts(with: "@all:".utf8), token.count > 5 {
      all = true
    }
  }
}
