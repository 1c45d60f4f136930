internal import CYAML

/// A YAML file as dotted paths with the lines on which their values stand. It knows no key.
struct YAMLDocument {
  enum Value: Equatable {
    case scalar(String)
    case list([String])
    /// `key:` and nothing after it, or `null`.
    case nothing
  }

  struct Entry: Equatable {
    let path: String
    /// From 1.
    let line: Int
    let value: Value
  }

  private(set) var entries: [Entry] = []
  private(set) var problems: [Problem] = []
  private var walkedNodes = 0

  /// Bounds on what a file may make us do; a real one has some thirty keys in two levels.
  static let largestFileBytes = 262_144
  private static let deepestLevel = 4
  private static let mostEntries = 1_000
  /// libyaml looks through every open bracket and every anchor again and again: a file of brackets would keep it busy
  /// for minutes. Both are counted before it builds anything.
  private static let deepestBracket = 32
  private static let mostEvents = 8_192
  /// Nodes that are walked; aliases make a small file stand for a huge tree.
  private static let mostNodes = 8_192

  /// Reads one document. What is wrong with its shape stands in `problems`, and the rest is read all the same; after a
  /// syntax error nothing is, since a half-read file would only make up further problems.
  static func parse(_ bytes: [UInt8]) -> YAMLDocument {
    var document = YAMLDocument()
    guard bytes.count <= largestFileBytes else {
      document.problems = [Problem(.syntax(line: 1), "is larger than \(largestFileBytes) bytes", "check the path")]
      return document
    }
    if let problem = withParser(over: bytes, excess) {
      document.problems = [problem]
      return document
    }
    withParser(over: bytes) { parser in
      if document.load(&parser), document.load(&parser) {
        document.problems.append(Problem(.syntax(line: 1), "holds more than one document", "keep the first"))
      }
    }
    return document
  }

  private static func withParser<Answer>(over bytes: [UInt8], _ body: (inout yaml_parser_t) -> Answer) -> Answer {
    var parser = yaml_parser_t()
    // It fails only when the system has no memory for a few kilobytes.
    guard yaml_parser_initialize(&parser) == 1 else { preconditionFailure("libyaml could not get its memory") }
    defer { yaml_parser_delete(&parser) }
    return bytes.withUnsafeBufferPointer { buffer in
      // An empty buffer has no address, and libyaml insists on one.
      var nothing: UInt8 = 0
      return withUnsafePointer(to: &nothing) { nowhere in
        yaml_parser_set_input_string(&parser, buffer.baseAddress ?? nowhere, buffer.count)
        return body(&parser)
      }
    }
  }

  /// What makes the file too much to load; nil for a bounded one, and for broken YAML, which `load` describes.
  private static func excess(_ parser: inout yaml_parser_t) -> Problem? {
    var depth = 0
    for _ in 0..<mostEvents {
      var event = yaml_event_t()
      guard yaml_parser_parse(&parser, &event) == 1 else { return nil }
      defer { yaml_event_delete(&event) }
      switch event.type {
      case YAML_STREAM_END_EVENT: return nil
      case YAML_SEQUENCE_START_EVENT, YAML_MAPPING_START_EVENT: depth += 1
      case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: depth -= 1
      default: break
      }
      if depth > deepestBracket {
        let line = Int(event.start_mark.line) + 1
        return Problem(.syntax(line: line), "is nested too deep", "no key has that many levels")
      }
    }
    return Problem(.syntax(line: 1), "has too many parts", "check the path")
  }

  /// Loads the parser's next document; only the first one is walked. False at the end of the file or after an error.
  private mutating func load(_ parser: inout yaml_parser_t) -> Bool {
    let isFirst = entries.isEmpty && problems.isEmpty
    var loaded = yaml_document_t()
    guard yaml_parser_load(&parser, &loaded) == 1 else {
      let reason = parser.problem.map { String(cString: $0) } ?? "cannot be read"
      // The reader (encoding) knows a byte offset only; everything else has a line.
      let line = parser.error == YAML_READER_ERROR ? 1 : Int(parser.problem_mark.line) + 1
      entries = []
      problems.append(Problem(.syntax(line: line), "is not YAML: \(reason)", "check the indentation and the quotes"))
      return false
    }
    defer { yaml_document_delete(&loaded) }
    guard let root = yaml_document_get_root_node(&loaded) else { return false }
    guard isFirst else { return true }
    guard root.pointee.type == YAML_MAPPING_NODE else {
      if root.pointee.type == YAML_SCALAR_NODE, Self.isNull(root) { return true }
      problems.append(Problem(.syntax(line: 1), "is not a list of keys and values", "write listen: 127.0.0.1:8080"))
      return true
    }
    walk(root, of: &loaded, prefix: "", level: 1)
    return true
  }

