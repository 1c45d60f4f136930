import Glibc
import JSON
import LoadModel
import Workers

/// The people of a run, made with the admin key; every run makes its own.
struct Accounts {
  struct Person: Sendable {
    var uid: String
    var token: String
  }

  private static let threads = 8
  private static let membersPerCall = 100

  /// Those who listen, then those who send.
  var people: [Person]
  /// The group of all of them; empty when the scenario needs none.
  var group = ""

  /// - Parameters:
  ///   - key: the admin key.
  ///   - wantsGroup: puts everybody into one private group.
  static func make(_ count: Int, target: Target, key: String, wantsGroup: Bool) throws(LoadFailure) -> Accounts {
    let run = hexadecimal(UInt64.random(in: 0...UInt64.max))
    let made = Guarded<(next: Int, people: [Person?], failure: String?)>(
      (0, Array(repeating: nil, count: count), nil))
    let threads = (0..<min(threads, count)).map { number in
      WorkerThread.start(name: "load-setup-\(number)") {
        do throws(LoadFailure) {
          let client = try AdminClient(target)
          while let index = take(made, count) {
            let person = try makePerson("load-\(run)-\(index)", client, key)
            made.withLock { $0.people[index] = person }
          }
        } catch {
          made.withLock { $0.failure = $0.failure ?? error.sentence }
        }
      }
    }
    for thread in threads { thread.join() }
    let (people, failure) = made.withLock { ($0.people.compactMap(\.self), $0.failure) }
    if let failure { throw LoadFailure("the accounts could not be made: \(failure)") }
    var accounts = Accounts(people: people)
    if wantsGroup { try accounts.makeGroup("load-\(run)", target) }
    return accounts
  }

  /// The next person to make; nil when all are taken or one failed.
  private static func take(_ made: Guarded<(next: Int, people: [Person?], failure: String?)>, _ count: Int) -> Int? {
    made.withLock { state in
      guard state.failure == nil, state.next < count else { return nil }
      defer { state.next += 1 }
      return state.next
    }
  }

  private static func hexadecimal(_ value: UInt64) -> String { String(value, radix: 16) }

  private static func makePerson(_ uid: String, _ client: AdminClient, _ key: String) throws(LoadFailure) -> Person {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("uid")
    writer.string(uid)
    writer.key("name")
    writer.string(uid)
    writer.endObject()
    let body = writer.take()
    _ = try client.call("POST", "/v1/admin/users", ("apikey", key), body)
    let answer = try client.call("POST", "/v1/admin/tokens", ("apikey", key), body)
    let parser = JSONParser()
    let token = answer.withUnsafeBytes { bytes -> String? in
      guard case .success(let root) = parser.parse(bytes, maximumDepth: 16) else { return nil }
      return root["data"]?["token"]?.string
    }
    guard let token else { throw LoadFailure("the server minted no token") }
    return Person(uid: uid, token: token)
  }

  /// The last person, a sender, owns it.
  private mutating func makeGroup(_ guid: String, _ target: Target) throws(LoadFailure) {
    guard let owner = people.last else { return }
    let client = try AdminClient(target)
    let credential = (name: "Authorization", value: "Bearer \(owner.token)")
    var writer = JSONWriter()
    writer.beginObject()
    for (name, value) in [("guid", guid), ("name", guid), ("type", "private")] {
      writer.key(name)
      writer.string(value)
    }
    writer.endObject()
    _ = try client.call("POST", "/v1/groups", credential, writer.take())
    var rest = people.dropLast()
    while !rest.isEmpty {
      writer.beginObject()
      writer.key("members")
      writer.beginArray()
      for person in rest.prefix(Self.membersPerCall) {
        writer.beginObject()
        writer.key("uid")
        writer.string(person.uid)
        writer.endObject()
      }
      writer.endArray()
      writer.endObject()
      _ = try client.call("POST", "/v1/groups/\(guid)/members", credential, writer.take())
      rest = rest.dropFirst(Self.membersPerCall)
    }
    group = guid
  }
}
