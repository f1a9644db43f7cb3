import BlobStore
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

extension DeviceID {
  /// What a person compares on two machines: 64 bits of the id in four groups. Whoever has read the words and sees the
  /// request in the store may look for keys whose id begins alike for as long as the words are good, and finds 32 bits.
  package var digitsToCompare: String {
    let digits = Array(hex.prefix(16))
    return stride(from: 0, to: digits.count, by: 4).map { String(digits[$0..<$0 + 4]) }
      .joined(separator: "-")
  }
}

/// A machine that knows the words, and asks to become a device.
package struct RequestingDevice: Sendable {
  package var id: DeviceID
  /// What it calls itself.
  package var name: String
  package var kind: String
  fileprivate var body: DeviceRequestBody
}

/// Approving new machines from this device, which is trusted. Docs/Format.md, "Adding a device without the words".
extension Vault {
  /// What the words give, for `requests` and `approve`. Takes about a second. From then on syncs of this process take the
  /// requests that these words open, however many others there are.
  ///
  /// - Throws: `crypto`, when there is not memory enough.
  package func approvalKey(of words: borrowing ApprovalWords) throws(VaultError) -> SealingKey {
    let key: SealingKey
    do { key = try words.sealingKey(for: person, binding: context.binding) } catch {
      throw .crypto(error)
    }
    context.awaitedRequests.withLock { $0 = key }
    return key
  }

  /// Whether somebody may be typing words that this process has shown.
  package var awaitsRequests: Bool { context.awaitedRequests.withLock { $0 != nil } }

  /// Whether a file is the request of a machine that knows the words which this process has shown last.
  package func isAwaited(_ path: VaultPath, _ file: [UInt8]) -> Bool {
    guard case .deviceRequest(let asked, _) = path, asked == person,
      let key = context.awaitedRequests.withLock({ $0 })
    else { return false }
    do {
      let body = try DeviceRequestBody(decoding: SignedFile(decoding: file).body)
      _ = try context.signedFiles.open(body.sealed, with: key, .request, path, counter: 0)
      return true
    } catch {
      // Anybody can put a file there: it is awaited if it opens.
      return false
    }
  }

  /// The machines that have asked with these words and are no devices yet, by id.
  ///
  /// - Throws: What listing and reading the folder throws.
  package func requests(with key: SealingKey) throws(VaultError) -> [RequestingDevice] {
    try context.reloadPeople()
    let folder = BlobPath("people/\(person.hex)/requests")
    let entries = try storing(context.store.list(folder))
    let known = context.people[person]
    var requests: [RequestingDevice] = []
    for entry in entries {
      guard let device = DeviceID(hex: entry.name), known?.anyCertificate(of: device) == nil
      else { continue }
      do {
        let files = context.signedFiles
        let body = try DeviceRequestBody.load(device, person: person, files: files)
        let path = VaultPath.deviceRequest(person, device)
        let plain = try files.open(body.sealed, with: key, .request, path, counter: 0)
        // As good as one of somebody else.
        guard let said = try? DeviceRequest(decoding: plain) else { continue }
        requests.append(
          RequestingDevice(id: device, name: said.deviceName, kind: said.deviceKind, body: body))
      } catch {
        // Anyone can write a request; those of others do not open.
        guard error.isDamage else { throw error }
      }
    }
    return requests.sorted { $0.id < $1.id }
  }

  /// Makes the machine a device of this person. Durable when it returns.
  ///
  /// - Throws: `readOnly`, `thisDeviceRemoved`, `keysDivided`; `missing` when this device has no key of the open generation
  ///   yet; `noSpace`, `io`.
  package func approve(
    _ request: RequestingDevice, with key: SealingKey
  ) throws(VaultError) {
    guard !isReadOnly else { throw .readOnly }
    try context.reloadPeople()
    let approver = try context.ownCertificate()
    let own = try context.ownPerson()
    guard let generation = own.generation else { throw .keysDivided(person: person) }
    let files = context.signedFiles
    let master = try files.openMaster(
      generation, of: own, device: context.device, context.state.loadPeopleMemory())
    let enrolment = DeviceEnrolment(copy: context.copy, person: person)
    let signer = context.device
    try enrolment.certify(
      PublicDevice(request.body), master: master, generation: generation,
      approval: DeviceEnrolment.Approval(
        approver: approver.id, shown: files.sealApproval(with: key, person, request.id))
    ) { signer.signingKey.sign($0) }
    try context.reloadPeople()
    audit.note(.share, detail: "device \(request.id.shortHex) approved")
  }
}
