import FoundationEssentials
import Glibc
import TestSupport
import Testing
import VaultErrors

@testable import kinvault

/// The manual page and the shells' completions say what `--help` says.
@Suite struct ManualTests {
  private struct Help: Decodable {
    var command: Command

    struct Command: Decodable {
      var commandName: String
      var abstract: String?
      var arguments: [Argument]?
      var subcommands: [Command]?
    }

    struct Argument: Decodable {
      var kind: String
      var isRepeating: Bool?
      var names: [Name]?
      var abstract: String?
      var valueName: String?
    }

    struct Name: Decodable {
      var kind: String
      var name: String
    }
  }

  private func help() throws -> Help.Command {
    let dump = try CommandRunner.run(
      Program.executable, ["--experimental-dump-help"], environment: [:])
    return try JSONDecoder().decode(Help.self, from: Data(dump.standardOutput)).command
  }

  private func manual() throws -> [String] { try document("man/kinvault.1") }

  private func document(_ path: String) throws -> [String] {
    let url = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Docs/\(path)").standardizedFileURL
    return try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map(String.init)
  }

  /// The commands and options in their order, each with the first line of what is said about it.
  private func outline(_ command: Help.Command, isTop: Bool = true) -> [String] {
    var lines = isTop ? [] : [".It Em \(command.commandName)", command.abstract ?? ""]
    for argument in command.arguments ?? [] {
      let value = (argument.valueName ?? "") + (argument.isRepeating == true ? "..." : "")
      // The manual leaves the short names of options before the long ones.
      let names = (argument.names ?? []).map { $0.kind == "long" ? "-\($0.name)" : $0.name }
      switch argument.kind {
      case "positional": lines.append(".It Ar \(value)")
      case "flag": lines.append(".It Fl \(names.joined(separator: " , "))")
      default: lines.append(".It Fl \(names.joined(separator: " , ")) Ar \(value)")
      }
      lines.append(argument.abstract?.split(separator: "\n").first.map(String.init) ?? "")
    }
    return lines
      + (command.subcommands ?? []).filter { $0.commandName != "help" }.flatMap {
        outline($0, isTop: false)
      }
  }

  @Test func theManualPageSaysWhatHelpSays() throws {
    let lines = try manual()
    var found: [String] = []
    for (line, next) in zip(lines, lines.dropFirst()) where line.hasPrefix(".It ") {
      // The parser's own command comes last.
      if line == ".It Em help" { break }
      found += [line, next]
    }
    let expected = outline(try help())
    #expect(expected.count > 200, "the help was not understood")
    // The generator leaves out what roff has other signs for.
    let difference = found.map(Self.plain).difference(from: expected.map(Self.plain))
    #expect(
      difference.isEmpty, "make Docs/man/kinvault.1 anew (Docs/Commands.md): \(difference)")
  }

  private static func plain(_ text: String) -> String {
    text.filter { $0.isASCII && $0 != "\\" }
  }

  private static func spaced(_ line: some StringProtocol) -> String {
    line.split(separator: " ").joined(separator: " ")
  }

  @Test func everyExitStatusIsInTheManualTheHelpAndTheDocument() throws {
    let manual = Set(try manual().map(Self.spaced))
    let help = try CommandRunner.run(Program.executable, ["--help"], environment: [:]).output
    let helped = Set(help.split(separator: "\n").map(Self.spaced))
    let rows = try document("Commands.md").filter { $0.hasPrefix("| ") }.filter { row in
      row.dropFirst(2).first?.isNumber == true
    }
    #expect(
      rows == ExitStatus.allCases.map { "| \($0.rawValue) | \($0.meaning) |" })
    for status in ExitStatus.allCases {
      let line = "\(status.rawValue) \(status.meaning)"
      #expect(manual.contains(line), "\(line)")
      #expect(helped.contains(line), "\(line)")
    }
  }

  @Test func everyCommandIsInTheDocument() throws {
    let words = Set(
      try document("Commands.md").flatMap { line in
        line.split { !$0.isLetter && $0 != "-" }.map(String.init)
      })
    for command in try help().subcommands ?? [] where command.commandName != "help" {
      #expect(words.contains(command.commandName), "\(command.commandName)")
    }
  }

  @Test func everyKindOfProblemIsInTheDocument() throws {
    let rows = try document("Commands.md")
    for kind in Problem.Kind.allCases.map(\.rawValue) {
      #expect(rows.count { $0.hasPrefix("| `\(kind)` | ") } == 1, "\(kind)")
    }
  }

  @Test func bashCompletes() throws {
    let program = try Program.withVault()
    try program.run("member", "add", "Liam Noah", expecting: 0)
    try program.run("unlock", expecting: 0)
    defer { _ = try? program.run("lock") }
    let script = """
      source <("$0" --generate-completion-script bash)
      PATH="$(dirname "$0"):$PATH"
      function=$(complete -p kinvault | sed 's/.*-F \\([^ ]*\\).*/\\1/')
      for word in "$@"; do
        IFS=, read -ra COMP_WORDS <<<"$word"
        [[ $word == *, ]] && COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE="${COMP_WORDS[*]}" COMP_TYPE=9 COMP_KEY=9
        COMP_POINT=${#COMP_LINE} COMPREPLY=()
        "$function" kinvault "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        IFS='|'; echo "${COMPREPLY[*]}"; unset IFS
      done
      """
    let result = try CommandRunner.run(
      "bash",
      [
        "-c", script, try Program.executable, "kinvault,mem", "kinvault,mount,--al",
        "kinvault,record,list,--type,va", "kinvault,record,li",
        "kinvault,record,list,--member,Li",
      ], environment: program.environment)
    let lines = result.output.split(separator: "\n").map {
      $0.split(separator: "|").map { $0.split(separator: " ").joined() }
    }
    #expect(
      lines == [["member"], ["--allow-other"], ["vaccine"], ["list"], ["LiamNoah"]],
      "\(result.output)\(result.errors)")
  }

  @Test(arguments: ["zsh", "fish"])
  func otherShellsHaveEveryCommand(shell: String) throws {
    let script = try CommandRunner.run(
      Program.executable, ["--generate-completion-script", shell], environment: [:]
    ).output
    for command in try help().subcommands ?? [] {
      #expect(script.contains(command.commandName), "\(command.commandName)")
    }
  }
}
