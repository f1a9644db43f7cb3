import BlobStore
import MachineState
import VaultErrors
import VaultModel
import VaultTrust

/// The root and the links of a member that this machine has seen count, and the wraps that it has opened.
///
/// It only grows, but for what a person settles. What it holds is judged with what the vault's folder has, is not verified
/// again, and is put back into a folder that lacks it: so a backup that is put back takes back no removal. Docs/Format.md,
/// "This machine's state".
package struct LinkMemory: Hashable, Sendable {
  private var remembered: RememberedFiles

  package var files: [VaultPath: [UInt8]] { remembered.files }
  /// Links that ended a tenure and counted here.
  var ends: Set<StatementID> { remembered.ends }
  /// Links that would end one as well, and of which a person has said that another one does.
  var refusedEnds: Set<StatementID> { remembered.refusedEnds }

  /// Links whose signatures were verified before.
  package var verified: Set<StatementID> {
    Set(
      files.keys.compactMap { path in
        if case .link(_, let id) = path { id } else { nil }
      })
  }

  package init() { remembered = RememberedFiles() }

  /// Of links that do not count any more so many bytes are kept: whoever was taken out may write them without end.
  static let formerLimit = 16 << 20

  /// Takes what lasts of a member's links, and the wraps that were opened.
  mutating func note(
    _ links: MemberLinks, wraps: [VaultPath: [UInt8]], formerLimit: Int = Self.formerLimit
  ) {
    let counting = links.history.counting
    var former: [VaultPath: [UInt8]] = [:]
    for (path, bytes) in links.files {
      if case .link(_, let id) = path, !counting.contains(id) {
        if links.lasting.contains(id) { former[path] = bytes }
      } else {
        remembered.files[path] = bytes
      }
    }
    var room = formerLimit
    for path in former.keys where remembered.files[path] != nil { room -= former[path]?.count ?? 0 }
    for (path, bytes) in former.sorted(by: { $0.key.string < $1.key.string })
    where remembered.files[path] == nil && bytes.count <= room {
      remembered.files[path] = bytes
      room -= bytes.count
    }
    remembered.files.merge(wraps) { _, new in new }
    // With a link that could not be read just now another end may be the true one, or there may be several.
    if !links.unread.isEmpty { return }
    // Another process may have judged by what was remembered before a person decided.
    remembered.ends.formUnion(links.history.ends.filter { !remembered.refusedEnds.contains($0) })
  }

  /// A person has said which of the links that may end a tenure does.
  mutating func settle(on end: StatementID, among ends: Set<StatementID>) {
    remembered.ends.subtract(ends)
    remembered.refusedEnds.formUnion(ends)
    remembered.ends.insert(end)
    remembered.refusedEnds.remove(end)
  }

  func encoded() -> [UInt8] { remembered.encoded() }

  init(decoding file: [UInt8]) throws(ModelError) {
    remembered = try RememberedFiles(decoding: file, what: "memory of links")
  }
}

extension StateFolder {
  private static func path(of member: MemberID) -> BlobPath { BlobPath("links/\(member.hex)") }

  /// The members of which this machine has seen links count.
  package func rememberedMembers() throws(VaultError) -> Set<MemberID> {
    Set(try storing(store.list("links")).compactMap { MemberID(hex: $0.name) })
  }

  /// What this machine has seen count of a member's links; empty for one that it never opened.
  ///
  /// - Throws: `damaged` when it is not as it was written; without it a removal could be taken back.
  package func loadLinkMemory(of member: MemberID) throws(VaultError) -> LinkMemory {
    guard let file = try readIfThere(Self.path(of: member), limit: .max) else {
      return LinkMemory()
    }
    do { return try LinkMemory(decoding: file) } catch {
      throw .damagedMemory(error, path: describe(Self.path(of: member)))
    }
  }

  /// Differs after what is remembered of a member's links has changed; nil where nothing is.
  package func linkMemoryMark(of member: MemberID) throws(VaultError) -> UInt64? {
    let path = Self.path(of: member)
    guard let folder = path.parent else { return nil }
    let entries = try storing(store.list(folder))
    return entries.first { $0.name == path.name }?.fingerprint
  }

  /// Remembers what a person has decided, on disk when this returns.
  package func settle(
    _ member: MemberID, on end: StatementID, among ends: Set<StatementID>
  ) throws(VaultError) {
    try change(member) { $0.settle(on: end, among: ends) }
  }

  private func change(
    _ member: MemberID, _ body: (inout LinkMemory) -> Void
  ) throws(VaultError) {
    try withLock("links-lock") { () throws(VaultError) in
      var memory = try loadLinkMemory(of: member)
      body(&memory)
      let bytes = memory.encoded()
      try storing(store.replace(Self.path(of: member), bytes, durably: true))
    }
  }

  /// Adds to what this machine remembers of a member's links; on disk when this returns.
  package func remember(
    _ links: MemberLinks, wraps: [VaultPath: [UInt8]]
  ) throws(VaultError) {
    // Seldom is there anything new, and then no lock is needed to see that.
    let before = try loadLinkMemory(of: links.member)
    var memory = before
    memory.note(links, wraps: wraps)
    guard memory != before else { return }
    try change(links.member) { $0.note(links, wraps: wraps) }
  }
}
