import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel

@testable import Vault

/// Every step of a vault's life, stopped at every single call that changes its folder or this machine's state.
///
/// What is left is opened as another process finds it after a kill, and as disks may hold it after the power went.
@Suite struct WriteOrderTests {
  /// The vault before each step of the script and after the last, and how it looks then.
  private struct Reference {
    var vaults: [MemoryVault] = []
    var views: [VaultView] = []

    init() throws {
      let memory = try MemoryVault()
      let vault = try memory.open()
      for (_, step) in CommitScript.steps {
        vaults.append(memory.afterKill())
        views.append(try VaultView(of: vault))
        try step(vault, memory.clock)
      }
      vaults.append(memory.afterKill())
      views.append(try VaultView(of: vault))
    }
  }

  private static let reference = Result { try Reference() }

  @Test(arguments: CommitScript.steps.indices)
  func aStepCutAtAnyVaultCallIsDoneOrNotDone(step: Int) throws {
    try cutEverywhere(step) { $0.store }
  }

  @Test(arguments: CommitScript.steps.indices)
  func aStepCutAtAnyStateCallIsDoneOrNotDone(step: Int) throws {
    try cutEverywhere(step) { $0.stateStore }
  }

  private func cutEverywhere(_ step: Int, in store: (MemoryVault) -> MemoryStore) throws {
    let reference = try Self.reference.get()
    // The steps before run again, so that what they have not made durable can be lost too.
    let start = max(0, step - 2)
    for number in 1... {
      let memory = reference.vaults[start].afterKill()
      let vault = try memory.open()
      for earlier in start..<step { try CommitScript.steps[earlier].run(vault, memory.clock) }
      store(memory).cut(after: number)
      var isWhole = true
      do {
        try CommitScript.steps[step].run(vault, memory.clock)
      } catch let error as VaultError {
        guard case .io = error else { throw error }
        isWhole = false
      }
      let seen =
        isWhole ? [reference.views[step + 1]] : Array(reference.views[step...(step + 1)])
      let place = "\(CommitScript.steps[step].name), call \(number)"
      try expectWhole(memory.afterKill(), looksLike: seen, "\(place), killed")
      for seed in Seeds.first(3) {
        try expectWhole(
          memory.afterPowerCut(seed: seed), looksLike: seen, "\(place), power cut, seed \(seed)")
      }
      if isWhole { return }
    }
  }

  /// The vault opens, looks as it did before or after the step, has no damage, and goes on.
  private func expectWhole(
    _ memory: MemoryVault, looksLike views: [VaultView], _ comment: Comment
  ) throws {
    do {
      let vault = try memory.open()
      let view = try VaultView(of: vault)
      #expect(views.contains(view), comment)
      let report = try vault.check(readsData: true)
      #expect(report.problems.filter { $0.severity > .note } == [], comment)
      guard let member = vault.members.first else { return }
      let counter = try member.commit([.newRecord("after")]).counter
      #expect(counter > 0, comment)
      #expect(try memory.open().members.contains { $0.record(titled: "after") != nil }, comment)
    } catch {
      Issue.record("\(comment): \(error)")
    }
  }

  // MARK: Between keeping a head and showing it

  /// Who only reads goes without the head of a process that was stopped there. A process that was there before puts it in its
  /// place when it writes.
  @Test func aHeadThatDoesNotShowIsPutInItsPlaceByTheNextWriter() throws {
    let (memory, vault, emma) = try MemoryVault.withEmma()
    _ = try emma.commit([.newRecord("A")])
    let stopped = memory.afterKill()
    let other = try #require(stopped.open().members.first)
    _ = try other.commit([.newRecord("B")])
    for (path, bytes) in stopped.store.blobs
    where path.string.hasPrefix("members/") && memory.store.blobs[path] == nil {
      try memory.store.replace(path, bytes, durably: true)
    }
    let kept = try #require(try stopped.state.keptHead(of: emma.id))
    try memory.state.keepHead(kept, of: emma.id, durably: true)

    let reader = try memory.open(OpenOptions(readOnly: true))
    #expect(reader.problems == [])
    let seen = try #require(reader.members.first)
    _ = try seen.refresh()
    #expect(seen.children(of: .root).map(\.title.string) == ["A"])
    _ = try emma.commit([.newRecord("C")])
    _ = try seen.refresh()
    let again = try memory.open()
    for member in [emma, seen, try #require(again.members.first)] {
      #expect(member.children(of: .root).map(\.title.string).sorted() == ["A", "B", "C"])
    }
    #expect(again.device == vault.device && again.problems == [])
  }

  /// A program that copies has put an older head in its place, which a process that was there before knows as the newest.
  @Test func aHeadThatAnotherProcessWroteIsNotWrittenOverUnread() throws {
    let (memory, vault, emma) = try MemoryVault.withEmma()
    _ = try emma.commit([.newRecord("A")])
    let path = BlobPath(VaultPath.head(emma.id, vault.device).string)
    let before = try memory.store.read(path, limit: 1 << 20)
    let other = try memory.open()
    for title in ["B", "C"] {
      _ = try #require(other.members.first).commit([.newRecord(title)])
    }
    try memory.store.replace(path, before, durably: true)
    _ = try emma.commit([.newRecord("D")])
    let again = try memory.open()
    for member in [emma, try #require(again.members.first)] {
      #expect(member.children(of: .root).map(\.title.string).sorted() == ["A", "B", "C", "D"])
    }
    #expect(again.device == vault.device && again.problems == [])
  }

  // MARK: Making a vault

  @Test(arguments: [false, true])
  func aVaultCutWhileItIsMadeIsWholeOrNone(inState: Bool) throws {
    for number in 1... {
      let id = VaultID.random()
      let store = MemoryStore()
      let stateStore = MemoryStore()
      (inState ? stateStore : store).cut(after: number)
      var isMade = true
      do throws(VaultError) {
        _ = try Vault.create(
          VaultCopy(id: id, store: store, state: StateFolder(store: stateStore), clock: .system),
          device: MemoryVault.newDevice,
          password: SecretBytes(copying: Array(MemoryVault.password.utf8)))
      } catch {
        isMade = false
      }
      let lefts =
        [(store.imageAfterKill(), stateStore.imageAfterKill())]
        + Seeds.first(3).map {
          (store.imageAfterPowerCut(seed: $0), stateStore.imageAfterPowerCut(seed: $0))
        }
      for (position, left) in lefts.enumerated() {
        let comment: Comment = "call \(number), image \(position)"
        guard try left.0.size(of: "vault.json") != nil else {
          #expect(!isMade, comment)
          continue
        }
        let vault = try open(id, left.0, StateFolder(store: left.1))
        #expect(try vault.check(readsData: true).problems == [], comment)
      }
      if isMade { return }
    }
  }

  private func open(_ id: VaultID, _ store: MemoryStore, _ state: StateFolder) throws -> Vault {
    let key = try UnlockSlots(vault: id, state: state)
      .open(password: SecretBytes(copying: Array(MemoryVault.password.utf8))).takeKey()
    return try Vault.open(
      VaultCopy(id: id, store: store, state: state, clock: .system), key: key,
      options: OpenOptions())
  }
}
