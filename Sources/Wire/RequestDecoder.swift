package import Chat
import JSON

/// A frame as it was understood.
package enum FrameRequest: Sendable {
  /// No request at all: answered without id (L8).
  case malformed(Refusal)
  case request(id: RequestID, Result<Operation, Refusal>)
}

/// Decodes requests of both doors. Confined to one thread, like its parser.
package final class RequestDecoder {
  package let limits: Limits
  private let parser: JSONParser

  package init(limits: Limits = Limits()) {
    self.limits = limits
    parser = JSONParser()
  }

  /// Decodes a text frame: `{"id", "op", "data"?}` (L3). A document that cannot be read, that is no object, or whose
  /// `id` is missing or neither an integer nor a short string, is `malformed`.
  package func decodeFrame(_ bytes: UnsafeRawBufferPointer) -> FrameRequest {
    let root: JSONValue
    switch parser.parse(bytes, maximumDepth: limits.jsonDepth) {
    case .success(let value): root = value
    case .failure(let failure): return .malformed(Self.refusal(failure))
    }
    guard root.isObject else { return .malformed(Refusal(.badRequest, "A frame must be a JSON object.")) }
    guard let id = root["id"].flatMap(RequestID.init) else {
      return .malformed(
        Refusal(
          .badRequest, "`id` must be an integer or a string of at most 64 characters.", details: [.field("id")]))
    }
    return .request(id: id, operation(of: root))
  }

  private func operation(of root: JSONValue) -> Result<Operation, Refusal> {
    guard let op = root["op"]?.string else {
      return .failure(Refusal(.badRequest, "`op` must be the name of an operation.", details: [.field("op")]))
    }
    guard let definition = OperationTable.definition(named: op), definition.doors != .http else {
      return .failure(OperationTable.unknown(op, among: Self.onSocket))
    }
    var data = root["data"]
    if data?.isNull == true { data = nil }
    if let data, !data.isObject {
      return .failure(Refusal(.badRequest, "`data` must be an object.", details: [.field("data")]))
    }
    return decode(definition, Fields(object: data))
  }

  private static let onSocket = OperationTable.all.filter { $0.doors != .http }

  /// Decodes an HTTP request that the router matched. `parameters` are the router's, `query` is percent-decoded (see
  /// `HTTPQuery`), an empty body counts as an empty object; a GET's body is not looked at.
  package func decodeHTTP(
    _ definition: OperationDefinition, parameters: [(name: String, value: String)],
    query: [(name: String, value: String)], body: UnsafeRawBufferPointer
  ) -> Result<Operation, Refusal> {
    if definition.route?.method == .get {
      return decode(definition, Fields(object: nil, parameters: parameters, query: query))
    }
    if body.isEmpty { return decode(definition, Fields(object: nil, parameters: parameters)) }
    guard body.count <= limits.bodyBytes else {
      return .failure(Refusal(.tooLarge, details: [.limit(name: "bodyBytes", value: limits.bodyBytes)]))
    }
    switch parser.parse(body, maximumDepth: limits.jsonDepth) {
    case .failure(let failure): return .failure(Self.refusal(failure))
    case .success(let root):
      guard root.isObject else { return .failure(Refusal(.badRequest, "The body must be a JSON object.")) }
      return decode(definition, Fields(object: root, parameters: parameters))
    }
  }

  private func decode(_ definition: OperationDefinition, _ fields: Fields) -> Result<Operation, Refusal> {
    do throws(Refusal) {
      return .success(try definition.decode(fields, limits))
    } catch {
      return .failure(error)
    }
  }

  private static func refusal(_ failure: JSONFailure) -> Refusal {
    switch failure {
    case .empty: Refusal(.badRequest, "There is no JSON.")
    case .malformed: Refusal(.badRequest, "This is not valid JSON.")
    case .badUTF8: Refusal(.badRequest, "This is not valid UTF-8.")
    case .tooDeep: Refusal(.badRequest, "The JSON is nested too deep.")
    case .number: Refusal(.badRequest, "The JSON has a number that cannot be held.")
    case .forbiddenScalar: Refusal(.badRequest, "NUL and lone surrogates are not allowed in strings.")
    case .outOfMemory: Refusal(.overloaded)
    }
  }
}
