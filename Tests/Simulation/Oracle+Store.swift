import Chat
import Store

/// What must be found on disk (M1, M8).
extension Oracle {
  /// Every acknowledged message is there as it was acknowledged, and nothing else happened.
  func judgeStore(_ node: SimulatedNode) throws {
    if node.store.epoch != epoch { trace.fail("R11: the store came back under another epoch") }
    try node.look { reader in
      let head = try reader.head().value
      if head != model.head { trace.fail("M8: the store is at \(head), the log at \(model.head)") }
      for (id, text) in acknowledged.sorted(by: { $0.key < $1.key }) {
        guard case .success(let fetched) = try reader.message(MessageID(id), actor: .application) else {
          trace.fail("M8: message \(id) was acknowledged, and is not there")
          continue
        }
        let known = model.versions[id] ?? []
        let content: Content =
          known.last?.isDeleted == true ? .deleted(type: "text", category: .message) : .text(known.last?.text ?? "")
        if known.first?.text != text || fetched.message.content != content {
          trace.fail("M8, M11: message \(id) was acknowledged as \(text.prefix(24)), and is \(fetched.message.content)")
        }
      }
    }
    acknowledged = [:]
  }
}
