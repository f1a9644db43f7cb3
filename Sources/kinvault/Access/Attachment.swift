import BlobStore
import Glibc
import SystemPackage
import Threads
import Vault
import VaultFiles
import VaultModel
import VaultPlain

/// Plain files and folders that are to become part of a record.
struct Attachment {
  private struct Source {
    let file: PlainFile
    let name: FileName
    let isFolder: Bool
  }

  private let sources: [Source]
  private let member: Member
  private let progress: TransferProgress
  private var files: FileImport

  /// - Throws: `PlainFileError` when one of them is not there; `usage` for a name that none can have.
  static func find(_ paths: [String], for member: Member) throws -> Attachment {
    let paths = ArgumentBytes.of(paths)
    let sources: [Source] = try paths.map { path in
      guard !path.isEmpty else {
        throw CommandError.usage("The name of a file to attach is empty. Say its path.")
      }
      let file = PlainFile(path: path)
      let status = try file.status()
      guard let last = path.split(separator: UInt8(ascii: "/")).last, let name = FileName(last)
      else {
        throw CommandError.usage(
          "\(file.description) has no name that an attachment could have.")
      }
      return Source(file: file, name: name, isFolder: status.st_mode & S_IFMT == S_IFDIR)
    }
    let progress = TransferProgress(
      "Attaching", total: paths.reduce(0) { $0 &+ PlainSize.measure($1) })
    let files = FileImport(
      into: member, mediaType: { MediaType.of($0, mode: $1) },
      progress: { progress.add($0) })
    return Attachment(sources: sources, member: member, progress: progress, files: files)
  }

  /// - Throws: `alreadyExists` if a name is taken, or given twice.
  func checkNames(isTaken: (FileName) throws -> Bool) throws {
    var seen: Set<FileName> = []
    for source in sources {
      guard try seen.insert(source.name).inserted && !isTaken(source.name) else {
        throw CommandError.alreadyExists(
          "The record has \u{201C}\(Terminal.visible(source.name.string))\u{201D} already. Rename one of them first. Only a "
            + "file can take the place of a file: --replace")
      }
    }
  }

  /// The item of a note with this content.
  mutating func note(_ content: [UInt8]) throws -> Item {
    try files.item(forContent: content, named: .record, modified: .now)
  }

  /// The items of the files; their content is staged.
  mutating func readFiles() throws -> [(FileName, Item)] {
    var items: [(FileName, Item)] = []
    for source in sources where !source.isFolder {
      items.append((source.name, try files.item(for: source.file, named: source.name)))
    }
    return items
  }

  /// Takes the folders in as records of their own; durable when it returns. Of one that fails midway, or of which something is left
  /// out, the audit log says that it was brought in part.
  ///
  /// - Returns: How much was left out, and told, that may come in another time.
  func readFolders(into record: RecordID, audit: AuditLog) throws -> Int {
    var missingCount = 0
    for source in sources where source.isFolder {
      var folder = FolderImport(into: member, files: files)
      func note(_ detail: String) {
        audit.note(.import, member: member.id, record: record, name: source.name, detail: detail)
      }
      do { try folder.run(source.file, titled: source.name, in: record) } catch {
        if folder.hasCommitted { note("folder, in part") }
        throw error
      }
      let missing = tell(folder.leftOut)
      note(missing == 0 ? "folder" : "folder, in part")
      missingCount += missing
    }
    return missingCount
  }

  /// - Returns: How much of it may come in another time; a device or a socket never can.
  private func tell(_ leftOut: [PlainFileError]) -> Int {
    if !leftOut.isEmpty { progress.finish() }
    var missingCount = leftOut.count
    for error in leftOut {
      Terminal.note("kinvault: Left out: \(Terminal.visible(error.message))")
      if case .notImportable = error { missingCount -= 1 }
    }
    return missingCount
  }

  /// What a command ends with whose folders did not come in as a whole, and tells.
  ///
  /// - Parameter missingCount: As `readFolders` says it.
  /// - Throws: `problemsFound`.
  static func requireWhole(missingCount: Int) throws(CommandError) {
    if missingCount == 0 { return }
    let missing = counted(missingCount, "file or folder was", "files or folders were")
    Terminal.note(
      "kinvault: \(missing) left out; everything else is in the vault. To attach what can be read later: "
        + "kinvault attach RECORD FILE")
    throw .problemsFound
  }

  var names: [FileName] { sources.map(\.name) }
  var folderNames: [FileName] { sources.filter(\.isFolder).map(\.name) }

  func finish() { progress.finish() }
}

/// A progress bar for bytes that are told piece by piece.
final class TransferProgress: Sendable {
  private let label: String
  private let total: UInt64
  private let bar = ProgressBar(.bytes)
  private let done = Guarded<UInt64>(0)

  init(_ label: String, total: UInt64) {
    self.label = label
    self.total = total
  }

  func add(_ count: UInt64) {
    let sum = done.withLock { done in
      done += count
      return done
    }
    bar.update(WorkProgress(label: label, done: sum, total: total))
  }

  func finish() { bar.finish() }
}

/// How many bytes of files there are at a path; what cannot be read counts as nothing.
private enum PlainSize {
  static func measure(_ path: [UInt8]) -> UInt64 {
    guard let status = try? PlainFile(path: path).status() else { return 0 }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      return status.st_mode & S_IFMT == S_IFREG ? UInt64(clamping: status.st_size) : 0
    }
    return FolderNames.readable(in: FilePath(bytes: path)).reduce(0) { sum, name in
      sum &+ measure(path + [UInt8(ascii: "/")] + name)
    }
  }
}
