import BlobStore
import MachineState
import TestSupport
import Testing
import Threads
import VaultCrypto
import VaultErrors
import VaultModel

@testable import Vault

/// An editor's head names heads of other devices that never were: whoever takes it for true does not follow the real
/// ones. An owner's head is read before it, so the lie is told of the liar.
@Suite struct HearsayTests {
  /// Where the lie stands, and which counter the made-up head has beside the newest real one.
  enum Lie: CaseIterable {
    case seen, heard, seenOfAnOlderOne

    fileprivate func apply(_ real: HeadMark, of device: DeviceID, to head: inout Head) {
      let counter = self == .seenOfAnOlderOne ? real.counter - 1 : real.counter
      let lie = Head.Cover(device: device, counter: counter, headHash: Digest.sha256([7]))
      head.cover.removeAll { $0.device == device }
      if self == .heard {
        head.heard = [lie]
      } else {
        head.cover.append(lie)
        head.cover.sort { $0.device < $1.device }
      }
    }
  }

  private let adults: Adults

  init() throws {
    adults = try Adults()
    try adults.anna.write("Visit")
    try adults.share(with: adults.ben, .editor)
  }

  /// Ben's client is changed so that it writes what he likes.
  private func lie(
    _ lie: Lie, about mark: HeadMark, of device: DeviceID, _ change: (inout Head) -> Void = { _ in }
  ) throws {
    let member = try #require(adults.ben.emma)
    try member.heads.withLock { heads in
      var writer = CommitWriter(member: member, heads: heads)
      try writer.writeHead(.checkpoint) { head in
        lie.apply(mark, of: device, to: &head)
        change(&head)
      }
    }
  }

