import Foundation
import Testing
import Vault
import VaultModel

import struct SystemPackage.FilePath

@testable import VaultFiles

/// A program copies another device's commit into the folder, file by file and not in order, while the mount runs.
@Suite struct HalfCopiedTests {
  enum State: CaseIterable, Sendable {
    case missing, empty, cut, filledWithZeros
  }

  /// Whatever file of a commit is not whole yet, what is here is shown and can be changed, and what came is shown when
  /// the copy is whole.
  @Test(arguments: State.allCases)
  func aFileThatIsNotWholeYetKeepsNobodyFromAnything(state: State) throws {
    let mounted = try MountedVault.prepared { tree in
      for path in ["Emma", "Emma/visit"] { try tree.mkdir(path) }
      try tree.write("Emma/visit/card", "here already")
    }
    let tree = mounted.tree
    let other = try mounted.mountOnAnotherDevice()
    var round = 0
    var kinds: Set<String> = []
    var position = 0
    while true {
      round += 1
      let before = try files(of: mounted)
      // So long that the record has pages of its own, and one with chunks.
      for number in 0..<12 {
        try other.write("Emma/visit/\(number)", Array(repeating: UInt8(round), count: 4000))
      }
      try other.write("Emma/visit/scan", Array(repeating: UInt8(round), count: 100_000))
      try other.commitNow()
      let news = try files(of: mounted).filter { before[$0.key] != $0.value }
      let paths = news.keys.sorted()
      guard position < paths.count else { break }
      let path = paths[position]
      position += 1
      kinds.insert(path.contains("/objects/") ? "object" : path.contains("/heads/") ? "head" : path)
      let file = mounted.folder.appending(path)
      let whole = try Data(contentsOf: URL(filePath: file.string))
      try put(state, whole, at: file)

      tree.refresh()
      let names = try tree.list("Emma/visit")
      #expect(names.contains("card"), "\(path)")
      try tree.write("Emma/visit/card", "saved in round \(round)")
      try tree.commitNow()
      #expect(try tree.text("Emma/visit/card") == "saved in round \(round)")
      if names.contains("scan") { _ = try? tree.read("Emma/visit/scan") }

      try whole.write(to: URL(filePath: file.string))
      tree.refresh()
      #expect(try mounted.differencesFromFresh() == [], "\(path)")
      other.refresh()
    }
    #expect(kinds.isSuperset(of: ["object", "head"]))
  }

  private func put(_ state: State, _ whole: Data, at file: FilePath) throws {
    switch state {
    case .missing: try FileManager.default.removeItem(atPath: file.string)
    case .empty: try Data().write(to: URL(filePath: file.string))
    case .cut: try whole.prefix(whole.count / 2).write(to: URL(filePath: file.string))
    case .filledWithZeros:
      let half = whole.count / 2
      try (whole.prefix(half) + Data(count: whole.count - half)).write(
        to: URL(filePath: file.string))
    }
  }

  /// What the vault's folder holds of members: each file's inode number and time, by path.
  private func files(of mounted: MountedVault) throws -> [String: String] {
    let manager = FileManager.default
    var found: [String: String] = [:]
    for path in try manager.subpathsOfDirectory(atPath: mounted.folder.string)
    where path.hasPrefix("members/") {
      let attributes = try manager.attributesOfItem(
        atPath: mounted.folder.appending(path).string)
      guard attributes[.type] as? FileAttributeType == .typeRegular else { continue }
      found[path] = "\(attributes[.systemFileNumber] ?? 0) \(attributes[.modificationDate] ?? 0)"
    }
    return found
  }
}
