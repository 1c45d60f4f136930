import FuzzTargets
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// The committed inputs of a target, read from the source tree.
struct Corpus {
  struct Input: Sendable {
    var name: String
    var bytes: [UInt8]
  }

  let inputs: [Input]

  init(_ target: FuzzTarget) throws {
    let folder = Self.root + "/" + target.rawValue
    inputs = try Self.names(in: folder).map { Input(name: $0, bytes: try Self.read(folder + "/" + $0)) }
  }

  /// One input by its name.
  static func input(_ target: FuzzTarget, _ name: String) throws -> [UInt8] {
    try read(root + "/" + target.rawValue + "/" + name)
  }

  /// `Tests/Fuzz/corpus`, found from where this file stands.
  private static let root = {
    let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
    return parts.joined(separator: "/") + "/corpus"
  }()

  private static func names(in folder: String) throws -> [String] {
    let directory = try #require(opendir(folder), "there is no \(folder)")
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }

  private static func read(_ path: String) throws -> [UInt8] {
    let file = try #require(fopen(path, "r"), "there is no \(path)")
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = fread(&block, 1, block.count, file)
      if count == 0 { return bytes }
      bytes += block[..<count]
    }
  }
}
