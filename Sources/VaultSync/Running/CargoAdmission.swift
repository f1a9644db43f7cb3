import BlobStore
import Vault
import VaultErrors
import VaultModel
import VaultObjects
import VaultTrust

/// Takes strangers' news as far as there is room for it: people first, then members, of each the smallest first.
struct CargoAdmission {
  let session: SyncSession
  let local: LocalLook
  /// As it would be with the news.
  let tree: SignedTree
  let vouching: Vouching
  private(set) var taken: Set<CargoOwner> = []
  /// What is not taken, with what it weighs at least.
  private(set) var left: [CargoOwner: CargoWeight] = [:]
  /// What may come of the members that are taken.
  private(set) var rooms: [MemberID: CargoRoom] = [:]
  /// What all that is taken weighs.
  private(set) var weight = CargoWeight()
  private var room = CargoWeight()
  /// Whose folders are here.
  private let here: Set<CargoOwner>

  init(session: SyncSession, local: LocalLook, tree: SignedTree, vouching: Vouching) {
    (self.session, self.local, self.tree, self.vouching) = (session, local, tree, vouching)
    here = local.owners
  }

  /// - Parameter news: What the signed files of each weigh that are news.
  mutating func run(_ news: [CargoOwner: CargoWeight]) throws(SyncError) {
    let here = CargoHere(session: session, local: local, tree: tree, vouching: vouching)
    room = session.options.strangersLimit.less(try here.weight())
    let order = CargoQuota.smallestFirst(news)
    for case (.person(let person), let weight) in order { judge(person, weight) }
    for case (.member(let member), let weight) in order { try judge(member, weight) }
  }

  private mutating func judge(_ person: PersonID, _ weight: CargoWeight) {
    guard tree.holds(person), weight.fits(room) else {
      left[.person(person)] = weight
      return
    }
    take(.person(person), weight)
  }

  private mutating func take(_ owner: CargoOwner, _ weight: CargoWeight) {
    taken.insert(owner)
    self.weight += weight
    room = room.less(weight)
  }

  private mutating func judge(
    _ member: MemberID, _ signed: CargoWeight
  ) throws(SyncError) {
    var weight = signed
    let creator = try keeping(tree.creator(of: member))
    guard let creator, isHere(creator), weight.fits(room) else {
      left[.member(member)] = weight
      return
    }
    weight += try weighObjects(of: member, room: room.less(signed))
    guard weight.fits(room) else {
      left[.member(member)] = weight
      return
    }
    take(.member(member), weight)
    rooms[member] = CargoRoom(weight)
  }

  /// Whether the files of a person are here, or come with this sync.
  private func isHere(_ person: PersonID) -> Bool {
    vouching.carries(person) || taken.contains(.person(person))
      || here.contains(.person(person))
  }

  // MARK: Weights

  /// An object whose size is not said counts as if it were the largest chunk.
  private static let unsaidByteCount = UInt64(ObjectStore.fileSizeLimit(of: .chunk))

  /// The objects that the remote lists and that are not here; of more than there is room for, the first ones.
  private func weighObjects(
    of member: MemberID, room: CargoWeight
  ) throws(SyncError) -> CargoWeight {
    let here =
      local.members.contains(member)
      ? try ObjectListing.loadHere(member, session: session) : [:]
    var weight = CargoWeight()
    do {
      try session.remote.walk(
        under: BlobPath("members/\(member.hex)/objects"), depth: 3, limit: RemoteLook.nameLimit
      ) { path, entry in
        guard let path, case .object(_, let name)? = VaultPath(parsing: path.string),
          here[name] == nil
        else { return .goOn }
        // Some servers say no sizes, and then it is listed as 0.
        weight.add(byteCount: entry.size == 0 ? Self.unsaidByteCount : entry.size)
        return weight.fits(room) ? .goOn : .stop
      }
    } catch {
      guard error.concernsOneFile else { throw .remote(error) }
      return CargoWeight(fileCount: .max, byteCount: .max)
    }
    return weight
  }
}
