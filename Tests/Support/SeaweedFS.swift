import Glibc
import SystemPackage

/// How SeaweedFS is started on loopback, for tests that need an S3.
package enum SeaweedFS {
  /// - Parameters:
  ///   - ports: For its master, volumes, filer and S3 gateway.
  ///   - folder: Where `s3.json` is, and the folder `data`.
  package static func arguments(_ ports: [UInt16], in folder: FilePath) -> [String] {
    [
      "server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-dir=\(folder.appending("data").string)",
      "-master.port=\(ports[0])", "-volume.port=\(ports[1])", "-filer", "-filer.port=\(ports[2])",
      "-s3", "-s3.port=\(ports[3])", "-s3.config=\(folder.appending("s3.json").string)",
      "-volume.max=20", "-master.volumeSizeLimitMB=64", "-s3.port.iceberg=0", "-s3.port.lance=0",
    ]
  }

  /// Removes what it leaves behind when it is killed, in a folder that everybody has, by names that its ports make.
  package static func removeSockets(of ports: [UInt16]) {
    for (part, port) in zip(["master", "volume", "filer", "s3"], ports) {
      unlink("/tmp/seaweedfs-\(part)-\(port).sock")
      unlink("/tmp/seaweedfs-\(part)-grpc-\(port + 10_000).sock")
    }
  }
}
