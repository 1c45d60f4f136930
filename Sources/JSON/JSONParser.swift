import CSimdjson

/// Parses one document at a time into buffers that it keeps. Confined to one thread.
///
/// Of members with the same name the last counts, as in browsers, so that a client and the gateway never see two
/// different requests in one text.
package final class JSONParser {
  private let parser: OpaquePointer

  /// `retainedBytes`: buffers that grew beyond it for one big document are given back before the next smaller one.
  package init(retainedBytes: Int = 262_144) {
    precondition(retainedBytes >= 0, "A parser cannot keep a negative number of bytes.")
    guard let parser = csimdjson_create(retainedBytes) else {
      preconditionFailure("There is no memory for a JSON parser.")
    }
    self.parser = parser
  }

  deinit { csimdjson_destroy(parser) }

  /// Bytes of document that fit without growing.
  package var capacity: Int { csimdjson_capacity(parser) }

  /// Gives back every buffer; the last document's values are dead.
  package func releaseBuffers() { csimdjson_release(parser) }

  /// Copies `bytes` and parses them. The value and all that is reached from it are valid until the next `parse`,
  /// `releaseBuffers` or the parser's end.
  ///
  /// `maximumDepth` counts nested containers: with 1, `[]` passes and `[[]]` is `tooDeep`.
  package func parse(_ bytes: UnsafeRawBufferPointer, maximumDepth: Int) -> Result<JSONValue, JSONFailure> {
    precondition((1...1_024).contains(maximumDepth), "A document's depth is limited to 1...1024.")
    guard let start = bytes.baseAddress else { return .failure(.empty) }
    var root = csimdjson_value()
    let status = csimdjson_parse(
      parser, start.assumingMemoryBound(to: UInt8.self), bytes.count, maximumDepth, &root)
    switch status {
    case CSIMDJSON_OK: return .success(JSONValue(root))
    case CSIMDJSON_EMPTY: return .failure(.empty)
    case CSIMDJSON_BAD_UTF8: return .failure(.badUTF8)
    case CSIMDJSON_TOO_DEEP: return .failure(.tooDeep)
    case CSIMDJSON_NUMBER: return .failure(.number)
    case CSIMDJSON_FORBIDDEN_SCALAR: return .failure(.forbiddenScalar)
    case CSIMDJSON_NO_MEMORY: return .failure(.outOfMemory)
    default: return .failure(.malformed)
    }
  }
}
