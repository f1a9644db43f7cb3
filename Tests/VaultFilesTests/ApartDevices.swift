import Foundation
import TestSupport
import Testing
import Vault
import VaultModel
import VaultPlain

import struct SystemPackage.FilePath

@testable import VaultFiles

/// Two devices of one person with a folder each, which know nothing of each other until they meet.
struct ApartDevices {
  let here: MountedVault
  private let folderThere: FilePath
  let vaultThere: Vault
  let there: FileTree

  /// - Parameter prepare: What both have from the beginning.
  init(_ prepare: (FileTree) throws -> Void) throws {
    here = try MountedVault.prepared(prepare)
    folderThere = here.folder.removingLastComponent().appending("there")
    try Self.copy(here.folder, folderThere)
    vaultThere = try here.openOnAnotherDevice(in: folderThere)
    there = FileTree.load(vault: vaultThere, options: here.options)
    try meet()
  }

  /// What is newer in one folder comes into the other, as a stick carries it, until both have all.
  func meet() throws {
    for _ in 0..<3 {
      for tree in [here.tree, there] {
        try tree.commitNow()
        try Self.copy(here.folder, folderThere)
        try Self.copy(folderThere, here.folder)
        tree.refresh()
      }
    }
  }

  /// What is newer there comes here, and nothing is looked at.
  func bringHere() throws { try Self.copy(folderThere, here.folder) }

  private static func copy(_ source: FilePath, _ target: FilePath) throws {
    let copy = try CommandRunner.run("cp", ["-a", "-u", "\(source.string)/.", target.string])
    try #require(copy.status == 0, "\(copy.errors)")
  }

  /// Every file of a tree by its path, with its text.
  static func files(_ tree: FileTree) throws -> [String: String] {
    var found: [String: String] = [:]
    func visit(_ path: String) throws {
      for name in try tree.list(path) {
        let inner = path.isEmpty ? name : "\(path)/\(name)"
        if try tree.stat(inner).type == FileMode.directory {
          try visit(inner)
        } else {
          found[inner] = try tree.text(inner)
        }
      }
    }
    try visit("")
    return found
  }

  /// What both show when they have met: in the mounts that were there all the time, in fresh ones that read the names
  /// in another order, and as it is exported.
  ///
  /// - Parameter story: What was done, for who looks into a failure.
  func files(
    after story: String = "", sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> [String: String] {
    let shown = try Self.files(here.tree)
    let others = try Self.files(there)
    #expect(others == shown, "\(story)", sourceLocation: sourceLocation)
    for path in shown.keys {
      #expect(
        try there.stat(path).linkCount == here.tree.stat(path).linkCount,
        "names there of \(path): \(story)", sourceLocation: sourceLocation)
    }
    for vault in [try here.openAgain(readOnly: true), vaultThere] {
      let fresh = FileTree.load(vault: vault, options: here.options)
      var texts: [String: String] = [:]
      for path in shown.keys.sorted().reversed() { texts[path] = try fresh.text(path) }
      #expect(texts == shown, "a fresh mount: \(story)", sourceLocation: sourceLocation)
      for path in shown.keys {
        #expect(
          try fresh.stat(path).linkCount == here.tree.stat(path).linkCount,
          "names of \(path): \(story)", sourceLocation: sourceLocation)
      }
    }
    #expect(try exported() == shown, "exported: \(story)", sourceLocation: sourceLocation)
    return shown
  }

  private func exported() throws -> [String: String] {
    let target = here.folder.removingLastComponent().appending("export \(UUID())")
    let member = try #require(here.vault.members.first)
    var export = PlainExport(of: member)
    let report = try export.run(.root, to: Array(target.string.utf8))
    try #require(report.failures.isEmpty)
    var found: [String: String] = [:]
    let root = target.string
    let paths = try FileManager.default.subpathsOfDirectory(atPath: root)
    for path in paths {
      var isFolder: ObjCBool = false
      _ = FileManager.default.fileExists(atPath: "\(root)/\(path)", isDirectory: &isFolder)
      if isFolder.boolValue { continue }
      found["\(member.name.string)/\(path)"] = try String(
        contentsOfFile: "\(root)/\(path)", encoding: .utf8)
    }
    return found
  }
}

extension [String: String] {
  /// The texts in the conflicts folder, the others left out.
  var conflicts: [String] {
    filter { $0.key.contains("/\(ConflictMark.folderTitle)/") }.values.sorted()
  }

  var withoutConflicts: [String: String] {
    filter { !$0.key.contains("/\(ConflictMark.folderTitle)/") }
  }
}
