import VaultModel

/// An object that content names. One that was put and that no commit has yet stays for as long as something holds such
/// a value of it.
struct StoredObject: Sendable {
  let digest: ContentDigest
  /// Nil when a commit has the object.
  private let use: (any AnyObject & Sendable)?

  /// An object that a commit has.
  init(_ digest: ContentDigest) {
    self.digest = digest
    use = nil
  }

  /// An object that stays for as long as `use`.
  init(_ digest: ContentDigest, heldBy use: any AnyObject & Sendable) {
    self.digest = digest
    self.use = use
  }
}
