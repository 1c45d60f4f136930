/// simdjson behind a small reader, and a byte writer.
///
/// Pattern: `JSONParser` turns a document into a tape that `JSONValue` looks at in place; `JSONWriter` appends compact
/// JSON to bytes that it owns. Threads: a parser belongs to one thread; a writer is a value. Lifecycle: a value is
/// valid until its parser parses again or ends; nothing is copied before somebody asks for a `String`.
/// Never imports: Foundation, the domain, sockets.

/// Why a document was refused as a whole.
package enum JSONFailure: Error, Hashable, Sendable, CaseIterable {
  /// Nothing but white space.
  case empty
  /// Not JSON as RFC 8259 has it, or something behind the document's end.
  case malformed
  case badUTF8
  /// Containers nested deeper than allowed (M5).
  case tooDeep
  /// A number misspelt, or one that neither 64 bits nor a finite double hold (C084).
  case number
  /// A NUL or a lone surrogate in a string or a key (M4).
  case forbiddenScalar
  case outOfMemory
}
