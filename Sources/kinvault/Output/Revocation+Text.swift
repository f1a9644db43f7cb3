import MachineState
import Vault
import VaultModel

extension Revocation {
  /// What a sync has done by itself about who can read what.
  func texts(in vault: Vault, _ people: PersonLookup?) -> [String] {
    let member = vault.member(member)?.name.string ?? member.shortHex
    func name(_ person: PersonID) -> String { people?.name(of: person) ?? person.shortHex }
    let doubt = clockLeap.map(Self.doubt) ?? ""
    let lines =
      expired.map {
        "\(name($0))'s access to \(member) was given until a date that has passed, and has ended.\(doubt)"
      }
      + revokedElsewhere.map {
        "\(name($0))'s access to \(member), which another owner took away, has ended."
      }
      + givenAgain.map {
        "\(name($0)), who has access to \(member), was given its key, which was changed without knowing of that."
      }
      + left.map { "\(name($0)) has left \(member), and has no key of it any more." }
    return lines.isEmpty ? ["\(member) has new keys, since someone's devices changed."] : lines
  }

  private static func doubt(_ leap: ClockLeap) -> String {
    let (now, seen) = (
      LocalTimeText.of(milliseconds: leap.now).day, LocalTimeText.of(milliseconds: leap.seen).day
    )
    return
      " That is by this machine's clock, which says \(now); the last that it saw of this vault is of \(seen). If the clock "
      + "is ahead, set it, and give the access again: kinvault share"
  }
}
