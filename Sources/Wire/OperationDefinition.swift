import Chat

/// One operation as both doors, the documents and the clients know it.
package final class OperationDefinition: Sendable {
  package enum Method: String, Hashable, Sendable, CaseIterable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
  }

  /// An HTTP method and a path template whose `{…}` segments carry the field of that name.
  package struct Route: Hashable, Sendable {
    package let method: Method
    package let template: String
    package let segments: [Substring]

    package init(_ method: Method, _ template: String) {
      self.method = method
      self.template = template
      segments = template.split(separator: "/")
    }
  }

  package enum Doors: Hashable, Sendable { case socket, http, both }

  /// Whose credentials the operation takes.
  package enum Caller: Hashable, Sendable {
    case anyone
    /// A user's token.
    case user
    /// A user's token, or a `fullAccess` key with or without `onBehalfOf` (A2).
    case userOrApplication
    /// A `fullAccess` key.
    case fullAccessKey
    /// A `fullAccess` or an `authOnly` key.
    case anyKey
  }

  package struct Field: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
      case text, boolean, integer, identifier, messageID, object
      case choice([String])
      case texts, integers, objects
    }
    package let name: String
    package let kind: Kind
    package let isRequired: Bool
    package let description: String
  }

  package let name: String
  package let summary: String
  /// Nil when the operation lives on the socket alone.
  package let route: Route?
  package let doors: Doors
  package let caller: Caller
  package let fields: [Field]
  let decode: @Sendable (borrowing Fields, Limits) throws(Refusal) -> Operation

  init(
    _ name: String, _ summary: String, route: Route? = nil, doors: Doors = .both, caller: Caller = .userOrApplication,
    fields: [Field] = [], decode: @escaping @Sendable (borrowing Fields, Limits) throws(Refusal) -> Operation
  ) {
    precondition((route == nil) == (doors == .socket), "An operation has a route unless it lives on the socket alone.")
    self.name = name
    self.summary = summary
    self.route = route
    self.doors = doors
    self.caller = caller
    self.fields = fields
    self.decode = decode
  }
}

extension OperationDefinition.Field {
  static func required(_ name: String, _ kind: Kind, _ description: String) -> Self {
    Self(name: name, kind: kind, isRequired: true, description: description)
  }

  static func optional(_ name: String, _ kind: Kind, _ description: String) -> Self {
    Self(name: name, kind: kind, isRequired: false, description: description)
  }
}
