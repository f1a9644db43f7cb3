/// What a store asks for: an access key and its secret, or a user's name and password. Never printed.
package struct RemoteCredentials: Hashable, Sendable, CustomStringConvertible,
  CustomDebugStringConvertible, CustomReflectable
{
  package var user: String
  package var secret: String
  /// Goes with temporary access keys of S3.
  package var sessionToken: String?

  package init(user: String, secret: String, sessionToken: String? = nil) {
    self.user = user
    self.secret = secret
    self.sessionToken = sessionToken
  }

  package var description: String { "credentials of \(user)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
