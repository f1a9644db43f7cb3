import BlobStore
import Glibc
import SystemPackage

/// Access keys where other programs for S3 look for them: the environment, then `~/.aws/credentials` and
/// `~/.aws/config`.
package struct SharedAWSFiles: Sendable {
  /// What was found; parts may be missing.
  package struct Settings: Hashable, Sendable {
    package var credentials: RemoteCredentials?
    package var region: String?
    package var endpoint: String?
  }

  private let environment: [String: String]

  package init(environment: [String: String]) {
    self.environment = environment
  }

  /// The settings of a profile: the one named, that of `AWS_PROFILE`, or `default`. A profile named on purpose goes
  /// before the environment's keys. Throws `denied` when a profile that was asked for is in neither file.
  package func settings(profile: String?) throws(BlobStoreError) -> Settings {
    var settings = Settings()
    let name = profile ?? value("AWS_PROFILE") ?? "default"
    let credentials = sections(in: "AWS_SHARED_CREDENTIALS_FILE", "credentials")
    let config = sections(in: "AWS_CONFIG_FILE", "config")
    let fromCredentials = credentials[name]
    let fromConfig = config["profile \(name)"] ?? config[name]
    if profile != nil && fromCredentials == nil && fromConfig == nil {
      throw .denied(path: "", reason: "there is no profile \(name) in ~/.aws")
    }
    let values = (fromConfig ?? [:]).merging(fromCredentials ?? [:]) { $1 }
    if let user = values["aws_access_key_id"], let secret = values["aws_secret_access_key"] {
      settings.credentials = RemoteCredentials(
        user: user, secret: secret, sessionToken: values["aws_session_token"])
    }
    if profile == nil, let user = value("AWS_ACCESS_KEY_ID"),
      let secret = value("AWS_SECRET_ACCESS_KEY")
    {
      settings.credentials = RemoteCredentials(
        user: user, secret: secret, sessionToken: value("AWS_SESSION_TOKEN"))
    }
    settings.region = value("AWS_REGION") ?? value("AWS_DEFAULT_REGION") ?? values["region"]
    settings.endpoint =
      value("AWS_ENDPOINT_URL_S3") ?? value("AWS_ENDPOINT_URL") ?? values["endpoint_url"]
    return settings
  }

  private func value(_ name: String) -> String? {
    environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The file that a variable names, or the one of this name in `~/.aws`; without sections when it cannot be read.
  private func sections(in variable: String, _ name: String) -> [String: [String: String]] {
    let path: FilePath
    if let given = value(variable) {
      path = FilePath(given)
    } else if let home = value("HOME") {
      path = FilePath(home).appending(".aws").appending(name)
    } else {
      return [:]
    }
    // Mostly there is none. Of one that cannot be read the store says that there are no credentials.
    guard let file = try? FileDescriptor.open(path, .readOnly) else { return [:] }
    defer { try? file.close() }
    var bytes = [UInt8](repeating: 0, count: 256 << 10)
    let count = (try? bytes.withUnsafeMutableBytes { try file.read(into: $0) }) ?? 0
    return Self.parse(String(decoding: bytes[..<count], as: UTF8.self))
  }

  /// The sections of a file: `[name]`, then `key = value` lines; `#` and `;` begin comments, indented lines are nested
  /// settings of no interest here.
  package static func parse(_ text: String) -> [String: [String: String]] {
    var sections: [String: [String: String]] = [:]
    var name: String?
    for line in text.split(whereSeparator: \.isNewline) {
      guard let first = line.first, !first.isWhitespace, first != "#", first != ";" else {
        continue
      }
      if first == "[" {
        name = line.dropFirst().prefix { $0 != "]" }.split(separator: " ").joined(separator: " ")
        if let name, sections[name] == nil { sections[name] = [:] }
      } else if let name, let equals = line.firstIndex(of: "=") {
        let key = line[..<equals].trimmed.lowercased()
        sections[name]?[key] = String(line[line.index(after: equals)...].trimmed)
      }
    }
    return sections
  }
}

extension Substring {
  fileprivate var trimmed: Substring {
    var text = drop(while: \.isWhitespace)
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
  }
}
