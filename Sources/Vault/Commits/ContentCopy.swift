import VaultErrors
import VaultModel
import VaultObjects

/// Puts contents of one member into another one, whose keys are others; they are staged there until a commit names them.
struct ContentCopy {
  let source: Member
  let target: Member

  func copied(_ content: Item.Content) throws(VaultError) -> Item.Content {
    switch content {
    case .none, .inline, .symlink: return content
    case .chunks, .indexes:
      let chunks = try source.chunks(of: content)
      _ = try inParallel(chunks.compactMap(\.self)) { (chunk) throws(VaultError) in
        try target.objects.put(.chunk, source.objects.content(chunk, kind: .chunk))
      }
      return try target.content(of: chunks)
    }
  }
}
