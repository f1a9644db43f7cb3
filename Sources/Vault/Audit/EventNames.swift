import VaultModel
import VaultPeople

/// What the devices, people and records of logged events are called, each device looked up once.
package final class EventNames {
  private let vault: Vault
  /// Nil where all events are of this person.
  private let others: ((PersonID) -> String)?
  private var known: [DeviceID: String] = [:]
  /// What this person's devices that count are called now.
  private lazy var ownNames = Set(
    (vault.context.people[vault.person]?.devices ?? [:]).keys.map { self.name(of: $0) })

  /// - Parameter others: What other people are called, in a journal: names in its events are their writers' word. Nil for
  ///   this person's own log.
  package init(_ vault: Vault, others: ((PersonID) -> String)?) {
    (self.vault, self.others) = (vault, others)
  }

  package func name(of device: DeviceID) -> String {
    if let name = known[device] { return name }
    let name = device == vault.device ? vault.profile.deviceName : vault.name(of: device)
    known[device] = name
    return name
  }

  /// What the device was called then, which it says itself; and what it is called now, where it says the name of another one.
  private func deviceName(of logged: LoggedEvent) -> String {
    let said = logged.event.device
    // What another person calls their device only they say.
    guard logged.person == vault.person else { return said }
    let now = name(of: logged.device)
    if said.isEmpty { return now }
    return said != now && ownNames.contains(said) ? "\(said) (so \(now))" : said
  }

  private func name(of person: PersonID) -> String {
    if person == vault.person { return vault.profile.profile.name }
    return others.map { $0(person) } ?? person.shortHex
  }

  /// The event with the names of its time, or those of now where it has none.
  package func naming(_ logged: LoggedEvent) -> NamedEvent {
    let event = logged.event
    var named = NamedEvent(
      logged: logged, person: name(of: logged.person), device: deviceName(of: logged))
    let placed = event.place.split(separator: "/", maxSplits: 1).first.map(String.init)
    let found = event.member.flatMap { vault.member($0) }
    named.member =
      others == nil
      ? placed ?? found?.name.string ?? event.member?.shortHex
      : event.member.flatMap { vault.shownNames[$0]?.string }
    // In a journal the name is its writer's word, and the record is what it was.
    let current = event.record.flatMap { record in
      found?.entry(record).map { found?.displayPath(of: $0.record) ?? "" }
    }
    let isNow = others != nil && current != nil || event.place.isEmpty
    if let record = event.record, isNow {
      let place = current ?? record.shortHex
      named.path = event.name.map { "\(place)/\($0.string)" } ?? place
    } else {
      named.path = event.record == nil ? nil : event.place
    }
    named.about =
      event.about.isEmpty
      ? event.person.map { others == nil ? $0.shortHex : name(of: $0) } : event.about
    return named
  }
}

/// An event of the log or of a journal, in names.
package struct NamedEvent {
  package let logged: LoggedEvent
  /// Who did it.
  package let person: String
  /// On which of their devices; empty where that is not known.
  package let device: String
  package fileprivate(set) var member: String?
  /// Of the record or file, the member's name first.
  package fileprivate(set) var path: String?
  /// Whom or what it is about: another person, a remote.
  package fileprivate(set) var about: String?
}
