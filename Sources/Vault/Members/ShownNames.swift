import BlobStore
import MachineState
import Threads
import VaultCrypto
import VaultErrors
import VaultModel

/// The names under which this machine shows the members, remembered sealed in its state.
///
/// Processes that name new members at the same moment come to the same names, since these stand in the order of ids; the
/// file is read again before anything is added to it. Who asks for names that are known does not wait for that.
package final class ShownNames: Sendable {
  private struct Memory: Sendable {
    var pins: PinnedNames?
    /// The file as it was read or written last.
    var file: [UInt8]?
    var failure: VaultError?
    /// When the file is tried again that could not be read; nil where it was, or is damaged, or there is none.
    var unread: ReadFiles?
  }

  private static let path: BlobPath = "shown"
  private static let nonceSize = 12
  private let state: StateFolder
  private let key: SealingKey
  private let clock: WallClock
  private let memory = Guarded(Memory())
  /// Held by whoever changes what is known, through the reading and writing of the file.
  private let turn = Guarded(())
  /// When other machines of this person told each member to show under its title; asked where something is new.
  let told = Guarded<
    (@Sendable ([MemberID: FileName]) throws(VaultError) -> [MemberID: UInt64])?
  >(nil)

  init(state: StateFolder, key: SealingKey, clock: WallClock) {
    (self.state, self.key, self.clock) = (state, key, clock)
  }

  /// What members of these titles show as; `own` are those that this person made.
  package func names(
    of titles: [MemberID: FileName], own: Set<MemberID>
  ) -> [MemberID: FileName] {
    if var pins = memory.withLock({ $0.pins }) {
      let before = pins
      let names = pins.names(of: titles, own: own)
      if pins == before { return names }
    }
    return change { memory in
      var pins = memory.pins ?? load(&memory)
      var names = pins.names(of: titles, own: own)
      if pins != memory.pins {
        // Something is new here; another process may have named it.
        pins = load(&memory)
        let before = pins
        do throws(VaultError) {
          names = pins.names(of: titles, own: own, told: try told.withLock { $0 }?(titles) ?? [:])
        } catch {
          memory.failure = error
          names = pins.names(of: titles, own: own)
        }
        if pins != before { save(pins, &memory) }
        memory.pins = pins
      }
      return names
    }
  }

  /// The members that show under their own titles.
  var titles: [MemberID: FileName] { known().titles }

  /// What the member shows as here, or did when its person had access; nil for one that never was here.
  func name(of member: MemberID) -> FileName? { known().name(of: member) }

  /// What is known of names. The file is read where it was not yet.
  private func known() -> PinnedNames {
    if let pins = memory.withLock({ $0.pins }) { return pins }
    return change { memory in
      let pins = memory.pins ?? load(&memory)
      memory.pins = pins
      return pins
    }
  }

  /// Takes in what other processes have named since. Costs the reading of a small file where nothing has changed.
  func readAgain() {
    change { memory in
      if let unread = memory.unread, unread.waits(at: clock.milliseconds()) { return }
      do throws(BlobStoreError) {
        guard try state.store.read(Self.path, limit: .max) != memory.file else { return }
      } catch {
        // Reading it to the end says what it is.
      }
      memory.pins = load(&memory)
    }
  }

  /// This person has given the member this name: one that is not among `present` does not keep it from having it.
  package func free(_ name: FileName, for member: MemberID, present: Set<MemberID>) {
    change { memory in
      let before = load(&memory)
      var pins = before
      pins.free(name, for: member, present: present)
      if pins != before { save(pins, &memory) }
      memory.pins = pins
    }
  }

  /// The second one takes the name of the first, if the title of both is its name.
  ///
  /// - Returns: Whether it did.
  func pass(from old: MemberID, to new: MemberID, title: FileName) -> Bool {
    change { memory in
      let before = load(&memory)
      var pins = before
      pins.pass(from: old, to: new, title: title)
      if pins != before { save(pins, &memory) }
      memory.pins = pins
      return pins != before
    }
  }

  /// Why names could not be read or kept; they are told apart by ids then, as on a new machine.
  var failure: VaultError? { memory.withLock { $0.failure } }

  /// Runs `body` with what is known, one caller at a time. What it makes of that counts when it returns: until then others are
  /// answered by what was known before.
  private func change<Answer: Sendable>(_ body: (inout Memory) -> Answer) -> Answer {
    turn.withLock { _ in
      var changed = memory.withLock { $0 }
      let answer = body(&changed)
      memory.withLock { $0 = changed }
      return answer
    }
  }

  private func load(_ memory: inout Memory) -> PinnedNames {
    do {
      let pins = try read(&memory)
      memory.unread = nil
      return pins
    } catch {
      let before = memory.unread
      memory.unread = nil
      if case .notFound = error { return memory.pins ?? PinnedNames() }
      memory.failure = error
      if !error.isDamage {
        memory.unread = ReadFiles(
          [Self.path: 0], without: [Self.path], after: before, at: clock.milliseconds())
      }
      return memory.pins ?? PinnedNames()
    }
  }

  private func read(_ memory: inout Memory) throws(VaultError) -> PinnedNames {
    let bytes: [UInt8]
    do {
      bytes = try state.store.read(Self.path, limit: .max)
    } catch {
      if case .notFound = error { throw .notFound(what: Self.path.string) }
      throw VaultError(error)
    }
    memory.file = bytes
    let sealed = Sealed(
      nonce: Array(bytes.prefix(Self.nonceSize)), ciphertext: Array(bytes.dropFirst(Self.nonceSize))
    )
    let place = state.describe(Self.path)
    let plain: [UInt8]
    do {
      plain = try key.open(sealed, label: .shown, path: Self.path.string, counter: 0)
    } catch { throw VaultError(error, path: place) }
    do { return try PinnedNames(decoding: plain) } catch {
      throw VaultError(error, path: place)
    }
  }

  /// What could not be read may hold names that nobody else knows, and is not written over; what is damaged has none any more.
  private func save(_ pins: PinnedNames, _ memory: inout Memory) {
    if memory.unread != nil { return }
    let sealed = key.seal(pins.encoded(), label: .shown, path: Self.path.string, counter: 0)
    let file = sealed.nonce + sealed.ciphertext
    do {
      try state.store.replace(Self.path, file, durably: true)
      memory.file = file
      memory.failure = nil
    } catch { memory.failure = VaultError(error) }
  }
}
