import BlobStore
import Vault
import VaultErrors
import VaultModel
import VaultObjects

/// Sees by comparing lists whether a remote still has every object that it took, and whether this machine has every one
/// that it needs: what one side has lost the other one gives back. A disk, or a person who tidied up, may have lost some
/// under heads that are whole.
struct LostObjects {
  let session: SyncSession
  let exchange: SignedExchange
  let member: Member
  /// The heads that count here and stand on the remote as well, so that it has taken what they name. It need not have
  /// what others name: of another line, under keys that are not joined yet, or as this machine has renamed it.
  let standing: [OpenedHead]

  /// Costs a list of all objects of the member, here and there, and more only when some are missing.
  ///
  /// - Returns: The versions that stand-ins have replaced, where something was brought back, which may be of them.
  func giveBack() throws(SyncError) -> Set<ContentDigest> {
    let there = try ObjectListing.load(member.id, session: session)
    var replaced: Set<ContentDigest> = []
    if session.options.direction != .push, !session.options.isDryRun {
      replaced = try bringBack(there)
    }
    try putBack(there)
    return replaced
  }

  /// Brings what is missing here and the remote has, and what stand-ins have replaced.
  ///
  /// - Returns: All that stand-ins have replaced, if anything was brought.
  private func bringBack(_ there: [ObjectName: UInt64]) throws(SyncError) -> Set<ContentDigest> {
    let transfer = PullTransfer(
      session: session, NamedObjects(objects: member.sealedObjects, epoch: member.epoch))
    var asked: Set<ObjectName> = []
    var (count, replaced) = (0, Set<ContentDigest>())
    // What was missing may name more that is missing.
    while true {
      let here = try keeping { () throws(VaultError) in
        Set(try member.sealedObjects.listed().map(\.name))
      }
      // Nothing here can be missing that the remote has.
      if here.isSuperset(of: there.keys) { break }
      let (all, lost) = member.neededObjectsAndLostVersions(unread: noteUnread)
      replaced.formUnion(lost)
      let needed = byName(all + named(by: member.openedHeads), here, there)
      let missing = needed.filter { need in
        !here.contains(need.key) && there[need.key] != nil && asked.insert(need.key).inserted
          // A lazy vault leaves chunks there.
          && !(member.sealedObjects.isLazy && need.value.kind == .chunk)
      }
      if missing.isEmpty { break }
      let brought = Gathered<ObjectName>()
      try session.forEach(missing.sorted { $0.key < $1.key }) { (name, object) throws(SyncError) in
        do throws(TransferFailure) {
          _ = try transfer.bring(object.digest, kind: object.kind)
          brought.add(name)
        } catch {
          switch error {
          // The remote's own damage: `check --remote` names it.
          case .object: return
          case .fatal(let error): throw error
          }
        }
      }
      count += brought.all.count
    }
    if count > 0 { session.note(.broughtBack(count, of: member.id)) }
    return count > 0 ? replaced : []
  }

  private func putBack(_ listed: [ObjectName: UInt64]) throws(SyncError) {
    let here = try keeping(member.sealedObjects.listed())
    let there = try ObjectListing.measured(
      listed, for: here.map(\.name), of: member.id, session: session)
    let missing = here.filter { there[$0.name] != $0.byteCount }.map(\.name)
    // A lazy vault may need what is on the remote only.
    if missing.isEmpty, !member.sealedObjects.isLazy { return }
    let names = Set(here.map(\.name))
    let needed = needed(names, there)
    let nowhere = needed.filter { !names.contains($0.key) && there[$0.key] == nil }
    let given = try giveFromElsewhere(nowhere)
    let gone = nowhere.filter { !given.contains($0.key) }
    noteGone(gone, names, there)
    let lost = missing.filter(wholeHistory(of: needed, without: gone, names, there).contains)
    let transfer = PushTransfer(
      session: session, NamedObjects(objects: member.sealedObjects, epoch: member.epoch))
    let (sent, damaged) = (Gathered<ObjectName>(), Gathered<VaultError>())
    try session.forEach(lost) { (name) throws(SyncError) in
      do throws(TransferFailure) {
        try transfer.send(name)
        sent.add(name)
      } catch {
        switch error {
        case .object(let error): damaged.add(error)
        case .fatal(let error): throw error
        }
      }
    }
    for error in damaged.all {
      session.note(SyncProblem(error, here: error.file ?? "members/\(member.id.hex)"))
      // By then it may be whole here.
      session.compareNextTime()
    }
    tell(ofSent: sent.all + given, names, there)
  }

  /// Something could not be read here just now, so nobody knows whether what it needs is there.
  private func noteUnread(_ error: VaultError) {
    session.note(.notLookedFor(error, of: member.id))
    session.compareNextTime()
  }

  /// Puts there what is on another remote only, where a lazy vault has left it: it could not be had when the rest was put there.
  /// It goes by way of memory, and takes no room here.
  ///
  /// - Parameter gone: What is neither here nor there.
  /// - Returns: Those of it that are there now.
  private func giveFromElsewhere(
    _ gone: [ObjectName: NeededObject]
  ) throws(SyncError) -> Set<ObjectName> {
    guard member.sealedObjects.isLazy, let elsewhere = session.elsewhere, !session.options.isDryRun
    else { return [] }
    let (session, objects) = (session, member.sealedObjects)
    let given = Gathered<ObjectName>()
    let chunks = gone.filter { $0.value.kind == .chunk }.sorted { $0.key < $1.key }
    try session.forEach(chunks) { (name, chunk) throws(SyncError) in
      guard let (found, file) = Self.find(chunk.digest, of: objects, elsewhere) else { return }
      try session.put(objects.vaultPath(of: found), file)
      given.add(name)
    }
    return Set(given.all)
  }

