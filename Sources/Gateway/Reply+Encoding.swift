import Chat
import HTTP1
import Store
import Wire

extension Reply {
  /// The answer to one request, in the form of its door.
  static func make(for form: ReplyAddress.Form, _ result: Result<Answer, Refusal>) -> Reply {
    switch (form, result) {
    case (.socket(let id), .success(let answer)): Reply(status: 200, bytes: ReplyEncoder.success(id, answer))
    case (.socket(let id), .failure(let refusal)): Reply(status: 200, bytes: ReplyEncoder.failure(id, refusal))
    case (.http, .success(let answer)): Reply(status: 200, bytes: ReplyEncoder.httpSuccess(answer))
    case (.http, .failure(let refusal)): failure(refusal)
    }
  }

  /// A refusal over HTTP, with `Retry-After` where the catalogue says that waiting helps.
  static func failure(_ refusal: Refusal) -> Reply {
    let entry = ErrorCatalogue.entry(refusal.code)
    var reply = Reply(status: entry.status, bytes: ReplyEncoder.httpFailure(refusal))
    if entry.isRetryable { reply.retryAfterSeconds = retryAfterSeconds(refusal) }
    return reply
  }

  private static func retryAfterSeconds(_ refusal: Refusal) -> Int {
    for case .retryAfterMilliseconds(let delay) in refusal.details { return max(1, (delay + 999) / 1000) }
    return 1
  }

  /// What HTTP1 refused. A body above its limit is the one case that the catalogue knows (M5).
  static func failure(_ failure: HTTPFailure, bodyLimit: Int) -> Reply {
    guard failure.status == 413 else { return self.failure(status: failure.status, message: failure.reason) }
    return self.failure(Refusal(.tooLarge, details: [.limit(name: "bodyBytes", value: bodyLimit)]))
  }

  /// A violation of HTTP itself: no operation, and so no code of the catalogue but the plainest.
  static func failure(status: Int, message: String) -> Reply {
    var reply = failure(Refusal(.badRequest, message))
    reply.status = status
    reply.retryAfterSeconds = nil
    return reply
  }

  static func methodNotAllowed(_ allowed: [String]) -> Reply {
    var reply = failure(Refusal(.apiNotFound, "This path has no such method."))
    reply.status = 405
    reply.allow = allowed.joined(separator: ", ")
    return reply
  }

  static func overloaded(for form: ReplyAddress.Form) -> Reply { make(for: form, .failure(Refusal(.overloaded))) }

  static func text(status: Int, _ text: String) -> Reply {
    Reply(status: status, bytes: Array(text.utf8), contentType: "text/plain; charset=utf-8")
  }

  /// Prometheus' exposition format.
  static func metrics(_ text: String) -> Reply {
    Reply(status: 200, bytes: Array(text.utf8), contentType: "text/plain; version=0.0.4; charset=utf-8")
  }
}

extension Outcome {
  /// What the client is told. A minted token is told here and nowhere else: the store knows its digest only.
  func answer(disclosing disclosure: WriteRequest.Disclosure?) -> Result<Wire.Answer, Refusal> {
    result.map { stored -> Wire.Answer in
      if case .token(let text, let uid, let expiresAt) = disclosure {
        return .token(text, uid: uid, expiresAt: expiresAt)
      }
      switch stored {
      case .message(let fetched), .changedMessage(let fetched): return .message(fetched)
      case .threadSubscription(let root, let isSubscribed):
        return .threadSubscription(root: root, isSubscribed: isSubscribed)
      case .user(let user): return .user(user)
      case .group(let group): return .group(group)
      case .members(let results): return .memberResults(results)
      case .done: return .done
      }
    }
  }
}
