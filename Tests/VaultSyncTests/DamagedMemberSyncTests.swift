import BlobStore
import TestSupport
import Testing
import VaultModel

@testable import Vault
@testable import VaultSync

/// A member that is damaged here, and a device that was removed: its keys of all other members are live until these have
/// new ones.
@Suite struct DamagedMemberSyncTests {
  @Test func aSyncChangesTheKeysOfAllOthers() throws {
    let family = try Family(count: 2)
    let (desk, lost) = (family[0], family[1])
    let usb = MemoryStore()
    let whole = try desk.vault.addMember(named: #require(FileName("zz"))).id
    try desk.sync(usb)
    try lost.sync(usb)
    try desk.sync(usb)
    let damaged = try desk.emma.id
    try desk.store.remove(BlobPath(VaultPath.head(damaged, desk.vault.device).string))
    try desk.stateStore.remove(BlobPath("heads/\(damaged.hex)"))
    try desk.reopen()
    try #require(desk.vault.member(damaged)?.damageReason != nil)
    try desk.vault.beginGeneration(removing: [lost.vault.device], words: Family.words.words)
    // What is lost here is not to come back first.
    let report = try desk.sync(usb) { $0.direction = .push }
    #expect(report.revocations.map(\.member) == [whole])
    #expect(report.problems.count { $0.kind == .epoch } == 1)
    let epoch = try #require(desk.vault.member(whole)).epoch
    #expect(usb.blobs[BlobPath(VaultPath.link(whole, epoch).string)] != nil)
    #expect(lost.vault.member(whole)?.epoch != epoch)
  }
}
