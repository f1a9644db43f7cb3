import Vault
import VaultModel

/// A form with files for a record, taken in as it comes. Its secret stands before them.
struct FilesForm: Sendable {
  private enum Field {
    case secret([UInt8])
    case file(Upload)
    case other
  }

  let address: RecordAddress
  let site: Site
  let visitor: PageContext
  private var field: Field?
  private var isChecked = false
  private static let secretLimit = 256

  init(address: RecordAddress, site: Site, visitor: PageContext) {
    (self.address, self.site, self.visitor) = (address, site, visitor)
  }

  /// - Throws: `HTTPError` for a form that this page has not given out; `Upload.BadName`; what `Upload` throws.
  mutating func take(_ piece: MultipartReader.Piece) throws {
    switch piece {
    case .begin(let name, let fileName): try begin(name, fileName)
    case .bytes(let bytes):
      switch field {
      case .secret(let known):
        guard known.count + bytes.count <= Self.secretLimit else { try check(""); return }
        field = .secret(known + bytes)
      case .file(let upload):
        site.desk.noteUse()
        // While nobody is locked out, that is.
        try site.desk.use { _ in try bytes.withUnsafeBytes { try upload.add($0) } }
      case .other, nil: break
      }
    case .end: try end()
    }
  }

  private mutating func begin(_ field: String, _ fileName: String?) throws {
    guard let fileName else {
      self.field = field == "form" ? .secret([]) : .other
      return
    }
    guard isChecked else { return try check("") }
    // Nothing was chosen.
    if fileName.isEmpty { return self.field = .other }
    // Some browsers once sent whole paths.
    let last = fileName.split(separator: "/").last.map(String.init) ?? fileName
    guard let name = FileName(last), name != .record else { throw Upload.BadName() }
    self.field = .file(try site.desk.use { try Upload.begin(name, to: address, in: $0) })
  }

  private mutating func end() throws {
    defer { field = nil }
    switch field {
    case .secret(let bytes): try check(String(decoding: bytes, as: UTF8.self))
    case .file(let upload):
      try site.desk.use { open in try open.change { try upload.finish(size: nil, in: open) } }
    case .other, nil: break
    }
  }

  private mutating func check(_ secret: String) throws {
    try site.check(secret, visitor)
    isChecked = true
  }
}
