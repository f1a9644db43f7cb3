import VaultModel

/// Why a signed file is none, whoever wrote it.
package enum TrustError: Error, Hashable, Sendable {
  /// The file is not a body and a signature in their one spelling, or the body breaks the format or its limits.
  case body(ModelError)
  /// The signature is not that of the key that has to have made it.
  case signature
  /// A key that the statement speaks of has not agreed to it.
  case consent
  /// Whose signature it has to have is not known here yet.
  case unknownSigner
  /// Its device was left out by its person, and no closing lists it.
  case departed
  /// A field says otherwise than the certificate, the path or the rules for it.
  case contradiction(String)
}

extension TrustError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .body(let error): "\(error)"
    case .signature: "its signature is wrong"
    case .consent: "a key that it speaks of has not agreed to it"
    case .unknownSigner: "the statement that names its signer is not here"
    case .departed: "its device has been removed, and no closing lists it"
    case .contradiction(let what): "it contradicts itself: \(what)"
    }
  }
}
