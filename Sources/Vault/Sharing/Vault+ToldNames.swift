import MachineState
import VaultErrors
import VaultModel

/// Under which names members show to this person, as their machines tell one another: a new machine has nothing else to go by
/// where somebody gives a second member the title of a first. Docs/Format.md, "The personal profile".
extension Vault {
  /// So many are told at most: whoever may share members makes as many as they care to.
  private static let toldLimit = 1_024

  /// When each of the members was first told to show under its title.
  func toldNames(of titles: [MemberID: FileName]) throws(VaultError) -> [MemberID: UInt64] {
    let profile = try personalProfile()
    var times: [MemberID: UInt64] = [:]
    for (member, title) in titles { times[member] = profile.time(of: member, titled: title) }
    return times
  }

  /// Adds what shows here and was not told.
  func tellNames(in profile: inout PersonalProfile) throws(VaultError) {
    let shown = memberNames.titles
    if profile.untold(shown).isEmpty { return }
    let now = context.clock.milliseconds()
    let known = try personalProfile()
    for (member, title) in known.untold(profile.untold(shown)).sorted(by: { $0.key < $1.key }) {
      guard profile.members.count < Self.toldLimit else { return }
      profile.note(MemberName(member: member, title: title, time: now))
    }
  }

  /// A member that was made anew takes the name of the old one, on this person's new machines as well.
  func passName(from old: MemberID, to new: Member) throws(VaultError) {
    guard memberNames.pass(from: old, to: new.id, title: new.name) else { return }
    let now = context.clock.milliseconds()
    try changePersonalProfile { $0.note(MemberName(member: old, title: nil, time: now)) }
  }
}
