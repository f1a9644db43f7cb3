extension RemoteAddress {
  /// Refuses what must not come from somebody else, as an invitation's address does: what could run a program of their choice
  /// here, or show a server of theirs what this machine keeps for another.
  ///
  /// - Parameter hasLogin: Whether the person says who they are there, so that nothing of this machine's own is sent.
  package func requireHarmless(hasLogin: Bool) throws(RemoteAddressError) {
    switch self {
    case .directory, .webDAV: return
    case .rclone(let remote):
      // Behind a name, or instead of one, rclone takes settings, and some name commands: `:webdav,bearer_token_command=…:`
      let name = remote.prefix { $0 != ":" }
      guard !name.isEmpty, !name.contains(",") else {
        throw RemoteAddressError(
          message: "this address brings settings for rclone along, which can run programs on this "
            + "machine. If you trust whoever wrote it: make the remote with rclone config, and add "
            + "it as rclone:NAME:PATH")
      }
    case .s3(let address):
      if address.profile != nil {
        throw RemoteAddressError(
          message: "this address takes access keys from this machine's ~/.aws (profile=), which is "
            + "for nobody else to say")
      }
      // What is sent shows the key's id, a session's token, and a signature.
      if let endpoint = address.endpoint, !hasLogin {
        throw RemoteAddressError(
          message: "\(endpoint) would be shown the access key that this machine keeps for other "
            + "stores. Say which key is meant for it: --user KEY-ID")
      }
    }
  }
}