  /// A chunk's file as another remote has it, under whichever of its names.
  private static func find(
    _ chunk: ContentDigest, of objects: ObjectStore, _ elsewhere: any ObjectSource
  ) -> (name: ObjectName, file: [UInt8])? {
    let limit = ObjectStore.fileSizeLimit(of: .chunk)
    for name in objects.names(of: chunk) {
      let path = BlobPath(objects.vaultPath(of: name).string)
      let file = elsewhere.read(path, limit: limit) {
        objects.isWhole(name, kind: .chunk, file: $0)
      }
      if let file { return (name, file) }
    }
    return nil
  }

  /// Says which of these the remote has lost. Of a history that ends there before it does here, another device may as well
  /// have collected the rest; and it may have encrypted anew, and removed, what stands here under keys of before. One whose
  /// head is not followed here may have done so with what is in use.
  private func tell(
    ofSent sent: [ObjectName], _ here: Set<ObjectName>, _ there: [ObjectName: UInt64]
  ) {
    if sent.isEmpty { return }
    let taken = Set(needed(here, there, by: standing).keys)
    let sent = sent.filter(taken.contains)
    // Whoever put everything under the keys in use may not have had all of the history, which stands there under those of before.
    let current = needed(here, there, by: standing.filter { $0.epoch == member.epoch }) { older in
      there[member.sealedObjects.names(of: older)[0]] != nil
    }
    // Whoever wrote a head that is not followed here knew nothing of what is, may have put everything under keys of its own,
    // and removed what that was under before.
    let lostCount =
      member.hasLinesApart
      ? 0
      : sent.count { name in
        current[name].map { object in
          // What of older versions a lazy vault could not have it may never have put there.
          let isLeftOut =
            member.sealedObjects.isLazy && object.kind == .chunk && object.isOnlyInHistory
          return !isLeftOut && member.sealedObjects.names(of: object.digest)[0] == name
        } ?? false
      }
    if lostCount > 0 {
      session.note(.putBack(lostCount, of: member.id))
      session.noteLoss()
    }
    if lostCount < sent.count {
      session.note(.putOlder(sent.count - lostCount, of: member.id))
    }
  }

  /// What is needed, by the name under which it stands here or there, or else belongs.
  ///
  /// - Parameter keeps: Whether history goes on to an older revision.
  private func needed(
    _ here: Set<ObjectName>, _ there: [ObjectName: UInt64],
    keeping keeps: (_ older: ContentDigest) -> Bool = { _ in true }
  ) -> [ObjectName: NeededObject] {
    let needed = member.neededObjects(keeping: keeps, unread: noteUnread)
    return byName(needed + named(by: member.openedHeads), here, there)
  }

  /// What is needed of what these heads name, as they name it, by the name under which it stands here or there, or else
  /// belongs.
  ///
  /// - Parameter keeps: Whether history goes on to an older revision.
  private func needed(
    _ here: Set<ObjectName>, _ there: [ObjectName: UInt64], by heads: [OpenedHead],
    keeping keeps: (_ older: ContentDigest) -> Bool = { _ in true }
  ) -> [ObjectName: NeededObject] {
    let revisions = member.sealedObjects.revisions(namedBy: heads, unread: noteUnread)
    let needed = member.neededObjects(
      where: { revisions.contains($0.revision) }, keeping: keeps, unread: noteUnread)
    return byName(needed + named(by: heads), here, there)
  }

  private func byName(
    _ objects: [NeededObject], _ here: Set<ObjectName>, _ there: [ObjectName: UInt64]
  ) -> [ObjectName: NeededObject] {
    objects.reduce(into: [:]) { result, object in
      let names = member.sealedObjects.names(of: object.digest)
      let name = names.first { here.contains($0) } ?? names.first { there[$0] != nil }
      result[name ?? names[0]] = object
    }
  }

  private func named(by heads: [OpenedHead]) -> [NeededObject] {
    heads.flatMap { head in
      head.segments.map { NeededObject(digest: $0, kind: .segment) }
        + head.head.authored.map { NeededObject(digest: $0, kind: .authored) }
        + (head.head.announcement.map { [NeededObject(digest: $0, kind: .announcement)] } ?? [])
    }
  }

  /// Of what is needed, what is put there again. What a lazy vault has left of a history that others have collected, and nobody can
  /// have whole any more, is not.
  ///
  /// - Parameter gone: What is neither here nor there.
  private func wholeHistory(
    of needed: [ObjectName: NeededObject], without gone: [ObjectName: NeededObject],
    _ here: Set<ObjectName>, _ there: [ObjectName: UInt64]
  ) -> Set<ObjectName> {
    guard member.sealedObjects.isLazy, !gone.isEmpty else { return Set(needed.keys) }
    let broken = member.historyNeeding(Set(gone.values.map(\.digest)))
    return Set(self.needed(here, there) { !broken.contains($0) }.keys)
  }

  /// Of what is current the remote has lost only what heads need that stand there.
  ///
  /// - Parameter gone: Objects that are neither here nor there.
  private func noteGone(
    _ gone: [ObjectName: NeededObject], _ here: Set<ObjectName>, _ there: [ObjectName: UInt64]
  ) {
    guard member.sealedObjects.isLazy, !gone.isEmpty else { return }
    let older = gone.count { $0.value.isOnlyInHistory }
    if older > 0 { session.note(.olderGone(older, of: member.id)) }
    if older == gone.count { return }
    let taken = needed(here, there, by: standing)
    for name in gone.keys.sorted()
    where gone[name]?.isOnlyInHistory == false && taken[name]?.isOnlyInHistory == false {
      session.note(
        SyncProblem(
          .missing(path: member.sealedObjects.vaultPath(of: name).string),
          there: member.sealedObjects.vaultPath(of: name).string))
    }
  }
}
