import VaultCrypto
import VaultModel

// The chain of a person's root keys. Docs/Format.md, "Replacing the words".

extension IdentityBody {
  /// - Throws: `damaged` unless each root key was signed by the one before it.
  func verifyRootKeys(binding: Binding) throws(VaultError) {
    let path = VaultPath.identity(person).string
    for (number, successor) in successors.enumerated() {
      let isValid = verifySignature(
        label: .successor, binding: binding, path: path,
        body: RootSuccessor.signedBody(number: number + 1, successor.rootPublicKey),
        signature: successor.signature, publicKey: rootKeys[number])
      guard isValid else {
        throw .damaged(path: path, reason: "its chain of root keys does not hold")
      }
    }
  }

  /// Whether this identity may take the place of `known`: the root keys of that one are the beginning of these, and if
  /// they are the same, it goes on from the generation of that one.
  func succeeds(_ known: IdentityBody) -> Bool {
    rootKeys.starts(with: known.rootKeys)
      && (rootKeys.count > known.rootKeys.count || goesOn(from: known))
  }

  /// Whether neither was written with knowing the other.
  func isDivided(from known: IdentityBody) -> Bool {
    !goesOn(from: known) && !known.goesOn(from: self)
  }

  /// Whether it has the generation that is current in `known`: whoever wrote it knew that one.
  func goesOn(from known: IdentityBody) -> Bool {
    generation == known.generation && signingPublicKey == known.signingPublicKey
      || past.contains {
        $0.generation == known.generation && $0.signingPublicKey == known.signingPublicKey
      }
  }

  /// - Throws: `wrongWords` unless the key, that of some words, is among the root keys; `replacedWords` unless it is the
  ///   newest.
  func requireNewest(_ rootKey: [UInt8]) throws(VaultError) {
    guard rootKey != newestRootKey else { return }
    guard let position = rootKeys.firstIndex(of: rootKey) else { throw .wrongWords }
    throw .replacedWords(time: successors[position].time)
  }

  /// Why an identity that does not succeed the known one is not taken.
  func replacedWords() -> VaultError {
    .damaged(
      path: VaultPath.identity(person).string,
      reason: "it is signed with 24 words that its person has replaced")
  }
}

extension RootSuccessor {
  /// What the root key before signs.
  ///
  /// - Parameter number: In the list of successors, from 1.
  static func signedBody(number: Int, _ publicKey: [UInt8]) -> [UInt8] {
    withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) } + publicKey
  }
}

extension People {
  /// These people, but for whoever is shown with words that were replaced since: that one stays as known.
  func keepingSuccessions(of known: People) -> People {
    var people = self
    for (id, old) in known.persons {
      guard let new = persons[id], !new.identity.succeeds(old.identity) else { continue }
      people.put(old, of: id, because: new.identity.replacedWords())
    }
    return people
  }

  /// These people without those who are shown with fewer root keys than this machine has seen.
  ///
  /// - Parameter trusted: Of whom an older identity may be taken: a backup of it was put back on purpose.
  func dismissingReplacedWords(seen marks: Watermarks, except trusted: PersonID?) -> People {
    var people = self
    for mark in marks.marks {
      guard case .identity(let id) = mark.path, let person = persons[id],
        person.identity.rootKeys.count < mark.rootCount,
        id != trusted || person.identity.counter >= mark.counter
      else { continue }
      people.put(nil, of: id, because: person.identity.replacedWords())
    }
    return people
  }
}
