import BlobStore

extension BlobStoreError {
  /// The message, in which of every id and hash its beginning stands, as elsewhere: nobody reads 64 digits, and whatever is
  /// looked for among the remote's files is found by eight.
  var shortMessage: String {
    var text = ""
    var digits = ""
    func endDigits() {
      text += digits.utf8.count == 64 ? "\(digits.prefix(8))…" : digits
      digits = ""
    }
    for character in message {
      if character.isASCII, character.isHexDigit, !character.isUppercase {
        digits.append(character)
      } else {
        endDigits()
        text.append(character)
      }
    }
    endDigits()
    return text
  }
}
