package import Chat
package import JSON

/// Replies on the socket (L3) and bodies over HTTP (H).
package enum ReplyEncoder {
  /// `{"id", "ok": true, "data", "meta"?}`.
  package static func success(_ id: RequestID, _ answer: Answer) -> [UInt8] {
    var writer = JSONWriter(reservingBytes: 1_024)
    writer.beginObject()
    writer.key("id")
    id.encode(into: &writer)
    writer.member("ok", true)
    body(answer, into: &writer)
    return writer.take()
  }

  /// As above, for data that has no `Answer` of its own.
  package static func success(_ id: RequestID, data: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter(reservingBytes: 256)
    writer.beginObject()
    writer.key("id")
    id.encode(into: &writer)
    writer.member("ok", true)
    writer.key("data")
    data(&writer)
    writer.endObject()
    return writer.take()
  }

  /// `{"id"?, "ok": false, "error"}`; without id for a frame that was no request (L8).
  package static func failure(_ id: RequestID?, _ refusal: Refusal) -> [UInt8] {
    var writer = JSONWriter(reservingBytes: 256)
    writer.beginObject()
    if let id {
      writer.key("id")
      id.encode(into: &writer)
    }
    writer.member("ok", false)
    writer.key("error")
    encode(refusal, into: &writer)
    writer.endObject()
    return writer.take()
  }

  /// `{"data", "meta"?}`.
  package static func httpSuccess(_ answer: Answer) -> [UInt8] {
    var writer = JSONWriter(reservingBytes: 1_024)
    writer.beginObject()
    body(answer, into: &writer)
    return writer.take()
  }

  /// `{"error"}`; its status stands in the catalogue.
  package static func httpFailure(_ refusal: Refusal) -> [UInt8] {
    var writer = JSONWriter(reservingBytes: 256)
    writer.beginObject()
    writer.key("error")
    encode(refusal, into: &writer)
    writer.endObject()
    return writer.take()
  }

  /// `{"code", "message", "retryable", "details"?}`.
  package static func encode(_ refusal: Refusal, into writer: inout JSONWriter) {
    let entry = ErrorCatalogue.entry(refusal.code)
    writer.beginObject()
    writer.member("code", refusal.code.rawValue)
    writer.member("message", refusal.message ?? entry.message)
    writer.member("retryable", entry.isRetryable)
    if !refusal.details.isEmpty {
      writer.key("details")
      writer.beginObject()
      for detail in refusal.details {
        switch detail {
        case .rootMessageID(let id):
          writer.member("rootMessageId", id.value)
        case .field(let name):
          writer.member("field", name)
        case .limit(let name, let value):
          writer.key("limit")
          writer.beginObject()
          writer.member("name", name)
          writer.member("value", value)
          writer.endObject()
        case .retryAfterMilliseconds(let delay):
          writer.member("retryAfterMs", delay)
        }
      }
      writer.endObject()
    }
    writer.endObject()
  }

  private static func body(_ answer: Answer, into writer: inout JSONWriter) {
    writer.key("data")
    answer.encodeData(into: &writer)
    answer.encodeMeta(into: &writer)
    writer.endObject()
  }
}