  private mutating func walk(
    _ mapping: UnsafeMutablePointer<yaml_node_t>, of document: inout yaml_document_t, prefix: String, level: Int
  ) {
    var pair = mapping.pointee.data.mapping.pairs.start
    let end = mapping.pointee.data.mapping.pairs.top
    while let current = pair, current != end, walkedNodes <= Self.mostNodes {
      pair = current + 1
      guard let keyNode = yaml_document_get_node(&document, current.pointee.key),
        let valueNode = yaml_document_get_node(&document, current.pointee.value)
      else { continue }
      let line = Int(keyNode.pointee.start_mark.line) + 1
      guard let name = Self.text(keyNode) else {
        problems.append(Problem(.syntax(line: line), "has a key that is no word", "write key: value"))
        continue
      }
      guard entries.count < Self.mostEntries else {
        if entries.count == Self.mostEntries, problems.last?.what != "has too many keys" {
          problems.append(Problem(.syntax(line: line), "has too many keys"))
        }
        return
      }
      let path = prefix + name
      read(valueNode, of: &document, path: path, line: line, level: level)
    }
  }

  private mutating func read(
    _ node: UnsafeMutablePointer<yaml_node_t>, of document: inout yaml_document_t, path: String, line: Int, level: Int
  ) {
    walkedNodes += 1
    guard walkedNodes <= Self.mostNodes else {
      if walkedNodes == Self.mostNodes + 1 {
        problems.append(Problem(.file(key: path, line: line), "stands for too much", "write it without aliases"))
      }
      return
    }
    if entries.contains(where: { $0.path == path }) {
      problems.append(Problem(.file(key: path, line: line), "stands twice", "keep one"))
      return
    }
    switch node.pointee.type {
    case YAML_SCALAR_NODE:
      let value = Self.isNull(node) ? Value.nothing : .scalar(Self.text(node) ?? "")
      entries.append(Entry(path: path, line: line, value: value))
    case YAML_SEQUENCE_NODE:
      var texts: [String] = []
      var item = node.pointee.data.sequence.items.start
      let end = node.pointee.data.sequence.items.top
      while let current = item, current != end, texts.count < Self.mostEntries {
        item = current + 1
        guard let itemNode = yaml_document_get_node(&document, current.pointee), let text = Self.text(itemNode) else {
          problems.append(Problem(.file(key: path, line: line), "has an entry that is no plain value"))
          return
        }
        texts.append(text)
      }
      entries.append(Entry(path: path, line: line, value: .list(texts)))
    case YAML_MAPPING_NODE:
      guard level < Self.deepestLevel else {
        problems.append(Problem(.file(key: path, line: line), "is nested too deep", "no key has that many levels"))
        return
      }
      walk(node, of: &document, prefix: path + ".", level: level + 1)
    default:
      problems.append(Problem(.file(key: path, line: line), "has no value", "write one or take the line out"))
    }
  }

  private static func text(_ node: UnsafeMutablePointer<yaml_node_t>) -> String? {
    guard node.pointee.type == YAML_SCALAR_NODE, let start = node.pointee.data.scalar.value else { return nil }
    let bytes = UnsafeBufferPointer(start: start, count: node.pointee.data.scalar.length)
    // libyaml has checked the encoding while it scanned.
    return String(validating: bytes, as: UTF8.self)
  }

  /// A plain (not quoted) nothing, `~` or `null`.
  private static func isNull(_ node: UnsafeMutablePointer<yaml_node_t>) -> Bool {
    guard node.pointee.data.scalar.style == YAML_PLAIN_SCALAR_STYLE, let text = text(node) else { return false }
    return text.isEmpty || text == "~" || text == "null"
  }
}
