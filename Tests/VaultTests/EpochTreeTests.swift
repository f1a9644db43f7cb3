import Testing
import VaultModel

@testable import Vault

/// Which epoch is current, whoever begins which.
@Suite struct EpochTreeTests {
  private static let anna = PersonID(storage: Bytes32(exactly: [UInt8](repeating: 5, count: 32)))
  private static let ben = PersonID(storage: Bytes32(exactly: [UInt8](repeating: 9, count: 32)))
  private static let carla = PersonID(storage: Bytes32(exactly: [UInt8](repeating: 7, count: 32)))
  private static let sybil = PersonID(storage: Bytes32(exactly: [UInt8](repeating: 0, count: 32)))
  private let member = MemberID.random()
  private let first = EpochID(number: 1, owner: EpochTreeTests.anna)

  private func epoch(_ number: UInt32, _ owner: PersonID) -> EpochID {
    EpochID(number: number, owner: owner)
  }

  /// The grants of one epoch: its beginner's own, and those that it gives.
  private func grants(
    _ epoch: EpochID, follows: [EpochID] = [],
    _ others: [(person: PersonID, giver: PersonID, role: Role)] = []
  ) -> [GrantBody] {
    let own = GrantBody(
      member: member, epoch: epoch, person: epoch.owner, personGeneration: .zero,
      giver: epoch.owner,
      giverGeneration: .zero, certificate: .zero, role: .owner, wrappedKey: [], time: 0,
      follows: follows)
    return [own]
      + others.map {
        GrantBody(
          member: member, epoch: epoch, person: $0.person, personGeneration: .zero, giver: $0.giver,
          giverGeneration: .zero, certificate: .zero, role: $0.role, wrappedKey: [], time: 0)
      }
  }

  private func chain(_ grants: [GrantBody], seen: EpochID? = nil) -> GrantChain {
    var outcomes: Set<EpochID?> = []
    var chain = GrantChain()
    // The order in which they come says nothing.
    for order in [grants, grants.reversed(), grants.shuffled()] {
      chain = GrantChain()
      chain.admit(order, creator: Self.anna, seen: seen)
      outcomes.insert(chain.current)
    }
    #expect(outcomes.count == 1)
    return chain
  }

  /// Anna has made Ben and Carla owners.
  private var family: [GrantBody] {
    grants(
      first,
      [(Self.ben, Self.anna, .owner), (Self.carla, Self.anna, .owner)])
  }

