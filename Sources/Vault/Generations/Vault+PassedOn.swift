import VaultErrors
import VaultModel
import VaultPeople

/// What goes on being known when devices of this person are left out. Docs/Format.md, "The personal profile".
extension Vault {
  /// Whom these devices know, and the others do not, or not as lately; as far as this device's register has room.
  struct PassedOn {
    var people: [Acquaintance] = []
    /// Of whom nothing is known any more.
    var forgottenCount = 0
  }

  private typealias News = (acquaintance: Acquaintance, byteCount: Int)

  func passedOn(by leaving: Set<DeviceID>) throws(VaultError) -> PassedOn {
    var passed = PassedOn()
    let own = try context.ownPerson()
    let registers = leaving.compactMap { device in
      own.anyCertificate(of: device).flatMap { profile(of: device, $0)?.profile }
    }
    if registers.isEmpty { return passed }
    let news = self.news(in: registers, without: leaving, own)
    let register = own.devices[device].flatMap { profile(of: device, $0) } ?? profile
    var room = PassedOnRoom(beside: register.profile)
    for (acquaintance, byteCount) in news {
      if room.take(byteCount) {
        passed.people.append(acquaintance)
      } else {
        passed.forgottenCount += 1
      }
    }
    return passed
  }

  /// Those first of whom there are files here, then those of whom least is said: somebody may have filled the registers.
  private func news(
    in registers: [PersonalProfile], without leaving: Set<DeviceID>, _ own: Person
  ) -> [News] {
    var staying = profile.profile
    staying.join(
      own.devices.filter { !leaving.contains($0.key) }.compactMap { device, certified in
        self.profile(of: device, certified)?.profile
      })
    let known = Dictionary(staying.people.map { ($0.person, $0) }) { first, _ in first }
    var departing = PersonalProfile.blank
    departing.join(registers)
    let now = context.clock.milliseconds()
    let persons = context.people.persons
    return departing.people.compactMap { acquaintance -> News? in
      var acquaintance = acquaintance
      if let other = known[acquaintance.person] {
        // A date ahead would count for good.
        guard acquaintance.time > other.time, acquaintance.time <= now else { return nil }
      }
      acquaintance.time = min(acquaintance.time, now)
      return (acquaintance, acquaintance.encoded().count)
    }.sorted { left, right in
      let (one, other) = (left.acquaintance.person, right.acquaintance.person)
      let (isHere, isOtherHere) = (persons[one] != nil, persons[other] != nil)
      if isHere != isOtherHere { return isHere }
      return (left.byteCount, one) < (right.byteCount, other)
    }
  }

  /// Writes it into this device's register. Durable when it returns.
  func passOn(_ passed: PassedOn) throws(VaultError) {
    if passed.people.isEmpty { return }
    try changeProfile { own in
      own.profile.join(PersonalProfile(name: "", time: .zero, people: passed.people))
    }
  }
}
