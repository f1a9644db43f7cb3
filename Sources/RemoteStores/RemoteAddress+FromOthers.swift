import SystemPackage

extension RemoteAddress {
  /// Refuses what must not come from somebody else, as an invitation's address does: what could run a program of their choice
  /// here, show a server of theirs what this machine keeps for another, or be read and changed on the way.
  ///
  /// - Parameter hasLogin: Whether the person says who they are there, so that nothing of this machine's own is sent.
  package func requireHarmless(hasLogin: Bool) throws(RemoteAddressError) {
    switch self {
    case .directory: return
    case .rclone:
      throw RemoteAddressError(
        message: "an rclone remote is set up on one machine, and is for nobody else to name")
    case .webDAV(let address):
      try Self.requireEncrypted(address.endpoint)
      try Self.requireOwnAuthorities(address.authorities)
    case .s3(let address):
      if let endpoint = address.endpoint { try Self.requireEncrypted(endpoint) }
      try Self.requireOwnAuthorities(address.authorities)
      if address.profile != nil {
        throw RemoteAddressError(
          message: "this address takes access keys from this machine's ~/.aws (profile=), which is "
            + "for nobody else to say")
      }
      // What is sent shows the key's id, a session's token, and a signature.
      if !hasLogin {
        throw RemoteAddressError(
          message:
            "whoever has the bucket \(address.bucket) would be shown an access key that this "
            + "machine keeps for other stores. Say which key is meant for it: --user KEY-ID")
      }
    }
  }

  private static func requireEncrypted(_ endpoint: Endpoint) throws(RemoteAddressError) {
    guard endpoint.scheme != "https" else { return }
    throw RemoteAddressError(
      message: "\(endpoint) is not encrypted (http): whoever is on the way there sees the login")
  }

  private static func requireOwnAuthorities(
    _ file: FilePath?
  ) throws(RemoteAddressError) {
    guard file != nil else { return }
    throw RemoteAddressError(
      message:
        "this address says which file of this machine vouches for the server (ca=), which is "
        + "for nobody else to say")
  }
}
