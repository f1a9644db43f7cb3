/// What something besides a password could not do, in terms a person can act on. No case carries a secret.
package enum TokenError: Error, Equatable {
  /// There is none on this machine, or it cannot be reached.
  case noneHere(String)
  case wrongPIN
  /// The PIN was wrong too often: it has to wait, or to be unblocked, as its maker says.
  case lockedOut
  /// It asks for a PIN.
  case needsPIN
  /// It has no PIN, and one was to be used.
  case hasNoPIN
  /// It is another one than the slot was made with.
  case another
  /// Nobody touched it in time, or said no.
  case notConfirmed
  /// It cannot do what is needed.
  case unsuitable(String)
  /// Nothing is kept there for this slot.
  case notKept
  /// Anything else, in its library's words.
  case failed(String)
}
