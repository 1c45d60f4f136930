import Chat
import JSON
import Wire

/// Requests of both doors into a `RequestDecoder`.
///
/// Properties: a request that was written anew by `JSONWriter` means the same; both doors answer alike; a broken request
/// leaves nothing in the decoder; every refusal and every accepted value can be written, and reads as JSON; texts are
/// within their limits and hold no NUL (M4, M5).
enum OperationTarget {
  /// - Options: a byte of setup (bit 0 the HTTP door, 1 small limits). For HTTP the rest is a line `METHOD target` and,
  ///   behind LF, the body.
  static func run(_ options: inout FuzzOptions, _ report: inout FuzzReport) {
    let choice = Int(options.byte())
    let decoder = RequestDecoder(limits: choice & 2 == 0 ? Limits() : smallLimits)
    let bytes = options.rest
    checkJSON(bytes, decoder.limits.jsonDepth, &report)
    if choice & 1 == 0 {
      socket(bytes, decoder, &report)
    } else {
      http(bytes, decoder, &report)
    }
    checkUnharmed(decoder, &report)
  }

  private static let smallLimits: Limits = {
    var limits = Limits()
    limits.bodyBytes = 512
    limits.textBytes = 16
    limits.metadataBytes = 32
    limits.customDataBytes = 32
    limits.tags = 2
    limits.tagCharacters = 4
    limits.attachments = 2
    limits.jsonDepth = 8
    limits.openThreads = 2
    limits.muidCharacters = 4
    limits.nameCharacters = 12
    limits.urlBytes = 24
    limits.descriptionBytes = 16
    limits.membersPerCall = 2
    limits.pageRows = 10
    return limits
  }()

  // MARK: The socket

  private static func socket(_ bytes: [UInt8], _ decoder: RequestDecoder, _ report: inout FuzzReport) {
    switch bytes.withUnsafeBytes({ decoder.decodeFrame($0) }) {
    case .malformed(let refusal): reject(refusal, id: nil, &report)
    case .request(let id, .failure(let refusal)): reject(refusal, id: id, &report)
    case .request(let id, .success(let operation)):
      report.accept()
      judge(operation, decoder.limits, &report)
      guard case .request(let again, .success(let same))? = rewritten(bytes, decoder) else {
        return report.check(false, "written anew, \(operation) is refused")
      }
      report.check(same == operation && again == id, "written anew, \(operation) is \(same)")
      checkReply(ReplyEncoder.success(id, .done), id, &report)
    }
    checkOtherDoor(bytes, decoder, &report)
  }

  private static func rewritten(_ bytes: [UInt8], _ decoder: RequestDecoder) -> FrameRequest? {
    let parser = JSONParser()
    guard case .success(let root) = bytes.withUnsafeBytes({ parser.parse($0, maximumDepth: 1_024) }) else { return nil }
    var writer = JSONWriter()
    writer.value(root)
    return writer.take().withUnsafeBytes { decoder.decodeFrame($0) }
  }

  /// A frame's `data` as the body of the same operation over HTTP.
  private static func checkOtherDoor(_ bytes: [UInt8], _ decoder: RequestDecoder, _ report: inout FuzzReport) {
    let parser = JSONParser()
    guard case .success(let root) = bytes.withUnsafeBytes({ parser.parse($0, maximumDepth: decoder.limits.jsonDepth) }),
      let op = root["op"]?.string, let definition = OperationTable.definition(named: op), definition.doors == .both,
      let route = definition.route, route.method != .get, !route.template.contains("{"), let data = root["data"],
      data.isObject
    else { return }
    var writer = JSONWriter()
    writer.value(data)
    let body = writer.take()
    guard body.count <= decoder.limits.bodyBytes,
      case .request(_, let overSocket) = bytes.withUnsafeBytes({ decoder.decodeFrame($0) })
    else { return }
    let overHTTP = body.withUnsafeBytes { decoder.decodeHTTP(definition, parameters: [], query: [], body: $0) }
    report.check(overHTTP == overSocket, "over the socket \(overSocket), over HTTP \(overHTTP)")
  }

  // MARK: HTTP

  private static let router = HTTPRouter()

