import BlobStore
import TestSupport
import Testing
import VaultErrors
import VaultModel

@testable import Vault
@testable import VaultSync

/// Somebody is let out of a member, and let in again later. Their device's head of before counts for nothing, and keeps
/// nothing from them.
@Suite struct LetInAgainTests {
  private let usb = MemoryStore()
  private let anna: SyncingAdult
  private let ben: SyncingAdult

  /// Anna has let Ben write, and has what he wrote.
  init() throws {
    (anna, ben) = try SyncingAdult.annaAndBen(at: usb, as: .editor, writing: [])
    try ben.write("Ben's")
    try ben.sync(usb)
    try anna.sync(usb)
  }

  @Test(arguments: [Role.viewer, .editor, .owner])
  func whoWroteBeforeGoesOn(role: Role) throws {
    try anna.vault.beginEpoch(of: #require(anna.emma), without: [ben.vault.person])
    for _ in 0..<2 {
      try anna.sync(usb)
      try ben.sync(usb)
    }
    #expect(ben.emma == nil)
    try anna.write("Meanwhile")
    try anna.vault.share(#require(anna.emma), with: ben.vault.person, role: role)
    for _ in 0..<2 {
      try anna.sync(usb)
      #expect(try ben.sync(usb).problems.filter { $0.severity > .note } == [])
    }
    #expect(try ben.titles == ["Ben's", "Meanwhile"])
    if role == .viewer { return }
    try ben.write("Again")
    for _ in 0..<2 {
      #expect(try ben.sync(usb).problems.filter { $0.severity > .note } == [])
      try anna.sync(usb)
    }
    #expect(try anna.titles == ["Ben's", "Meanwhile", "Again"])
    #expect(try ben.vault.check(readsData: true).problems.filter { $0.severity > .note } == [])
  }

  /// What they had saved and not sent when they were let out.
  @Test(arguments: [false, true])
  func whatWasNotSentGoesOn(hasHeard: Bool) throws {
    try ben.write("Unsent")
    try anna.vault.beginEpoch(of: #require(anna.emma), without: [ben.vault.person])
    try anna.sync(usb)
    if hasHeard { try ben.sync(usb) }
    try anna.write("Meanwhile")
    try anna.vault.share(#require(anna.emma), with: ben.vault.person, role: .editor)
    for _ in 0..<3 {
      try anna.sync(usb)
      #expect(try ben.sync(usb).problems.filter { $0.severity > .note } == [])
    }
    #expect(try ben.titles == ["Ben's", "Meanwhile", "Unsent"])
    #expect(try anna.titles == ["Ben's", "Meanwhile", "Unsent"])
    for adult in [anna, ben] {
      #expect(try adult.vault.check(readsData: true).problems.filter { $0.severity > .note } == [])
    }
  }

  /// Who may only read from now on is told what they had saved and not sent; it goes along once they may write again.
  @Test func whatWasNotSentIsToldToWhoMayOnlyRead() throws {
    try anna.write("Anna's")
    try anna.sync(usb)
    try ben.sync(usb)
    try ben.write("Unsent")
    try ben.delete("Anna's")
    try anna.vault.beginEpoch(of: #require(anna.emma), without: [ben.vault.person])
    try anna.sync(usb)
    try anna.vault.share(#require(anna.emma), with: ben.vault.person, role: .viewer)
    for _ in 0..<3 {
      try anna.sync(usb)
      #expect(try ben.sync(usb).problems.filter { $0.severity > .note } == [])
    }
    #expect(try anna.titles == ["Anna's", "Ben's"])
    #expect(try ben.titles == ["Anna's", "Ben's"])
    let opened = try ben.opened()
    // Nothing says to remove what is held back.
    #expect(try opened.check(readsData: false).unusedCount == 0)
    let told = opened.problems.filter { $0.kind == .heldBack }
    #expect(told.count == 1)
    #expect(
      told.allSatisfy {
        $0.reason.contains("“Anna's” (deleted), “Unsent”") && $0.severity == .note
      })
    try anna.vault.share(#require(anna.emma), with: ben.vault.person, role: .editor)
    for _ in 0..<3 {
      try anna.sync(usb)
      #expect(try ben.sync(usb).problems.filter { $0.severity > .note } == [])
    }
    #expect(try anna.titles == ["Ben's", "Unsent"])
    #expect(try ben.opened().problems.filter { $0.kind == .heldBack } == [])
  }
}
