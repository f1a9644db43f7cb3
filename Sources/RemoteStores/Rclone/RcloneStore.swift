import BlobStore
import Synchronization
import Threads

/// A folder on any of rclone's remotes, by way of the user's own `rclone` and its configuration.
///
/// Rclone tries again by itself, and compares hashes after uploads where the remote has any. Where an upload that breaks off
/// may leave a part of a file (rclone knows of each kind of remote whether), a blob is put under a temporary name first, then
/// moved; rclone may remove what was there just before, so for a moment there may be no blob of that name. `ifAbsent` looks first.
package final class RcloneStore: BlobStore {
  private let program: RcloneProgram
  /// `remote:path`.
  private let fs: String
  private let putsInTwoSteps: Bool

  /// A whole tree's listing in bytes, some two million names.
  private static let listingLimit = 256 << 20

  /// Starts rclone. Throws `programFailed` when there is none, when it does not know the remote, and for a folder with `]` in its
  /// path: what rclone serves is asked for as `[remote:path]/name`, where the first `]` ends the path, so that it would take
  /// every file and give none back.
  /// - Parameter environment: What rclone gets: its configuration may be named there.
  package static func start(
    _ fs: String, program name: String = "rclone", environment: [String: String],
    timeouts: Timeouts = Timeouts()
  ) throws(BlobStoreError) -> RcloneStore {
    guard !fs.utf8.contains(UInt8(ascii: "]")) else {
      throw .programFailed(
        program: "rclone",
        reason: "it reads nothing from a folder with \u{2018}]\u{2019} in its path; use one without"
      )
    }
    let program = try RcloneProgram.start(
      program: name, environment: environment, timeouts: timeouts)
    let info: Info = try program.run("operations/fsinfo", Place(fs: fs), about: .root)
    return RcloneStore(
      program, fs,
      putsInTwoSteps: info.features.partialUploads == true && info.features.move == true)
  }

  private init(_ program: RcloneProgram, _ fs: String, putsInTwoSteps: Bool) {
    self.program = program
    self.fs = fs
    self.putsInTwoSteps = putsInTwoSteps
  }

  private struct Place: Encodable {
    var fs: String
    var remote: String?
    var opt: Options?
    struct Options: Encodable {
      var recurse = false
      var noMimeType = true
    }
  }

  private struct Info: Decodable {
    struct Features: Decodable {
      var partialUploads: Bool?
      var move: Bool?
      enum CodingKeys: String, CodingKey {
        case partialUploads = "PartialUploads"
        case move = "Move"
      }
    }
    var features: Features
    enum CodingKeys: String, CodingKey {
      case features = "Features"
    }
  }

  private struct Item: Decodable {
    var path: String
    var name: String
    var size: Int64
    var modificationTime: String?
    var isFolder: Bool
    enum CodingKeys: String, CodingKey {
      case path = "Path"
      case name = "Name"
      case size = "Size"
      case modificationTime = "ModTime"
      case isFolder = "IsDir"
    }

    /// - Parameter name: As the caller needs it.
    func entry(name: String) -> BlobEntry {
      let size = UInt64(max(size, 0))
      return BlobEntry(
        name: name, kind: isFolder ? .folder : .blob, size: isFolder ? 0 : size,
        fingerprint: isFolder ? 0 : Fingerprint.of(modificationTime ?? "", size))
    }
  }

  private struct Nothing: Decodable {}

  // MARK: Blobs

  package func read(_ path: BlobPath, limit: Int) throws(BlobStoreError) -> [UInt8] {
    let reply = try program.download(path, fs: fs, limit: limit)
    guard reply.isSuccess else { throw try failure(reply, path) }
    return reply.body
  }

  package func read(
    _ path: BlobPath, at offset: UInt64, count: Int
  ) throws(BlobStoreError) -> [UInt8] {
    // Rclone's answer to a range behind the end makes no sense, so its end must be known.
    guard let size = try size(of: path) else { throw .notFound(path: path.string) }
    guard offset < size, count > 0 else { return [] }
    let present = Int(min(UInt64(count), size - offset))
    let reply = try program.download(
      path, fs: fs, headers: [(name: "Range", value: ByteRange.header(offset, present))],
      limit: present)
    guard reply.isSuccess else { throw try failure(reply, path) }
    return try ByteRange.body(of: reply, about: path, from: offset, count: present) {
      program.failure($0, path)
    }
  }

  /// A folder is "not found" to rclone as well.
  private func failure(_ reply: HTTPReply, _ path: BlobPath) throws(BlobStoreError)
    -> BlobStoreError
  {
    let failure = program.failure(reply, path)
    if failure == .notFound(path: path.string) { _ = try size(of: path) }
    return failure
  }

  package func size(of path: BlobPath) throws(BlobStoreError) -> UInt64? {
    guard let item = try item(at: path) else { return nil }
    if item.isFolder { throw .notABlob(path: path.string) }
    return UInt64(max(item.size, 0))
  }

  private func item(at path: BlobPath) throws(BlobStoreError) -> Item? {
    struct Answer: Decodable {
      var item: Item?
    }
    do {
      let answer: Answer = try program.run(
        "operations/stat", Place(fs: fs, remote: path.string, opt: Place.Options()), about: path)
      return answer.item
    } catch .notFound {
      return nil
    }
  }

  package func put(
    _ path: BlobPath, _ bytes: UnsafeRawBufferPointer, _ condition: PutCondition
  ) throws(BlobStoreError) {
    if condition == .ifAbsent, try size(of: path) != nil {
      throw .alreadyExists(path: path.string)
    }
    guard putsInTwoSteps else { return try program.upload(bytes, to: path, fs: fs) }
    let temporary = (path.parent ?? .root).appending(TemporaryName.make(for: path.name))
    try program.upload(bytes, to: temporary, fs: fs)
    try settle(temporary, as: path, byteCount: bytes.count)
  }

  /// Moves a blob to its name. Someone else may put the same blob just now, and rclone, which looks before and after it
  /// moves, stumbles over what went away meanwhile: then it looks whether all is well, or moves again.
  private func settle(
    _ temporary: BlobPath, as path: BlobPath, byteCount: Int
  ) throws(BlobStoreError) {
    var attempt = 1
    while true {
      do {
        return try move(temporary, to: path)
      } catch {
        let isMoved = try size(of: temporary) == nil
        if isMoved, try size(of: path) == UInt64(byteCount) { return }
        attempt += 1
        if attempt > 5 { throw error }
        SystemThread.pause(for: .milliseconds(50))
      }
    }
  }

  private func move(_ from: BlobPath, to path: BlobPath) throws(BlobStoreError) {
    struct Move: Encodable {
      var srcFs: String
      var srcRemote: String
      var dstFs: String
      var dstRemote: String
    }
    let move = Move(srcFs: fs, srcRemote: from.string, dstFs: fs, dstRemote: path.string)
    let _: Nothing = try program.run("operations/movefile", move, about: path)
  }

  package var decidesRaces: Bool { false }

  package func remove(_ path: BlobPath) throws(BlobStoreError) {
    guard try size(of: path) != nil else { return }
    do {
      let _: Nothing = try program.run(
        "operations/deletefile", Place(fs: fs, remote: path.string), about: path)
    } catch .notFound {
      return
    }
  }

  package func flush() {}

  // MARK: Listing

  package func list(_ folder: BlobPath) throws(BlobStoreError) -> [BlobEntry] {
    let entries = try items(in: folder, recurse: false).map { $0.entry(name: $0.name) }
    if entries.isEmpty, !folder.isRoot, let item = try item(at: folder), !item.isFolder {
      throw .notABlob(path: folder.string)
    }
    return entries.listed()
  }

  /// The whole tree in one page: rclone lists at once what the remote can list at once.
  package func page(_ position: WalkPosition) throws(BlobStoreError) -> WalkPage {
    var page = WalkPage(found: [], unvisited: [])
    let folder = position.folder
    for item in try items(in: folder, recurse: true) where !item.isFolder {
      // A name that no vault has is handed on as one.
      let path = try? BlobPath(parsing: item.path)
      let isBelow = folder.isRoot || item.path.hasPrefix("\(folder)/")
      page.found.append(
        WalkPage.Found(
          path: isBelow ? path : nil,
          entry: item.entry(name: isBelow && path != nil ? item.name : item.path)))
    }
    return page
  }

  private func items(in folder: BlobPath, recurse: Bool) throws(BlobStoreError) -> [Item] {
    struct Answer: Decodable {
      var list: [Item]?
    }
    let place = Place(
      fs: fs, remote: folder.string, opt: Place.Options(recurse: recurse))
    do {
      let answer: Answer = try program.run(
        "operations/list", place, about: folder, limit: Self.listingLimit)
      return answer.list ?? []
    } catch .notFound {
      return []
    } catch .tooLarge {
      throw .endlessListing(folder: folder.string, limit: Self.listingLimit)
    }
  }
}
