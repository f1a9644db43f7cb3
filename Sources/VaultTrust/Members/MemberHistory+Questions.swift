import VaultModel

/// Access that somebody was given and has.
package struct GivenAccess: Hashable, Sendable {
  package let role: Role
  /// Milliseconds since 1970; zero: no end.
  package let until: UInt64
  package let giver: PersonID
  /// By the giver's clock.
  package let time: UInt64

  fileprivate var lastsUntil: UInt64 { until == 0 ? .max : until }
}

/// An epoch's key for a person.
package struct EpochWrap: Hashable, Sendable {
  package let epoch: StatementID
  /// What the link that began the epoch says its key is.
  package let commitment: FileHash
  package let wrap: Wrap
}

/// What is asked about a member's links besides who counts.
extension MemberHistory {
  /// A link that is placed, by its id.
  package func link(_ id: StatementID) -> Link? { graph.number(of: id).map { graph.links[$0] } }

  /// What is left of what the person was given, the most first.
  package func given(to person: PersonID) -> [GivenAccess] {
    let left = (remainders[person] ?? []).compactMap { remainder in
      remainder.role.map { access(of: remainder.gift, as: $0) }
    }
    return left.sorted { ($1.role, $1.lastsUntil, $0.time) < ($0.role, $0.lastsUntil, $1.time) }
  }

  /// All that the person was ever given by links that count, whether anything is left of it or not.
  package func everGiven(to person: PersonID) -> [GivenAccess] {
    (remainders[person] ?? []).map { access(of: $0.gift, as: $0.gift.role) }
  }

  private func access(of gift: Gift, as role: Role) -> GivenAccess {
    let link = gift.link.map { graph.links[$0] }
    return GivenAccess(
      role: role, until: gift.until, giver: link?.person ?? root.person,
      time: link?.time ?? root.time)
  }

  /// Everyone who was ever given anything by a link that counts.
  package var everyone: Set<PersonID> { Set(remainders.keys) }

  /// The last leaving of the person that counts, with what they keep; nil if there is none.
  package func leaving(of person: PersonID) -> (id: StatementID, keeps: Role?)? {
    for number in graph.ids.indices.reversed() where verdicts[number] == .counts {
      let link = graph.links[number]
      guard link.person == person, link.place == nil,
        case .limit(_, let role, _)? = link.changes.first
      else { continue }
      return (graph.ids[number], role)
    }
    return nil
  }

  /// The leavings of the person that do not count, as somebody has to stay, and after which they have written as an owner: what
  /// the next closing of theirs takes back, so that they stay whatever the others say later of how they left.
  ///
  /// - Parameter departing: Certificates that the closing leaves out. Their leavings fall with it, since it does not list them,
  ///   and whoever has such a device writes any number, for which no closing has room.
  package func stayed(
    by person: PersonID, besides departing: Set<StatementID> = []
  ) -> Set<StatementID> {
    let own = graph.ids.indices.filter { graph.links[$0].person == person }
    let known = graph.closure(
      of: own.filter { verdicts[$0] == .counts && graph.links[$0].place != nil })
    let stayed = own.filter { number in
      verdicts[number] == .someoneStays && known.contains(number)
        && !departing.contains(graph.links[number].certificate)
    }
    return Set(stayed.map { graph.ids[$0] })
  }

  /// Whether heads of somebody who has left go on counting. How far they do their leaving says, which is their own word: it
  /// need not end with what they had written then. An owner's link that takes them out ends it.
  package func followsHeads(afterLeaving person: PersonID) -> Bool {
    guard !access.includes(person), lastHeads[person] != nil else { return false }
    return (remainders[person] ?? []).contains { $0.besideLeavings?.mayWrite ?? false }
  }

  /// The links of these people that count and are not confirmed yet, but for what they gave up: what a link confirms that takes
  /// their place, and is written as the holder of this one.
  ///
  /// A link is confirmed by one of a more senior place only. Any owner can name it, and has confirmed nothing.
  package func unconfirmed(by people: Set<PersonID>, as seat: Place) -> [StatementID] {
    guard !people.isEmpty, let senior = places.firstIndex(where: { $0.place == seat }) else {
      return []
    }
    let rank = ranksOfLinks
    let counting = graph.ids.indices.filter { verdicts[$0] == .counts }
    var confirmed: Set<Int> = []
    for number in counting {
      for other in graph.links[number].confirmed.compactMap(graph.number(of:))
      where other < number && rank(number) < rank(other) {
        confirmed.insert(other)
      }
    }
    let written = counting.filter { number in
      let link = graph.links[number]
      return link.place != nil && people.contains(link.person) && senior < rank(number)
        && !confirmed.contains(number)
    }
    return written.map { graph.ids[$0] }
  }

