import BlobStore
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// Who is in the vault, and who may do what with one member: by that its heads are judged.
///
/// This is the one place where `VaultTrust` is asked about the file of a head.
struct HeadJudges: Sendable {
  let people: People
  let links: MemberLinks
  /// The epoch that is written under here, where there are keys at hand.
  let current: StatementID?
  /// This machine's device, where it is at work.
  let own: DeviceID?

  /// A device's head as it stands in these files, judged as far as that goes without the member's keys.
  ///
  /// - Throws: `missing`; `damaged` when it is another's, its signature does not hold, or nobody has certified its device.
  func judge(_ device: DeviceID, in files: SignedFiles) throws(VaultError) -> JudgedHead {
    let path = VaultPath.head(links.member, device)
    let bytes = try storing(files.store.read(BlobPath(path.string), limit: Limits.signedFileBytes))
    let body = try verified(path, device, bytes)
    return JudgedHead(
      body: body, hash: Digest.sha256(bytes),
      verdict: people.trust.verdict(on: body, in: links.trust, current: current, own: own),
      isOfFormerDevice: people.trust.device(body.certificate) == .former,
      couldWrite: links.couldBelieveToWrite(body.person))
  }

  private func verified(
    _ path: VaultPath, _ device: DeviceID, _ bytes: [UInt8]
  ) throws(VaultError) -> HeadFile {
    do throws(TrustError) {
      if let body = try people.trust.head(decoding: bytes) {
        guard body.member == links.member, body.device == device else {
          throw .contradiction("it belongs elsewhere")
        }
        return body
      }
    } catch {
      throw .damaged(path: path.string, reason: "\(error)")
    }
    throw .damaged(
      path: path.string,
      reason: "its device is not certified; it counts once a certificate of it that counts has come"
    )
  }

  /// Whether the head is of someone who could write the member once and may no more; false also where it does not hold.
  func isOfFormerWriter(_ device: DeviceID, in files: SignedFiles) throws(VaultError) -> Bool {
    do { return try judge(device, in: files).isOfFormerWriter } catch {
      guard error.isOfBrokenFile else { throw error }
      return false
    }
  }
}
