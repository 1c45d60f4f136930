extension Settings {
  /// A setting in force, for `check-config`.
  package struct Entry: Sendable, Equatable {
    package enum Value: Sendable, Equatable {
      case flag(Bool)
      case number(Int)
      case text(String)
      case list([String])
    }

    /// The dotted path in the file.
    package let key: String
    package let value: Value
    /// The value as it would be written in the file.
    package let text: String
    package let isDefault: Bool
  }

  /// Every setting, in the order of the help text.
  package var entries: [Entry] {
    Key.all.map { key in
      let text = key.text(in: self)
      return Entry(key: key.path, value: key.value(in: self), text: text, isDefault: text == key.defaultText)
    }
  }
}

extension Key {
  fileprivate func value(in settings: Settings) -> Settings.Entry.Value {
    switch kind {
    case .toggle(let path): .flag(settings[keyPath: path])
    case .integer(let path, _): .number(settings[keyPath: path])
    case .text(let path): .text(settings[keyPath: path])
    case .texts(let path): .list(settings[keyPath: path])
    case .addresses(let path): .list(settings[keyPath: path].map(\.description))
    case .level(let path): .text(settings[keyPath: path].rawValue)
    case .format(let path): .text(settings[keyPath: path].rawValue)
    }
  }
}
