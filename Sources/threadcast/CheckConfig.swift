import Configuration
import Glibc
import JSON

/// `threadcast check-config`: the settings in force, after file, environment and flags (S5).
struct CheckConfig {
  let settings: Settings
  let asJSON: Bool

  func run() {
    let text =
      asJSON
      ? Threadcast.object { writer in
        for entry in settings.entries {
          writer.key(entry.key)
          switch entry.value {
          case .flag(let value): writer.boolean(value)
          case .number(let value): writer.integer(value)
          case .text(let value): writer.string(value)
          case .list(let values):
            writer.beginArray()
            for value in values { writer.string(value) }
            writer.endArray()
          }
        }
      }
      : settings.entries.map { "\($0.key): \($0.text)\($0.isDefault ? "" : "  # set")\n" }.joined()
    Threadcast.write(text, to: STDOUT_FILENO)
  }
}