  /// Whether an owner's link can take all that a person has: they hold no place that is as senior as the owner's first.
  package func mayTake(_ person: PersonID, by owner: PersonID) -> Bool {
    func rank(_ holder: PersonID) -> Int? {
      places.firstIndex { $0.tenures.last.map { $0.isHeld && $0.holder == holder } ?? false }
    }
    guard let mine = rank(owner) else { return false }
    return rank(person).map { $0 > mine } ?? true
  }

  /// How many places were ever made, whoever holds them now; what gives ownership beyond the limit gives nothing.
  package var placeCount: Int { places.count }
  package static let placeLimit = StatementLimits.places

  /// The links that count and that devices with these certificates have signed.
  package func signed(by certificates: Set<StatementID>) -> Set<StatementID> {
    var found: Set<StatementID> = []
    for number in graph.ids.indices
    where verdicts[number] == .counts && certificates.contains(graph.links[number].certificate) {
      found.insert(graph.ids[number])
    }
    return found
  }

  /// The wraps for a person of every epoch that was begun by someone who had a place, counting or not: heads of an epoch
  /// that fell are late, and have to be opened.
  ///
  /// - Parameter remembered: Links that counted here once: this machine has written under the epochs that they began, also
  ///   where a person has said since that another end of a place is the true one.
  package func wraps(
    for person: PersonID, remembering remembered: Set<StatementID> = []
  ) -> [EpochWrap] {
    var found: [EpochWrap] = []
    for number in graph.ids.indices
    where isOfHolder(number) || remembered.contains(graph.ids[number]) {
      for wrap in graph.links[number].wraps where wrap.person == person {
        let epoch = wrap.epoch ?? graph.ids[number]
        guard let begun = link(epoch)?.epoch else { continue }
        found.append(EpochWrap(epoch: epoch, commitment: begun, wrap: wrap))
      }
    }
    return found
  }

  /// The files that links which count name as wraps of these epochs, and no link names as anything else. What does not
  /// count says of no file that it may go.
  package func wrapFiles(of epochs: Set<StatementID>) -> Set<FileHash> {
    if epochs.isEmpty { return [] }
    var files: Set<FileHash> = []
    var others: Set<FileHash> = []
    for number in graph.ids.indices {
      for wrap in graph.links[number].wraps {
        if !epochs.contains(wrap.epoch ?? graph.ids[number]) {
          others.insert(wrap.file)
        } else if verdicts[number] == .counts {
          files.insert(wrap.file)
        }
      }
    }
    return files.subtracting(others)
  }

  /// The links of which this is so, told of each whether it counts, and all that these follow.
  package func past(where isMeant: (Link, _ counts: Bool) -> Bool) -> Set<StatementID> {
    var meant: [Int] = []
    for number in graph.ids.indices
    where isMeant(graph.links[number], verdicts[number] == .counts) {
      meant.append(number)
    }
    let past = graph.closure(of: meant)
    return Set(graph.ids.indices.filter(past.contains).map { graph.ids[$0] })
  }

  /// Whether a link, counting or not, begins an epoch after this one: so this one may have been over, and its wraps gone.
  package func hasEpoch(after epoch: StatementID) -> Bool {
    guard let number = graph.number(of: epoch) else { return false }
    let later = graph.future(of: number)
    return graph.ids.indices.contains { later.contains($0) && graph.links[$0].epoch != nil }
  }

  /// The links that count, and what these follow.
  package var counting: Set<StatementID> { past { verdicts[$0] == .counts } }

  /// The links that are worth keeping: all whose writers had a place or left, and what these follow.
  package var lasting: Set<StatementID> { past(isOfHolder) }

  private func isOfHolder(_ number: Int) -> Bool {
    verdicts[number] != .noPlace && !isOfStranger(number)
  }

  /// The links with such numbers, and all that these follow.
  private func past(_ isMeant: (Int) -> Bool) -> Set<StatementID> {
    let past = graph.closure(of: graph.ids.indices.filter(isMeant))
    return Set(graph.ids.indices.filter(past.contains).map { graph.ids[$0] })
  }

  /// Whether the link begins an epoch that counts and is none of these, or comes after one that does. No head has to come
  /// with an epoch that does not count: whoever waited for one would never have what follows it.
  package func follows(_ id: StatementID, anEpochBesides known: Set<StatementID>) -> Bool {
    guard let number = graph.number(of: id) else { return false }
    let past = graph.closure(of: [number])
    return graph.ids.indices.contains { other in
      past.contains(other) && graph.links[other].epoch != nil && verdicts[other] == .counts
        && !known.contains(graph.ids[other])
    }
  }
}