  @Test func anEpochFollowsOneOfWhichItsBeginnerIsAnOwner() {
    let second = epoch(2, Self.ben)
    #expect(chain(family + grants(second, follows: [first])).current == second)
    // Without a predecessor, of a number that is not above or too far, or of someone who is no owner, it is none.
    #expect(chain(family + grants(second)).current == first)
    for number: UInt32 in [1, 65_538] {
      let other = epoch(number, Self.ben)
      #expect(chain(family + grants(other, follows: [first])).current == first)
    }
    #expect(
      chain(family + grants(epoch(65_537, Self.ben), follows: [first])).current?.number == 65_537)
    #expect(chain(family + grants(epoch(2, Self.sybil), follows: [first])).current == first)
    let unknown = epoch(1, Self.carla)
    #expect(chain(family + grants(second, follows: [first, unknown])).current == first)
    let huge = epoch(.max, Self.ben)
    #expect(chain(family + grants(huge, follows: [epoch(.max, Self.ben)])).current == first)
  }

  @Test func anEditorBeginsNone() {
    let editor = grants(first, [(Self.ben, Self.anna, .editor)])
    #expect(chain(editor + grants(epoch(2, Self.ben), follows: [first])).current == first)
  }

  @Test func ofTwoAtOnceTheGreaterOneCountsAndWhatTheOtherSaysIsNotMissed() {
    let four = grants(
      first,
      [
        (Self.ben, Self.anna, .owner), (Self.carla, Self.anna, .viewer),
        (Self.sybil, Self.anna, .viewer),
      ])
    let (annas, bens) = (epoch(2, Self.anna), epoch(2, Self.ben))
    let both =
      four
      + grants(
        annas, follows: [first], [(Self.ben, Self.anna, .owner), (Self.carla, Self.anna, .viewer)])
      + grants(
        bens, follows: [first], [(Self.anna, Self.ben, .owner), (Self.sybil, Self.ben, .viewer)])
    let found = chain(both)
    #expect(found.current == bens)
    #expect(found.outcome?.besides == [annas])
    #expect(found.outcome.map { found.epochs.missed(by: $0) } == [Self.sybil])
    // One that follows both ends it; whom somebody lets in again afterwards stays in.
    let next = epoch(3, Self.anna)
    let merged = chain(
      both
        + grants(
          next, follows: [bens, annas],
          [(Self.ben, Self.anna, .owner), (Self.sybil, Self.anna, .viewer)]))
    #expect(merged.current == next)
    #expect(merged.outcome?.besides == [])
    #expect(merged.outcome.map { merged.epochs.missed(by: $0) } == [])
  }

  /// The attack: Ben was an owner, keeps his keys and may write to the store, and makes a longer line of his own.
  @Test(arguments: [0, 1, 2]) func aLongerLineOfWhoWasTakenOutLoses(keptOwners: Int) {
    let revoked =
      family + grants(epoch(2, Self.anna), follows: [first], [(Self.carla, Self.anna, .owner)])
    var others: [(PersonID, PersonID, Role)] = []
    if keptOwners > 0 { others.append((Self.carla, Self.ben, .owner)) }
    if keptOwners > 1 { others.append((Self.anna, Self.ben, .owner)) }
    var forged: [GrantBody] = []
    var last = first
    for number in 2...40 {
      let next = epoch(UInt32(number), Self.ben)
      forged += grants(next, follows: [last], others)
      last = next
    }
    let found = chain(revoked + forged)
    #expect(found.current == epoch(2, Self.anna))
    #expect(found.outcome?.struck.count == 39)
    #expect(!found.mayWrite(Self.ben))
    #expect(found.couldWrite(Self.ben))
  }

  @Test func whomARevokedOwnerLetsInGetsNoFurther() {
    let revoked =
      family + grants(epoch(2, Self.anna), follows: [first], [(Self.carla, Self.anna, .owner)])
    // In the old epoch Ben is an owner for ever, so he makes someone one whose id is as small as he likes.
    let letIn = GrantBody(
      member: member, epoch: first, person: Self.sybil, personGeneration: .zero, giver: Self.ben,
      giverGeneration: .zero, certificate: .zero, role: .owner, wrappedKey: [], time: 0)
    let forged = [letIn] + grants(epoch(2, Self.sybil), follows: [first])
    #expect(chain(revoked + forged).current == epoch(2, Self.anna))
  }

  @Test func anEpochOfBeforeDoesNotUndoWhatCameAfter() {
    // Ben is taken out in the third epoch, and follows the first one, where nothing was said of him.
    let line =
      family
      + grants(
        epoch(2, Self.anna), follows: [first],
        [(Self.ben, Self.anna, .owner), (Self.carla, Self.anna, .owner)])
      + grants(
        epoch(3, Self.anna), follows: [epoch(2, Self.anna)], [(Self.carla, Self.anna, .owner)])
    for others in [[], [(Self.anna, Self.ben, Role.owner)]] {
      let forged = grants(epoch(2, Self.ben), follows: [first], others)
      #expect(chain(line + forged).current == epoch(3, Self.anna))
    }
    // Nor on the back of someone who is not to blame: Carla began one when she did not know.
    let carlas = grants(
      epoch(2, Self.carla), follows: [first],
      [(Self.ben, Self.carla, .owner), (Self.anna, Self.carla, .owner)])
    let onHers = grants(epoch(3, Self.ben), follows: [epoch(2, Self.carla)])
    #expect(chain(line + carlas + onHers).current == epoch(3, Self.anna))
    let further = grants(epoch(4, Self.ben), follows: [epoch(3, Self.ben)])
    #expect(chain(line + carlas + onHers + further).current == epoch(3, Self.anna))
  }

  @Test func whoTakesOutOneAnotherStandsByWhoGaveToWhom() {
    // Anna gave to Ben.
    let annas = grants(epoch(2, Self.anna), follows: [first])
    let bens = grants(epoch(2, Self.ben), follows: [first])
    let carlas = grants(epoch(2, Self.carla), follows: [first])
    #expect(chain(family + annas + bens).current == epoch(2, Self.anna))
    // Of equals the lower one, however they go on.
    #expect(chain(family + bens + carlas).current == epoch(2, Self.carla))
    let more = grants(epoch(3, Self.ben), follows: [epoch(2, Self.ben)])
    #expect(chain(family + bens + more + carlas).current == epoch(2, Self.carla))
    #expect(chain(family + annas + bens + carlas).current == epoch(2, Self.anna))
  }

  /// Whoever made the member can say of any time that they took the others out before they were: but not to whom has
  /// seen otherwise.
  @Test func whoHasSeenARevocationIsNotLedBehindIt() {
    let bens = grants(epoch(2, Self.ben), follows: [first], [(Self.carla, Self.ben, .owner)])
    let annas = grants(
      epoch(2, Self.anna), follows: [first],
      [(Self.ben, Self.anna, .editor), (Self.carla, Self.anna, .owner)])
    let further = grants(
      epoch(3, Self.anna), follows: [epoch(2, Self.anna)], [(Self.carla, Self.anna, .owner)])
    let seen = epoch(2, Self.ben)
    #expect(chain(family + bens + annas + further).current == epoch(3, Self.anna))
    let found = chain(family + bens + annas + further, seen: seen)
    #expect(found.current == seen)
    #expect(found.outcome?.struck == [epoch(2, Self.anna), epoch(3, Self.anna)])
    // What an owner who is one still did at the same time counts for them as for all.
    let carlas = grants(
      epoch(2, Self.carla), follows: [first],
      [(Self.ben, Self.carla, .owner), (Self.anna, Self.carla, .owner)])
    let all = chain(family + bens + carlas, seen: seen)
    #expect(all.current == seen)
    #expect(all.outcome?.besides == [epoch(2, Self.carla)])
    // And what follows what was seen is followed.
    let next = grants(epoch(3, Self.carla), follows: [seen], [(Self.ben, Self.carla, .owner)])
    #expect(chain(family + bens + next, seen: seen).current == epoch(3, Self.carla))
  }

  @Test func aRingOfPeopleWhoTakeOutOneAnotherEndsSomehowTheSame() {
    let annas = grants(epoch(2, Self.anna), follows: [first], [(Self.carla, Self.anna, .owner)])
    let bens = grants(epoch(2, Self.ben), follows: [first], [(Self.anna, Self.ben, .owner)])
    let carlas = grants(epoch(2, Self.carla), follows: [first], [(Self.ben, Self.carla, .owner)])
    #expect(chain(family + annas + bens + carlas).current != nil)
  }
}