  private func mark(of vault: Vault) throws -> HeadMark {
    let member = try #require(vault.members.first)
    return try member.heads.withLock { try #require($0.loaded[vault.device]?.mark) }
  }

  /// Carla gets all that the others have at once.
  private func carryAllToCarla(_ others: [MemoryStore]) throws {
    for store in others { try Replicas.carry(from: store, to: adults.carla.store) }
    try adults.carry(from: adults.anna, to: adults.carla)
  }

  private func expect(_ titles: Set<String>, follows device: DeviceID) throws {
    for isFresh in [false, true] {
      if isFresh { try adults.carla.reopen() }
      let emma = try #require(adults.carla.emma)
      #expect(try adults.carla.titles == titles)
      let apart = emma.heads.withLock { ($0.loaded[device] == nil, $0.lines.apart) }
      #expect(!apart.0 && apart.1 == [adults.ben.vault.device], "fresh: \(isFresh)")
    }
    let path = VaultPath.head(try #require(adults.carla.emma).id, adults.ben.vault.device)
    #expect(adults.carla.problems(at: path).map(\.kind) == [.fork])
  }

  @Test(arguments: Lie.allCases, [Role.viewer, .editor])
  func aNewcomerFollowsTheOwner(how: Lie, role: Role) throws {
    let anna = adults.anna.vault
    try anna.share(#require(adults.anna.emma), with: adults.carla.id, role: role)
    try adults.anna.write("Vaccine")
    try adults.anna.write("Allergy")
    let mark = try mark(of: anna)
    try lie(how, about: mark, of: anna.device)
    try carryAllToCarla([adults.ben.store, adults.anna.store])
    try expect(["Visit", "Vaccine", "Allergy"], follows: anna.device)
  }

  /// The lie is of a head that the owner has not written yet, and is there before it.
  @Test(arguments: [Lie.seen, .heard], [false, true])
  func aLieThatComesFirstKeepsNoOwnersHeadAway(how: Lie, reopens: Bool) throws {
    let anna = adults.anna.vault
    try adults.share(with: adults.carla, .editor)
    try adults.anna.write("Vaccine")
    try carryAllToCarla([adults.ben.store, adults.anna.store])
    let mark = try mark(of: anna)
    try lie(how, about: HeadMark(counter: mark.counter + 1, hash: .zero), of: anna.device)
    try Replicas.carry(from: adults.ben.store, to: adults.carla.store)
    if reopens {
      try adults.carla.reopen()
    } else {
      _ = try adults.carla.emma?.refresh()
    }
    try adults.anna.write("Allergy")
    #expect(try self.mark(of: anna).counter == mark.counter + 1)
    try carryAllToCarla([adults.anna.store])
    _ = try adults.carla.emma?.refresh()
    try expect(["Visit", "Vaccine", "Allergy"], follows: anna.device)
  }

  /// What somebody says they have taken over.
  enum Claim: CaseIterable {
    case theRealHead
    /// One with its counter that never was.
    case anotherOne
    case aLaterOne

    fileprivate func cover(_ late: LoadedHead) -> Head.Cover {
      Head.Cover(
        device: late.device, counter: self == .aLaterOne ? late.counter + 3 : late.counter,
        headHash: self == .theRealHead ? late.hash : .zero)
    }
  }

  /// Ben has left out what it brings.
  ///
  /// - Parameter isTold: Whether he says that somebody else had taken it over, and he them.
  private func benCallsCarlasHeadTakenOver(
    isTold: Bool, claim: Claim = .theRealHead
  ) throws {
    let (member, carlas) = (try #require(adults.ben.emma), try #require(adults.carla.emma))
    let device = adults.carla.vault.device
    let late = try carlas.heads.withLock { try #require($0.loaded[device]) }
    let taken = claim.cover(late)
    try member.heads.withLock { heads in
      var writer = CommitWriter(member: member, heads: heads)
      try writer.writeHead(.checkpoint) { head in
        if isTold {
          head.takenOver = [taken]
        } else {
          head.cover.append(taken)
          head.cover.sort { $0.device < $1.device }
        }
      }
    }
  }

  /// An editor says that they have taken over what somebody wrote under the key before, and have left it out, and not all of it
  /// is here: nobody reads that head any more, and a program that had read it shows what one shows that opens the vault now.
  ///
  /// - Parameter isTold: Whether they say that somebody else had taken it over, and they them.
  @Test(arguments: [false, true])
  func whoHadReadWhatIsLeftOutSeesWhatOthersSee(isTold: Bool) throws {
    try adults.share(with: adults.carla, .editor)
    let before = Set(adults.carla.store.blobs.keys)
    try adults.carla.write("Late")
    try adults.anna.vault.beginEpoch(of: #require(adults.anna.emma), without: [])
    try adults.carry(from: adults.anna, to: adults.ben)
    // Anna's program reads, and writes nothing.
    let anna = try #require(adults.anna.emma)
    try Replicas.carry(from: adults.carla.store, to: adults.anna.store)
    _ = try anna.refresh()
    #expect(try adults.anna.titles == ["Visit", "Late"])
    try benCallsCarlasHeadTakenOver(isTold: isTold)
    for path in adults.carla.store.blobs.keys where !before.contains(path) {
      if case .object? = VaultPath(parsing: path.string) { try adults.anna.store.remove(path) }
    }
    try Replicas.carry(from: adults.ben.store, to: adults.anna.store)
    _ = try anna.refresh()
    let live = try adults.anna.titles
    try adults.anna.reopen()
    #expect(try adults.anna.titles == live)
  }

  /// As long as it is here whole it is not the editor's to leave out: who has it goes on showing it, and their next head has it,
  /// for everybody.
  ///
  /// - Parameter how: `reads` says whether Anna's program has read their head before the lie comes.
  @Test(arguments: [(false, false), (false, true), (true, false), (true, true)], Claim.allCases)
  func whatSomebodyWroteIsNotLeftOut(how: (isTold: Bool, reads: Bool), claim: Claim) throws {
    try leaveOut(by: .owner, how, claim)
    try Self().leaveOut(by: .editor, how, claim)
  }

  private func leaveOut(
    by role: Role, _ how: (isTold: Bool, reads: Bool), _ claim: Claim
  ) throws {
    try adults.share(with: adults.carla, role)
    try adults.carla.write("Late")
    try adults.anna.vault.beginEpoch(of: #require(adults.anna.emma), without: [])
    try adults.carry(from: adults.anna, to: adults.ben)
    let anna = try #require(adults.anna.emma)
    try Replicas.carry(from: adults.carla.store, to: adults.anna.store)
    if how.reads { _ = try anna.refresh() }
    try benCallsCarlasHeadTakenOver(isTold: how.isTold, claim: claim)
    try Replicas.carry(from: adults.ben.store, to: adults.anna.store)
    _ = try anna.refresh()
    #expect(try adults.anna.titles == ["Visit", "Late"])
    try adults.anna.reopen()
    #expect(try adults.anna.titles == ["Visit", "Late"])
    try adults.anna.write("Later")
    // Ben has never read what Carla wrote. Who has made up a head of hers follows nobody who names the real one.
    for reader in claim == .anotherOne ? [adults.carla] : [adults.ben, adults.carla] {
      try adults.carry(from: adults.anna, to: reader)
      #expect(try reader.titles == ["Visit", "Late", "Later"])
    }
  }

  /// Whoever takes over a line is read before others, and may say so of a device of their own.
  @Test(arguments: Lie.allCases)
  func whoTakesOverALineIsNoMoreBelieved(how: Lie) throws {
    let anna = adults.anna.vault
    try anna.share(#require(adults.anna.emma), with: adults.carla.id, role: .editor)
    try adults.anna.write("Vaccine")
    try adults.anna.write("Allergy")
    let mark = try mark(of: anna)
    let nobody = try #require(DeviceID([UInt8](repeating: 9, count: DeviceID.byteCount)))
    try lie(how, about: mark, of: anna.device) {
      $0.branches = [Head.Branch(device: nobody, above: 0)]
    }
    try carryAllToCarla([adults.ben.store, adults.anna.store])
    try expect(["Visit", "Vaccine", "Allergy"], follows: anna.device)
  }

  /// When the lie about an owner's new machine comes.
  enum Arrival: CaseIterable {
    case withItsHead, before
    /// And whoever hears it has written since.
    case beforeAWrite
  }

  /// The first head of an owner's new machine comes with the lie, or after it, to somebody who follows everyone else.
  @Test(arguments: [Lie.seen, .heard], Arrival.allCases)
  func anOwnersNewMachineIsFollowed(how: Lie, arrival: Arrival) throws {
    try adults.share(with: adults.carla, .editor)
    let (store, state) = (adults.anna.store.imageAfterKill(), StateFolder(store: MemoryStore()))
    let id = adults.anna.vault.id
    let key = try Vault.recover(
      VaultCopy(id: id, store: store, state: state, clock: .system),
      words: RecoveryWords(parsing: adults.anna.words.joined(separator: " ")),
      device: Adults.newDevice(of: "Anna"), password: Adults.password)
    let tablet = try Vault.open(
      VaultCopy(id: id, store: store, state: state, clock: .system), key: key,
      options: OpenOptions())
    _ = try #require(tablet.members.first).commit([.newRecord("By the tablet", note: "a note")])
    let mark = try mark(of: tablet)
    // Who it is has come to everyone before.
    try Replicas.carry(from: store, to: adults.ben.store)
    try adults.ben.store.remove(
      BlobPath(VaultPath.head(#require(adults.ben.emma).id, tablet.device).string))
    try adults.ben.reopen()
    try lie(how, about: mark, of: tablet.device)
    var titles: Set = ["Visit", "By the tablet"]
    if arrival != .withItsHead {
      try Replicas.carry(from: adults.ben.store, to: adults.carla.store)
      _ = try adults.carla.emma?.refresh()
      if arrival == .beforeAWrite {
        try adults.carla.write("By Carla")
        titles.insert("By Carla")
      }
    }
    try carryAllToCarla([adults.ben.store, store])
    _ = try adults.carla.emma?.refresh()
    try expect(titles, follows: tablet.device)
  }
}
