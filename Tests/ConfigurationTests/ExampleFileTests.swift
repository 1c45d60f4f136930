import Foundation
import Testing

@testable import Configuration

@Suite("S2 the example file in deploy/ is the table of keys")
struct ExampleFileTests {
  /// One setting of the file with its # taken away, or a section's name.
  private struct Line {
    let path: String
    let value: String
    /// The comment lines right above it.
    let comment: [String]
  }

  private static func text() throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return try String(contentsOf: root.appendingPathComponent("deploy/threadcast.example.yaml"), encoding: .utf8)
  }

  /// A setting is a # right before a name, or before two spaces and a name; every other # begins a sentence.
  private static func setting(_ line: Substring) -> Substring? {
    guard line.first == "#" else { return nil }
    let rest = line.dropFirst()
    let isNested = rest.hasPrefix("  ")
    guard let first = rest.dropFirst(isNested ? 2 : 0).first, first.isLetter else { return nil }
    return rest
  }

  private static func lines() throws -> [Line] {
    var lines: [Line] = []
    var section = ""
    var comment: [String] = []
    for line in try text().split(separator: "\n", omittingEmptySubsequences: false) {
      guard let setting = setting(line) else {
        // A blank line ends a comment.
        comment = line.isEmpty ? [] : comment + [String(line)]
        continue
      }
      let parts = setting.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let name = parts[0].drop { $0 == " " }
      let value = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
      if !setting.hasPrefix(" ") { section = value.isEmpty ? String(name) : "" }
      let path = setting.hasPrefix(" ") ? "\(section).\(name)" : String(name)
      lines.append(Line(path: path, value: value, comment: comment))
      comment = []
    }
    return lines
  }

  @Test func S2_everyKeyStandsInItOnceWithItsDefault() throws {
    let settings = try Self.lines().filter { !$0.value.isEmpty }
    #expect(settings.map(\.path) == Key.all.map(\.path))
    for (line, key) in zip(settings, Key.all) { #expect(line.value == key.defaultText, "\(key.path)") }
  }

  @Test func S2_everyKeyIsExplained() throws {
    for line in try Self.lines() {
      #expect(!line.comment.joined().isEmpty, "\(line.path) has no comment")
      guard let key = Key.at(path: line.path), case .integer(_, let range) = key.kind else { continue }
      let words = "\(range.lowerBound) to \(range.upperBound)"
      #expect(line.comment.joined(separator: " ").contains(words), "\(line.path) does not say \(words)")
    }
  }

  @Test func S2_takenAsItStandsAndWithoutItsMarksItSaysNothingNew() throws {
    let launch = { (text: String) in
      Launch.read(arguments: ["serve", "--config", "f"], environment: [:]) { _ in .success(Array(text.utf8)) }
    }
    #expect(try launch(Self.text()) == .serve(Settings()))
    let opened = try Self.text().split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.hasSuffix("\"\"") && $0 != "#tls:" }
      .map { Self.setting($0).map(String.init) ?? String($0) }.joined(separator: "\n")
    #expect(launch(opened) == .serve(Settings()))
  }
}
