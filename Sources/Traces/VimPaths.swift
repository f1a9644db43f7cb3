/// How vim writes paths into its own files.
enum VimPaths {
  /// The absolute path; nil for one that is relative, or in another user's home.
  ///
  /// - Parameters:
  ///   - home: What `~` stands for.
  ///   - user: The name of the account, which vim writes behind `~` in swap files.
  static func absolute(
    _ path: some Collection<UInt8>, home: [UInt8], user: String
  ) -> [UInt8]? {
    if path.first == UInt8(ascii: "/") { return Array(path) }
    for beginning in ["~/", "~\(user)/"] where path.starts(with: beginning.utf8) {
      return home + Array("/".utf8) + path.dropFirst(beginning.utf8.count)
    }
    return nil
  }
}