  private static func http(_ bytes: [UInt8], _ decoder: RequestDecoder, _ report: inout FuzzReport) {
    let parts = bytes.split(separator: 10, maxSplits: 1, omittingEmptySubsequences: false)
    let line = String(decoding: parts[0], as: UTF8.self).split(separator: " ", maxSplits: 1)
    guard line.count == 2 else { return }
    let target = line[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let definition: OperationDefinition
    let parameters: [(name: String, value: String)]
    switch router.route(method: String(line[0]), path: String(target[0])) {
    case .notFound: return report.reject(404, "no such path")
    case .methodNotAllowed(let allowed):
      report.check(!allowed.isEmpty && !allowed.contains(String(line[0])), "\(allowed) are allowed")
      return report.reject(405, "another method")
    case .operation(let found, let values): (definition, parameters) = (found, values)
    }
    guard let query = HTTPQuery.parse(target.count > 1 ? String(target[1]) : "") else {
      return report.reject(400, "the query does not decode")
    }
    for pair in parameters + query {
      report.check(!pair.name.utf8.contains(0) && !pair.value.utf8.contains(0), "a NUL came through a URL")
    }
    let body = parts.count > 1 ? Array(parts[1]) : []
    let result = body.withUnsafeBytes {
      decoder.decodeHTTP(definition, parameters: parameters, query: query, body: $0)
    }
    switch result {
    case .failure(let refusal): reject(refusal, id: nil, &report)
    case .success(let operation):
      report.accept()
      judge(operation, decoder.limits, &report)
    }
  }

  // MARK: JSON

  /// What was read and written once reads and writes the same for ever.
  private static func checkJSON(_ bytes: [UInt8], _ depth: Int, _ report: inout FuzzReport) {
    guard let once = compact(bytes, depth) else { return }
    report.check(isUTF8(once), "a JSON value is not UTF-8")
    report.check(compact(once, depth) == once, "\(String(decoding: once, as: UTF8.self)) does not stay as it is")
  }

  private static func compact(_ bytes: [UInt8], _ depth: Int) -> [UInt8]? {
    let parser = JSONParser()
    guard case .success(let root) = bytes.withUnsafeBytes({ parser.parse($0, maximumDepth: depth) }) else { return nil }
    var writer = JSONWriter()
    writer.value(root)
    return writer.take()
  }

  // MARK: Judgements

  private static func checkUnharmed(_ decoder: RequestDecoder, _ report: inout FuzzReport) {
    let good = Array(#"{"id":"x","op":"ping","data":{}}"#.utf8)
    guard case .request(.text("x"), .success(.ping)) = good.withUnsafeBytes({ decoder.decodeFrame($0) }) else {
      return report.check(false, "the decoder does not read a ping any more")
    }
  }

  private static func reject(_ refusal: Refusal, id: RequestID?, _ report: inout FuzzReport) {
    report.reject(refusal.code.rawValue, OperationRejection.reason(refusal))
    checkReply(ReplyEncoder.failure(id, refusal), id, &report)
  }

  /// A reply is JSON that echoes the id exactly (L3).
  private static func checkReply(_ reply: [UInt8], _ id: RequestID?, _ report: inout FuzzReport) {
    let parser = JSONParser()
    guard case .success(let root) = reply.withUnsafeBytes({ parser.parse($0, maximumDepth: 32) }) else {
      return report.check(false, "the reply \(String(decoding: reply, as: UTF8.self)) is no JSON")
    }
    switch id {
    case nil: report.check(root["id"] == nil, "an id out of nothing")
    case .integer(let number): report.check(root["id"]?.integer == number, "the id \(number) is not echoed")
    case .text(let text): report.check(root["id"]?.string == text, "the id \(text) is not echoed")
    }
  }

  /// Encodes what the operation carries as its event or answer would, and looks at its texts. An operation without a text
  /// of its own has nothing to encode.
  private static func judge(_ operation: Operation, _ limits: Limits, _ report: inout FuzzReport) {
    switch operation {
    case .messageSend(let outgoing):
      judge(outgoing, limits, &report)
    case .groupsCreate(let new):
      let group = new.group(ownedBy: new.owner ?? .application)
      check([new.name, new.icon, new.description] + new.tags, limits.descriptionBytes * 4, &report)
      check(new.metadata, limits.metadataBytes, &report)
      checkReply(ReplyEncoder.success(.integer(1), .group(group)), .integer(1), &report)
    case .adminUsersCreate(let user):
      check(
        [user.name, user.avatar, user.link, user.role, user.statusMessage] + user.tags, limits.urlBytes * 4, &report)
      check(user.metadata, limits.metadataBytes, &report)
      checkReply(ReplyEncoder.success(.integer(1), .user(user)), .integer(1), &report)
    case .messageEdit(_, let edit):
      check([edit.text ?? "", edit.caption ?? ""], limits.textBytes, &report)
      check(edit.customData ?? .emptyObject, limits.customDataBytes, &report)
      check(edit.metadata ?? .emptyObject, limits.metadataBytes, &report)
      check(edit.tags ?? [], limits.tagCharacters * 4, &report)
    case .reactionAdd(_, let reaction), .reactionRemove(_, let reaction):
      check([reaction], limits.reactionCharacters * 4, &report)
    case .messagesList(let query):
      report.check((1...limits.pageRows).contains(query.limit), "a page of \(query.limit) rows")
    case .membersAdd(_, let members):
      report.check((1...limits.membersPerCall).contains(members.count), "\(members.count) members")
    case .typing(let notice):
      let event = EventEncoder.typing(notice, by: .application)
      report.check(compact(event, 2) == event, "a typing event is no compact JSON")
    default: break
    }
  }

  private static func judge(_ outgoing: OutgoingMessage, _ limits: Limits, _ report: inout FuzzReport) {
    check([outgoing.muid, outgoing.extras.subType ?? ""], limits.nameCharacters * 4, &report)
    check([outgoing.extras.conversationText ?? ""], limits.textBytes, &report)
    check(outgoing.extras.tags, limits.tagCharacters * 4, &report)
    report.check(outgoing.extras.tags.count <= limits.tags, "\(outgoing.extras.tags.count) tags")
    check(outgoing.extras.metadata, limits.metadataBytes, &report)
    switch outgoing.content {
    case .text(let text): check([text], limits.textBytes, &report)
    case .custom(let type, let data):
      check([type], limits.nameCharacters * 4, &report)
      check(data, limits.customDataBytes, &report)
    case .media(_, let attachments, let caption):
      check(
        [caption ?? ""] + attachments.flatMap { [$0.name, $0.fileExtension, $0.mimeType] }, limits.textBytes * 4,
        &report)
      check(attachments.map(\.url), limits.urlBytes, &report)
      report.check((1...limits.attachments).contains(attachments.count), "\(attachments.count) attachments")
    case .action, .deleted: report.check(false, "a client wrote \(outgoing.content)")
    }
    checkEvent(outgoing, &report)
  }

  /// The message as everybody would see it: JSON with the very texts that were sent (M4).
  private static func checkEvent(_ outgoing: OutgoingMessage, _ report: inout FuzzReport) {
    let sender = User(uid: .application, name: "app")
    let receiver: ReceiverProfile =
      switch outgoing.receiver {
      case .user(let uid): .user(User(uid: uid, name: "user"))
      case .group(let guid): .group(Group(guid: guid, name: "group", owner: .application))
      }
    let message = Message(
      id: MessageID(Seq.maximum.value), muid: outgoing.muid,
      conversation: Conversation(from: sender.uid, to: outgoing.receiver),
      sender: sender, receiver: receiver, content: outgoing.content, parent: outgoing.parent, extras: outgoing.extras,
      sentAt: .never, updatedAt: .never)
    var writer = JSONWriter()
    MessageEncoder.encode(message, into: &writer)
    let bytes = writer.take()
    let parser = JSONParser()
    guard case .success(let root) = bytes.withUnsafeBytes({ parser.parse($0, maximumDepth: 64) }) else {
      return report.check(false, "the event of \(outgoing) is no JSON")
    }
    report.check(root["muid"]?.string == outgoing.muid, "the muid \(outgoing.muid) is written otherwise")
    if case .text(let text) = outgoing.content {
      report.check(root["text"]?.string == text, "the text \(text) is written otherwise")
    }
  }

  private static func check(_ texts: [String], _ mostBytes: Int, _ report: inout FuzzReport) {
    for text in texts {
      report.check(text.utf8.count <= mostBytes && !text.utf8.contains(0), "a text of \(text.utf8.count) bytes")
    }
  }

  private static func check(_ json: JSONText, _ mostBytes: Int, _ report: inout FuzzReport) {
    let bytes = Array(json.text.utf8)
    report.check(bytes.count <= mostBytes && bytes.first == UInt8(ascii: "{"), "an object of \(bytes.count) bytes")
    report.check(compact(bytes, 1_024) == bytes, "the object \(json.text) is not stored as it is")
  }
}
