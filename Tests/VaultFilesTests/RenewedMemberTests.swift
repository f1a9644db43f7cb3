import Dispatch
import Synchronization
import TestSupport
import Testing
import Threads
import VaultModel

@testable import Vault
@testable import VaultFiles

/// Names of members in a tree that is in use, when members are made anew, taken away, or accepted by another process.
@Suite struct RenewedMemberTests {
  private let mounted: MountedVault
  private let ben: MountedVault.OtherDevice
  /// Ben's mount, and another process of his.
  private let tree: FileTree
  private let process: Vault

  /// Emma is Anna's, and Ben an owner who came later.
  init() throws {
    mounted = try MountedVault()
    try mounted.tree.mkdir("Emma")
    try mounted.tree.mkdir("Emma/visit")
    try mounted.tree.write("Emma/visit/file", "text")
    try mounted.tree.commitNow()
    ben = try mounted.inviteAnotherPerson()
    process = try ben.open()
    try mounted.vault.share(
      #require(mounted.vault.members.first), with: process.person, role: .owner)
    _ = try process.refreshMembers()
    tree = FileTree.load(vault: try ben.open(), options: mounted.options)
    try #require(tree.list("") == ["Emma"])
  }

  /// What was taken away shows until the look after the one that meets the link.
  private func look() { for _ in 0..<2 { tree.refresh() } }

  private func emma() throws -> Member { try #require(process.members.first) }

  /// The name of a new member is looked up in files.
  @Test func nobodyWaitsForTheNameOfANewMember() throws {
    let tree = mounted.tree
    try mounted.mountOnAnotherDevice().mkdir("Liam")
    let (hasBegun, isAnswered) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let wasInTime = Mutex(false)
    mounted.vault.memberNames.told.withLock { told in
      told = { _ in
        hasBegun.signal()
        let isInTime = isAnswered.wait(timeout: .now() + 120) == .success
        wasInTime.withLock { $0 = isInTime }
        return [:]
      }
    }
    try Threads.run(2) { number in
      if number == 0 { return tree.refresh() }
      try #require(hasBegun.wait(timeout: .now() + 60) == .success)
      #expect(try tree.list("") == ["Emma"])
      isAnswered.signal()
    }
    #expect(wasInTime.withLock { $0 })
    #expect(try tree.list("") == ["Emma", "Liam"])
  }

  /// The names for which the cache above is told to look again.
  private func renewed(_ body: () throws -> Void) throws -> Set<FileName> {
    let names = Mutex<Set<FileName>>([])
    mounted.tree.setInvalidationHandler { one in
      guard case .entry(FileTree.root, let name) = one else { return }
      names.withLock { _ = $0.insert(name) }
    }
    try body()
    return names.withLock { $0 }
  }

  /// Whoever makes a member takes in those as well that a sync in this process has opened.
  @Test func aMemberThatComesWithOneThatIsMadeIsTold() throws {
    let tree = mounted.tree
    try mounted.mountOnAnotherDevice().mkdir("Liam")
    let names = try renewed {
      _ = try mounted.vault.refreshMembers()
      try tree.mkdir("Noah")
      tree.refresh()
    }
    #expect(try tree.list("") == ["Emma", "Liam", "Noah"])
    let liam = try tree.name("Liam")
    #expect(names == [liam])
  }

  /// Whoever renames a member names all of them, also one that others have renamed, which is just taken in.
  @Test func aRenameThatIsTakenInWithOursIsTold() throws {
    let tree = mounted.tree
    try tree.mkdir("Liam")
    try tree.commitNow()
    let emma = try #require(mounted.vault.members.first { $0.name.string == "Emma" })
    _ = try tree.find("Emma")
    try mounted.command { try $0.rename("Emma", "Emilia") }
    _ = try emma.refresh()
    let (former, emilia) = (try tree.name("Emma"), try tree.name("Emilia"))
    let isNaming = DispatchSemaphore(value: 0)
    mounted.vault.memberNames.told.withLock { told in
      told = { _ in
        isNaming.signal()
        // Until the other one's title shows.
        for _ in 0..<1_000
        where tree.withTree({ $0.views[emma.id]?.place(of: .root)?.title }) != emilia {
          SystemThread.pause(for: .milliseconds(10))
        }
        return [:]
      }
    }
    let names = try renewed {
      try Threads.run(2) { number in
        if number == 0 { return try tree.rename("Liam", "Noah") }
        try #require(isNaming.wait(timeout: .now() + 60) == .success)
        tree.apply([.root], to: try #require(tree.members.first { $0.member === emma }))
      }
    }
    #expect(try tree.list("") == ["Emilia", "Noah"])
    #expect(names == [former, emilia])
  }

  /// The mount looks while the new member is being made, and shows it beside the old one by then.
  @Test func aMemberThatAnotherProcessMakesAnewTakesTheName() throws {
    let tree = tree
    let old = try emma()
    let former = try tree.find("Emma")
    let handle = try tree.open("Emma/visit/file", [.read, .write])
    defer { handle.release() }
    let seen = Mutex<[Invalidation]>([])
    tree.setInvalidationHandler { one in seen.withLock { $0.append(one) } }
    let meanwhile = Mutex<[[String]]>([])
    let renewal = try process.renew(old, without: [mounted.vault.person]) { _ in
      tree.refresh()
      do { try meanwhile.withLock { $0.append(try tree.list("")) } } catch {
        Issue.record(error)
      }
    }
    #expect(meanwhile.withLock { $0 }.allSatisfy { $0.contains("Emma") && $0.count == 2 })
    tree.refresh()
    let names = process.shownNames
    let aside = try #require(names[old.id]).string
    #expect(names[renewal.member.id]?.string == "Emma")
    #expect(try tree.list("") == ["Emma", aside])
    let emma = try tree.find("Emma")
    #expect(emma != former)
    #expect(try tree.find(aside) == former)
    // The kernel forgets what it knew under both names.
    for name in ["Emma", aside] {
      let entry = Invalidation.entry(parent: FileTree.root, name: try tree.name(name))
      #expect(seen.withLock { $0 }.contains(entry), "\(name)")
    }
    // What is open stays what it is, and what is written by name is the new member's.
    try handle.put(Array("of the old one".utf8), at: 0)
    try handle.flush()
    try tree.write("Emma/visit/new", "of the new one")
    try tree.commitNow()
    #expect(try tree.text("\(aside)/visit/file") == "of the old one")
    #expect(try tree.text("Emma/visit/file") == "text")
    #expect(try tree.list("Emma/visit") == ["file", "new"])
    #expect(try tree.list("\(aside)/visit") == ["file"])
    let fresh = FileTree.load(vault: try ben.open(), options: mounted.options)
    #expect(try fresh.list("") == tree.list(""))
    #expect(try fresh.text("Emma/visit/new") == "of the new one")
  }

  /// Somebody else has made it anew: it takes the name when its person says so, at the mount's next look.
  @Test func aMemberThatIsAcceptedTakesTheName() throws {
    let third = mounted.tree
    let renewal = try process.renew(emma(), without: [mounted.vault.person])
    try process.share(renewal.member, with: mounted.vault.person, role: .editor)
    third.refresh()
    #expect(try third.list("") == ["Emma"])
    let former = try third.find("Emma")
    let other = try mounted.openAgain()
    let offered = try #require(other.offeredMembers.first)
    try other.accept(offered.member.id)
    third.refresh()
    #expect(try third.list("").count == 2)
    #expect(try third.find("Emma") != former)
    let fresh = try mounted.mountAgain()
    #expect(try fresh.list("") == third.list(""))
  }

  /// Whoever gives this person a member of the same name while the mount runs gets another name for it, whichever id is the lesser.
  @Test(arguments: [false, true])
  func aNewcomerTakesNoNameThatShows(isLesser: Bool) throws {
    let anna = mounted.vault
    let names = try ["One", "Another"].map { name in try #require(FileName(name)) }
    let members = try names.map { name in try anna.addMember(named: name) }
      .sorted { $0.id < $1.id }
    let (shown, newcomer) = isLesser ? (members[1], members[0]) : (members[0], members[1])
    let clara = try #require(FileName("Clara"))
    for member in [shown, newcomer] {
      let place = RecordPlace(parent: nil, title: clara, isDeleted: false)
      _ = try member.commit([RecordEdit(record: .root, place: place)])
    }
    try anna.share(shown, with: process.person, role: .editor)
    look()
    try #require(Set(tree.list("")) == ["Clara", "Emma"])
    let before = try tree.find("Clara")
    try anna.share(newcomer, with: process.person, role: .editor)
    look()
    let list = try tree.list("")
    #expect(list.count == 3 && list.contains("Clara (\(newcomer.id.shortHex))"))
    #expect(try tree.find("Clara") == before)
    let fresh = FileTree.load(vault: try ben.open(), options: mounted.options)
    #expect(try fresh.list("") == list)
  }

  /// Who was taken out sees the member no more. Its name is not another one's meanwhile, unless its person gives it away.
  @Test func theNameOfAMemberThatWasTakenAwayIsKept() throws {
    let anna = mounted.vault
    let emma = try #require(anna.members.first)
    try anna.beginEpoch(of: emma, without: [process.person])
    look()
    #expect(try tree.list("") == [])
    // Another Emma of Anna's, who has not the name here.
    let other = try anna.addMember(named: #require(FileName("Another")))
    let place = RecordPlace(
      parent: nil, title: try #require(FileName("Emma")), isDeleted: false)
    _ = try other.commit([RecordEdit(record: .root, place: place)])
    try anna.share(other, with: process.person, role: .editor)
    look()
    let shown = try tree.list("")
    #expect(shown.count == 1 && shown[0].hasPrefix("Emma ("))
    // She is given back, under her name.
    try anna.share(emma, with: process.person, role: .editor)
    look()
    #expect(try Set(tree.list("")) == ["Emma", shown[0]])
    #expect(try tree.text("Emma/visit/file") == "text")
    // Gone once more, her name is given to a member that is made in the mount.
    try anna.beginEpoch(of: emma, without: [process.person])
    look()
    try tree.mkdir("Emma")
    try tree.commitNow()
    try anna.share(emma, with: process.person, role: .editor)
    look()
    #expect(try tree.list("").count == 3)
    #expect(try tree.list("Emma") == [])
  }
}
