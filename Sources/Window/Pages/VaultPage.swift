import Vault
import VaultErrors
import VaultModel

/// The vault itself: this person's devices, its remotes, whether it is whole.
struct VaultPage {
  let frame: PageFrame
  private let name: String
  private let devices: [KnownDevice]
  private let remotes: [RemoteLine]
  private let problems: [Problem]
  var problem: String?

  private var texts: Texts { frame.texts }

  /// - Throws: What reading throws.
  static func load(_ open: OpenVault, _ frame: PageFrame) throws -> VaultPage {
    let vault = open.vault
    return VaultPage(
      frame: frame, name: open.name,
      devices: try vault.devices().filter { $0.person == vault.person },
      remotes: try open.remotes(), problems: vault.problems.filter { $0.severity > .note })
  }

  var document: String {
    frame.document(
      .group([
        tag("h1") { named(name) },
        alert(problem),
        problems.isEmpty ? .nothing : ProblemList(frame: frame, problems: problems).html,
        remoteSection, deviceSection, checkSection,
      ]))
  }

  // MARK: Remotes

  private var remoteSection: HTML {
    tag("section", ["class": "card"]) {
      tag("h2") { texts("remotes.title") }
      if remotes.isEmpty {
        tag("p") { texts("remotes.none") }
      } else {
        tag("table") {
          tableHead {
            texts("remotes.name")
            texts("remotes.state")
          }
          tag("tbody") { for remote in remotes { line(remote) } }
        }
        if !frame.isReadOnly {
          frame.post("/vault/sync", ["class": "actions"]) {
            tag("button", ["type": "submit"]) { texts("remotes.sync") }
          }
        }
      }
    }
  }

  private func line(_ remote: RemoteLine) -> HTML {
    tag("tr") {
      tag("td") {
        named(remote.name)
        tag("br")
        tag("span", ["class": "quiet"]) { named(remote.address) }
      }
      tag("td") {
        state(remote)
        for problem in remote.problems { problem.html(frame.texts, namesRemote: false) }
      }
    }
  }

  private func state(_ remote: RemoteLine) -> String {
    let last =
      remote.lastSync.map { texts("remotes.last", texts.time(milliseconds: $0)) }
      ?? texts("remotes.never")
    guard remote.pending > 0 else { return last }
    return texts.count(Int(clamping: remote.pending), "remotes.pending") + " " + last
  }

  // MARK: Devices

  private var deviceSection: HTML {
    tag("section", ["class": "card"]) {
      tag("h2") { texts("devices.title") }
      tag("table") {
        tableHead {
          texts("devices.name")
          texts("devices.since")
          texts("devices.wrote")
        }
        tag("tbody") {
          for device in devices {
            tag("tr") {
              tag("td") {
                named(device.profile?.deviceName ?? device.id.shortHex)
                if device.isThisOne { " (\(texts("devices.this")))" }
              }
              tag("td") { device.profile.map { texts.day(milliseconds: $0.created) } ?? "" }
              tag("td") {
                device.lastWrite.map { texts.time(milliseconds: $0) } ?? texts("devices.never")
              }
            }
          }
        }
      }
      if !frame.isReadOnly { renaming }
      tag("p", ["class": "quiet"]) { texts("devices.about") }
    }
  }

  private var renaming: HTML {
    tag("details") {
      tag("summary") { texts("devices.rename") }
      frame.post("/vault/name", ["class": "edit"]) {
        tag("label", ["for": "device"]) { texts("devices.newName") }
        tag(
          "input",
          [
            "id": "device", "name": "name", "required": "", "maxlength": "255",
            "value": devices.first { $0.isThisOne }?.profile?.deviceName ?? "",
            "autocomplete": "off",
          ])
        tag("p", ["class": "actions"]) {
          tag("button", ["type": "submit"]) { texts("devices.rename.yes") }
        }
      }
    }
  }

  // MARK: Check

  private var checkSection: HTML {
    tag("section", ["class": "card"]) {
      tag("h2") { texts("check.title") }
      tag("p") { texts("check.about") }
      frame.post("/vault/check", ["class": "actions"]) {
        tag("button", ["type": "submit", "name": "reads", "value": "no"]) { texts("check.go") }
        tag("button", ["type": "submit", "name": "reads", "value": "yes", "class": "plain"]) {
          texts("check.all")
        }
      }
    }
  }
}

/// What is wrong with the vault, the gravest first.
struct ProblemList {
  let frame: PageFrame
  let problems: [Problem]

  /// So many are shown at the most: more would help nobody.
  private static let limit = 100

  var html: HTML {
    tag("ul", ["class": "problems"]) {
      for problem in problems.sorted(by: { $0.severity > $1.severity }).prefix(Self.limit) {
        tag("li", ["class": problem.severity == .damage ? "error" : nil]) {
          if let place = place(of: problem) {
            named(place)
            ": "
          }
          frame.texts("check.problem.\(problem.kind)")
          frame.texts.exactly(problem.reason)
          tag("span", ["class": "quiet"]) { named(problem.path) }
        }
      }
      if problems.count > Self.limit {
        tag("li") { frame.texts("check.more", String(problems.count - Self.limit)) }
      }
    }
  }

  private func place(of problem: Problem) -> String? {
    let parts = [problem.record ?? problem.member, problem.item].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: "/")
  }
}
