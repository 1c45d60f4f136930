import Chat

/// The refusals of `RequestDecoder` and of the router before it.
enum OperationRejection {
  /// The refusal's sentence without what depends on the input or on a table that grows; its code's name where it has no
  /// sentence of its own.
  static func reason(_ refusal: Refusal) -> String {
    guard let message = refusal.message else { return "by its code alone" }
    for opening in ["Did you mean ", "must be one of "] {
      if let range = message.firstRange(of: opening) { return message[..<range.upperBound] + "…" }
    }
    return message
  }
}

extension OperationTarget {
  static let rejections: Set<String> = Set(
    ["404 no such path", "405 another method", "400 the query does not decode"] + documents + shapes + sizes + contents)

  /// What is refused before a field is looked at.
  private static let documents = [
    "ERR_BAD_REQUEST There is no JSON.", "ERR_BAD_REQUEST This is not valid JSON.",
    "ERR_BAD_REQUEST This is not valid UTF-8.", "ERR_BAD_REQUEST The JSON is nested too deep.",
    "ERR_BAD_REQUEST The JSON has a number that cannot be held.",
    "ERR_BAD_REQUEST NUL and lone surrogates are not allowed in strings.",
    "ERR_BAD_REQUEST A frame must be a JSON object.", "ERR_BAD_REQUEST The body must be a JSON object.",
    "ERR_BAD_REQUEST `_` must be an integer or a string of at most N characters.",
    "ERR_BAD_REQUEST `_` must be the name of an operation.", "ERR_API_NOT_FOUND by its code alone",
    "ERR_API_NOT_FOUND There is no such operation. Did you mean …", "ERR_TOO_LARGE by its code alone",
  ]

  private static let shapes = [
    "ERR_BAD_REQUEST `_` is required.", "ERR_BAD_REQUEST `_` must be a string.",
    "ERR_BAD_REQUEST `_` must be true or false.", "ERR_BAD_REQUEST `_` must be an integer from N to N.",
    "ERR_BAD_REQUEST `_` must be one of …", "ERR_BAD_REQUEST `_` must be N to N characters of a-z, 0-9, - and _.",
    "ERR_BAD_REQUEST `_` must be an object.", "ERR_BAD_REQUEST `_` must be an array.",
    "ERR_BAD_REQUEST `_` must be an array of objects.", "ERR_BAD_REQUEST `_` must be an array of strings.",
    "ERR_BAD_REQUEST `_` must be an array of message ids.", "ERR_BAD_REQUEST `_` must not be blank.",
    "ERR_BAD_REQUEST `_` must not be empty.", "ERR_BAD_REQUEST `_` needs one at least.",
    "ERR_INVALID_PARENT_MESSAGE_ID `_` is required.",
    "ERR_INVALID_PARENT_MESSAGE_ID `_` must be an integer from N to N.",
  ]

  private static let sizes = [
    "textBytes", "metadataBytes", "customDataBytes", "tags", "tagCharacters", "attachments", "openThreads",
    "muidCharacters", "reactionCharacters", "nameCharacters", "urlBytes", "descriptionBytes", "membersPerCall",
  ].map { "ERR_TOO_LARGE `_` is above the limit \($0) of N." }

  private static let contents = [
    "ERR_EMPTY_MESSAGE by its code alone", "ERR_BAD_REQUEST `_` has no place in a custom message.",
    "ERR_BAD_REQUEST `_` of a custom message must be its customType or absent.",
    "ERR_BAD_REQUEST `_` needs the category custom.", "ERR_BAD_REQUEST `_` has no place in a text message.",
    "ERR_BAD_REQUEST `_` has no place in a media message; use caption.",
    "ERR_BAD_REQUEST `_` excludes uid and parentMessageId.", "ERR_BAD_REQUEST `_` excludes uid and guid.",
    "ERR_BAD_REQUEST Give one of `_`, `_`, `_`, `_` and `_` at least.",
    "ERR_BAD_REQUEST `_` must be an emoji or a short code, something to be seen, without white space.",
    "ERR_BAD_REQUEST `_` password is not available yet.", "ERR_BAD_REQUEST `_` belongs to the system.",
  ]
}
