import BlobStore
import VaultSync
import Window

extension RemoteProblem.Kind {
  init(_ kind: SyncProblem.Kind) {
    self =
      switch kind {
      case .wentBack, .rollback, .ownIsNewer, .withheld: .wentBack
      case .fork, .untrusted, .differs, .endlessListing, .tooMuchNew, .strangers, .foreignFile:
        .strange
      case .damagedThere, .missingThere: .damagedThere
      case .damagedHere, .missingHere: .damagedHere
      case .parted: .parted
      case .massChange: .massChange
      case .epoch: .access
      case .accessForgotten: .accessForgotten
      case .waiting: .waiting
      }
  }

  /// Of what ended a sync early.
  init(of error: any Error) {
    switch error as? SyncError {
    case .remote(let error): self.init(error)
    case .emptied: self = .emptied
    case .otherVault, .notThisVault, .notEmpty, .noVault: self = .notThisVault
    default: self = (error as? BlobStoreError).map(Self.init) ?? .failed
    }
  }

  private init(_ error: BlobStoreError) {
    self =
      switch error {
      case .unreachable, .timedOut, .throttled, .noSuchStore, .programFailed: .unreachable
      case .denied, .permission, .readOnly: .denied
      case .noSpace: .full
      case .untrusted: .unproven
      case .endlessListing: .strange
      case .garbled: .damagedThere
      case .notFound, .alreadyExists, .notABlob, .tooLarge, .invalidPath, .io, .unexpectedReply:
        .failed
      }
  }
}
