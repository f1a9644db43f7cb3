import BlobStore
import RemoteStores
import VaultModel
import VaultSync

/// What people type and what servers answer.
extension FuzzTarget {
  static func remotes() -> [FuzzTarget] {
    var random = SeededRandom(seed: 11)
    let pack = ObjectPack([
      .init(name: random.id(), file: random.bytes(520)),
      .init(name: random.id(), file: random.bytes(1)),
    ])
    return [
      FuzzTarget(name: "pack", seeds: [pack.encoded()]) { bytes in
        do {
          if try ObjectPack(decoding: bytes).encoded() != bytes { throw Unstable() }
        } catch is ModelError {}
      },
      FuzzTarget(
        name: "remote-address",
        seeds: [
          "s3://bucket/a/b?endpoint=https://[::1]:9000&region=eu-1&style=path&ca=/x",
          "https://anna:secret@cloud.example.org:8443/remote.php/dav/a%20b?ca=/x",
          "rclone::sftp,host=a,pass=b:c", "rclone:a,b:c", "file:///media/usb", "./https://x",
        ].map { Array($0.utf8) }
      ) { bytes in
        do {
          let address = try RemoteAddress.parse(String(decoding: bytes, as: UTF8.self)).address
          _ = address.description
          guard try RemoteAddress.parse(address.text).address == address else { throw Unstable() }
        } catch is RemoteAddressError {}
      },
      FuzzTarget(
        name: "xml-reply",
        seeds: [
          """
          <?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
          <IsTruncated>true</IsTruncated><NextContinuationToken>a&amp;b</NextContinuationToken>
          <Contents><Key>a%2Fb</Key><Size>12</Size><ETag>&quot;x&quot;</ETag></Contents>
          </ListBucketResult>
          """,
          """
          <D:multistatus xmlns:D="DAV:"><D:response><D:href>/a/b</D:href><D:propstat><D:prop>
          <D:resourcetype><D:collection/></D:resourcetype><D:getetag>"x"</D:getetag></D:prop>
          <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>
          """,
        ].map { Array($0.utf8) }
      ) { bytes in
        // Each of the documents that are read.
        for name in ["ListBucketResult", "Error", "multistatus"] {
          do { _ = try XMLReply.read(name, from: bytes, path: "a") } catch is BlobStoreError {}
        }
      },
    ]
  }
}
