import Rendering
import Threads
import Vault
import VaultErrors
import VaultModel

/// Pictures of attached files, made by a `Renderer` when somebody asks. What came of a content, also nothing, is kept
/// sealed in the member's `DerivedStore`, so that each is opened once for each view. Safe to use from any thread.
package final class Pictures: Sendable {
  /// What came of asking.
  package enum Found<Value: Sendable & Equatable>: Equatable, Sendable {
    case here(Value)
    /// There is none of this content, and it will not be tried again: it is of another kind, is damaged or too large, asks for
    /// a password, or ended what opened it.
    case nothing
    /// The object that a lazy vault keeps elsewhere; nil where something is damaged or missing.
    case lacking(ContentDigest?)
    /// Nothing can be made here, as the program for it is not installed or cannot be run.
    case unavailable
  }

  /// The digit is another one when something else is made of a file: then all are made again.
  private static let mark = Array("KVP1".utf8)

  private let renderer: Renderer?
  /// What is being made.
  private let making = Monitor<Set<Source>>([])

  private struct Source: Hashable {
    let member: MemberID
    let content: DerivedContent
  }

  /// A file as somebody asks about it.
  private struct Asked {
    let item: Item
    let member: Member
    /// Whether what a lazy vault keeps elsewhere is brought here for it.
    let fetching: Bool

    /// Of a file whose name does not say it.
    func unsaidForm() throws(VaultError) -> ContentHere<PictureForm?> {
      guard item.isOfUnsaidForm else { return .here(nil) }
      switch try bytes(limit: PictureForm.beginningCount) {
      case .here(let bytes): return .here(PictureForm(beginning: bytes))
      case .lacking(let object): return .lacking(object)
      }
    }

    func bytes(limit: Int) throws(VaultError) -> ContentHere<[UInt8]> {
      guard fetching else { return try member.beginningHere(of: item, byteCount: limit) }
      do {
        return .here(try member.beginning(of: item, byteCount: limit))
      } catch {
        guard error.isDamage else { throw error }
        return .lacking(nil)
      }
    }
  }

  /// - Parameter renderer: What opens the files; nil where there is nothing that does.
  package init(_ renderer: Renderer?) { self.renderer = renderer }

  /// A picture of a file, as WebP. Takes some 50 ms of a processor where it is not kept, and for what is made to do harm up to
  /// 40 s.
  ///
  /// - Parameter fetching: Whether what a lazy vault keeps elsewhere is brought here for it; otherwise that is `lacking`.
  /// - Throws: Where the vault cannot be read; a damaged or missing content is `lacking`.
  package func picture(
    _ view: PictureView, of item: Item, of member: Member, fetching: Bool = false
  ) throws(VaultError) -> Found<[UInt8]> {
    try find(view.kind, of: Asked(item: item, member: member, fetching: fetching)) {
      renderer, bytes in
      switch view.part {
      case .whole: renderer.thumbnail(of: bytes, side: view.side)
      case .page(let number): renderer.page(number, of: bytes, side: view.side)
      case .windowedPage(let number, let window):
        renderer.page(number, of: bytes, side: view.side, window: window)
      }
    }
  }

  /// What kind of file a picture can be made of, by its name, or where that says nothing by what the file begins with. That
  /// costs reading the first chunk of each such file, so it is for a file that is looked at and not for long lists. Nil also for
  /// what is damaged, or not here.
  ///
  /// - Parameter fetching: Whether a beginning that a lazy vault keeps elsewhere is brought here for it.
  package func form(
    of item: Item, of member: Member, fetching: Bool = false
  ) throws(VaultError) -> PictureForm? {
    if let form = PictureForm(of: item) { return form }
    let asked = Asked(item: item, member: member, fetching: fetching)
    guard case .here(let form) = try asked.unsaidForm() else { return nil }
    return form
  }

  /// What `form` says, as far as that can be told without fetching anything: a file that a lazy vault keeps elsewhere, and of
  /// which only its beginning would tell, may be anything.
  package func formIfHere(
    of item: Item, of member: Member
  ) throws(VaultError) -> ContentHere<PictureForm?> {
    if let form = PictureForm(of: item) { return .here(form) }
    return try Asked(item: item, member: member, fetching: false).unsaidForm()
  }

  /// What a DICOM file says of itself; `nothing` for what is none.
  package func header(
    ofDICOM item: Item, of member: Member, fetching: Bool = false
  ) throws(VaultError) -> Found<DICOMHeader> {
    let asked = Asked(item: item, member: member, fetching: fetching)
    let found = try find(.dicomHeader, of: asked) { renderer, bytes in
      renderer.header(ofDICOM: bytes)
    }
    return found.map { DICOMHeader($0) }
  }

  /// How many pages a file has, or frames; 1 of an image that is no TIFF. There may be no picture of them all the same.
  package func pageCount(
    of item: Item, of member: Member, fetching: Bool = false
  ) throws(VaultError) -> Found<Int> {
    let asked = Asked(item: item, member: member, fetching: fetching)
    let found = try find(.pageCount, of: asked) { renderer, bytes in renderer.pageCount(of: bytes) }
    return found.map { Int(String(decoding: $0, as: UTF8.self)) }
  }

  private typealias Making = (Renderer, [UInt8]) -> Renderer.Answer

  private func find(
    _ kind: DerivedContent.Kind, of asked: Asked, by make: Making
  ) throws(VaultError) -> Found<[UInt8]> {
    let (item, member) = (asked.item, asked.member)
    guard PictureForm(of: item) != nil || item.isOfUnsaidForm,
      item.size <= UInt64(Renderer.inputLimit)
    else { return .nothing }
    let content = DerivedContent(kind, of: item)
    if let kept = try kept(content, member) { return kept }
    let form: PictureForm
    if let said = PictureForm(of: item) {
      form = said
    } else {
      switch try asked.unsaidForm() {
      case .lacking(let object): return .lacking(object)
      case .here(nil): return .nothing
      case .here(let found?): form = found
      }
    }
    // Of those who ask for one at the same time the first makes it.
    let source = Source(member: member.id, content: content)
    begin(source)
    defer { making.change { _ = $0.remove(source) } }
    if let kept = try kept(content, member) { return kept }
    guard let renderer, !form.formats.allSatisfy(renderer.isKnownUnavailable) else {
      return .unavailable
    }
    switch try asked.bytes(limit: Renderer.inputLimit) {
    case .lacking(let object): return .lacking(object)
    case .here(let bytes):
      let answer: [UInt8]
      switch make(renderer, bytes) {
      case .bytes(let bytes): answer = bytes
      case .nothing: answer = []
      case .unavailable: return .unavailable
      }
      try member.derived.store(Self.mark + answer, as: content)
      return answer.isEmpty ? .nothing : .here(answer)
    }
  }

  private func begin(_ source: Source) {
    making.wait { $0.insert(source).inserted ? .answer(()) : .wait }
  }

  private func kept(
    _ content: DerivedContent, _ member: Member
  ) throws(VaultError) -> Found<[UInt8]>? {
    guard let bytes = try member.derived.load(content), bytes.starts(with: Self.mark) else {
      return nil
    }
    let answer = Array(bytes.dropFirst(Self.mark.count))
    return answer.isEmpty ? .nothing : .here(answer)
  }
}

extension Pictures.Found {
  /// What is made of the value, where there is one; `nothing` where nothing can be made of it.
  fileprivate func map<Other>(_ make: (Value) -> Other?) -> Pictures.Found<Other> {
    switch self {
    case .here(let value): make(value).map { .here($0) } ?? .nothing
    case .nothing: .nothing
    case .lacking(let object): .lacking(object)
    case .unavailable: .unavailable
    }
  }
}
