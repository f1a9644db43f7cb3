import Threads
import Vault
import VaultCrypto
import VaultErrors
import VaultFiles
import VaultModel
import VaultPlain

/// A file that somebody drops on the page, taken into the vault as it comes: nothing of it is plain on a disk.
///
/// What breaks off leaves chunks that no commit names; they go when the vault is closed.
final class Upload: Sendable {
  /// There is a file of this name.
  struct NameTaken: Error { let name: String }
  /// A file cannot be called so here.
  struct BadName: Error {}
  /// It ended before all of it was there.
  struct Cut: Error {}

  private let address: RecordAddress
  private let name: FileName
  private let content: Guarded<ContentImport>

  /// - Throws: `NameTaken`; `notFound`; why nothing of the member may be changed.
  static func begin(
    _ name: FileName, to address: RecordAddress, in open: OpenVault
  ) throws -> Upload {
    Upload(name, to: address, of: try Self.member(name, address, open))
  }

  private init(_ name: FileName, to address: RecordAddress, of member: Member) {
    (self.address, self.name) = (address, name)
    content = Guarded(ContentImport(into: member, named: name))
  }

  func add(_ bytes: UnsafeRawBufferPointer) throws {
    try content.withLock { try $0.add(bytes) }
  }

  /// Attaches it.
  ///
  /// - Parameter size: What was promised; nil where nothing was.
  /// - Throws: `Cut`; what a commit throws.
  func finish(size: UInt64?, in open: OpenVault) throws {
    var item = Item(
      name: name, file: .random(), mode: FileMode.regular | 0o600, modified: .now,
      mediaType: MediaType.of(name, mode: FileMode.regular), time: .zero)
    (item.size, item.content) = try content.withLock { try $0.finish() }
    guard size ?? item.size == item.size else { throw Cut() }
    // Somebody else may have been faster.
    let member = try Self.member(name, address, open)
    var edit = RecordEdit(record: address.record, items: [name: item])
    // What comes under the name until the commit is kept as a conflict.
    edit.seen[name] = .nothing
    try open.commit([edit], to: member)
    open.vault.audit.note(.write, member: member.id, record: address.record, name: name)
  }

  private static func member(
    _ name: FileName, _ address: RecordAddress, _ open: OpenVault
  ) throws -> Member {
    let shown = try ShownRecord(address, in: open.vault)
    if let refusal = shown.member.refusal { throw refusal }
    guard !shown.entry.isDeleted else { throw VaultError.notFound(what: "the record") }
    let isTaken = try shown.member.hasFile(named: name, in: address.record)
    guard !isTaken, shown.member.child(named: name, of: address.record) == nil else {
      throw NameTaken(name: name.string)
    }
    return shown.member
  }
}
