import BlobStore
import TestSupport
import VaultErrors

@testable import Vault
@testable import VaultSync

/// Disks on which there is no room now and then, and remotes that go back in time while devices write to them.
extension Simulation {
  enum Disk: Hashable { case vault(Int), state(Int), remote(Int) }

  // MARK: Full disks

  /// Some, many or all writes to a disk find no room for some steps.
  mutating func crowdDisk(of number: Int) {
    let remote = Int.random(in: remotes.indices, using: &random)
    let disks: [Disk] = [.vault(number), .state(number), .remote(remote)]
    let disk = disks.randomElement(using: &random) ?? .vault(number)
    let percent = [100, 40, 10].randomElement(using: &random) ?? 100
    log("\(disk): of a hundred writes \(percent) find no room")
    crowds[disk] = Int.random(in: 1...5, using: &random)
    store(of: disk).crowd(percent: percent, seed: random.next())
  }

  mutating func makeRoomInTime() {
    for (disk, steps) in crowds {
      crowds[disk] = steps - 1
      if steps == 0 { makeRoom(on: disk) }
    }
  }

  mutating func makeRoom(on disk: Disk) {
    guard crowds.removeValue(forKey: disk) != nil else { return }
    log("\(disk): there is room again")
    store(of: disk).crowd(percent: nil)
  }

  private func store(of disk: Disk) -> MemoryStore {
    switch disk {
    case .vault(let number): devices[number].store
    case .state(let number): devices[number].stateStore
    case .remote(let number): remotes[number].memory
    }
  }

  /// Whether this is what comes of a full disk of the device, of which it has one.
  func isFull(_ number: Int, _ error: any Error) -> Bool {
    guard case VaultError.noSpace = error else { return false }
    return crowds[.vault(number)] != nil || crowds[.state(number)] != nil
  }

  /// A step, which may come to nothing on a full disk, and while keys are divided; then, half of the time, the process ends.
  mutating func stepIfPossible() throws {
    let number = Int.random(in: devices.indices, using: &random)
    try ifPossible(on: number) { try $0.step(of: number) }
  }

  /// Something that a device does, which may come to nothing likewise.
  mutating func ifPossible(
    on number: Int, _ act: (inout Simulation) throws -> Void
  ) throws {
    do { try act(&self) } catch {
      log("  \(error)")
      if isOut(error) { return try recover(number) }
      guard isFull(number, error) || mayWaitForWords(error) else { throw error }
      if Bool.random(using: &random) { try restart(number) }
    }
  }

  // MARK: A remote that goes back meanwhile

  /// What happens in the middle of another device's sync, all in one thread.
  private struct Meanwhile: @unchecked Sendable {
    let happen: () -> Void
  }

  /// Two devices sync with one remote at the same time; then, while the first one goes on, the remote goes back to an
  /// earlier state.
  mutating func rollBackWhileTwoWrite(_ number: Int) throws {
    guard let remote = pickRemote(number), let backup = backups[remote],
      let other = devices.indices.filter({ $0 != number }).randomElement(using: &random)
    else { return }
    let (store, device) = (remotes[remote], devices[other])
    let isFirst = Bool.random(using: &random)
    makeRoom(on: .remote(remote))
    for disk in [Disk.vault(other), .state(other)] { makeRoom(on: disk) }
    log("\(number) and \(other): sync with \(remote), which goes back meanwhile")
    let options = options()
    var failure: (any Error)?
    withoutActuallyEscaping({
      do {
        if isFirst { try store.goBack(to: backup) }
        do throws(SyncError) {
          _ = try Self.sync(device, store, remote, options)
        } catch {
          guard case .remote = error else { throw error }
        }
        if !isFirst { try store.goBack(to: backup) }
      } catch { failure = error }
    }) { happen in
      let meanwhile = Meanwhile(happen: happen)
      store.interrupt(after: Int.random(in: 1..<30, using: &random)) { meanwhile.happen() }
      do throws(SyncError) {
        _ = try Self.sync(devices[number], store, remote, options)
      } catch {
        log("  \(error)")
        switch error {
        case .remote: break
        default: failure = error
        }
      }
      store.interrupt(after: 0, nil)
    }
    if case SyncError.vault(let error)? = failure { throw error }
    if let failure { throw failure }
  }
}
