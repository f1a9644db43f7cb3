import BlobStore
import Glibc
import RemoteStores
import SystemPackage
import TestSupport
import Testing

/// A server that shows a folder by WebDAV.
protocol WebDAVServer: Server {
  var served: ServedFolder { get }
}

extension WebDAVServer {
  /// In a folder that is not there yet, nor the one above it.
  func store() throws -> WebDAVStore {
    try WebDAVStore.open(
      WebDAVStore.Configuration(
        endpoint: served.endpoint, folder: "remote files/\(UInt64.random(in: .min ... .max))",
        credentials: nil))
  }
}

/// A program that serves the folder `data`, and has `work` for what else it needs.
final class ServedFolder: Sendable {
  struct Places {
    var port: UInt16
    var data: String
    var work: String
  }

  let endpoint: Endpoint
  private let folder: TemporaryFolder
  private let program: GuardedProgram

  /// - Parameters:
  ///   - configuration: The text of the file `work/configuration`.
  ///   - command: The program and its arguments.
  init(
    configuration: (Places) -> String = { _ in "" }, command: (Places) throws -> [String]
  ) throws {
    let folder = try TemporaryFolder()
    self.folder = folder
    let (data, work) = (folder.appending("data").string, folder.appending("work").string)
    let files = try DirectoryStore(opening: folder.path)
    let server = try ServerPrograms.start(home: folder.path, environment: ["DATA": data]) {
      let places = Places(port: $0[0], data: data, work: work)
      try files.put("work/configuration", Array(configuration(places).utf8))
      // A server that is started as root becomes somebody else.
      for name in [data, work, folder.path.string] {
        mkdir(name, 0o777)
        chmod(name, 0o777)
      }
      return try command(places)
    }
    program = server.program
    endpoint = try #require(Endpoint("http://127.0.0.1:\(server.ports[0])"))
  }
}

/// It makes no folders on the way (500), and knows PROPFIND by a module only.
final class NginxServer: WebDAVServer {
  let served: ServedFolder

  init() throws {
    let module = try ServerPrograms.unpacked("usr/lib/nginx/modules/ngx_http_dav_ext_module.so")
    served = try ServedFolder { places in
      let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
        "\($0)_temp_path \(places.work)/\($0);"
      }
      return """
        daemon off; master_process off; pid \(places.work)/pid; error_log stderr;
        load_module \(module);
        events {}
        http {
          access_log off; client_max_body_size 0; \(folders.joined(separator: " "))
          server {
            listen 127.0.0.1:\(places.port); root \(places.data);
            location / {
              dav_methods PUT DELETE MKCOL COPY MOVE; dav_ext_methods PROPFIND OPTIONS;
              dav_access user:rw;
            }
          }
        }
        """
    } command: { places in
      [
        try ServerPrograms.unpacked("usr/sbin/nginx"), "-p", places.work, "-e", "stderr", "-c",
        "\(places.work)/configuration",
      ]
    }
  }
}

final class ApacheServer: WebDAVServer {
  let served: ServedFolder

  init() throws {
    served = try ServedFolder { places in
      let modules = ["mpm_event", "authz_core", "dav", "dav_fs"].map {
        "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so"
      }
      // It serves nothing as root.
      let user = geteuid() == 0 ? "User www-data\nGroup www-data" : ""
      return """
        ServerRoot \(places.work)
        ServerName localhost
        \(modules.joined(separator: "\n"))
        Listen 127.0.0.1:\(places.port)
        PidFile \(places.work)/pid
        ErrorLog /dev/stderr
        DocumentRoot \(places.data)
        DavLockDB \(places.work)/locks
        \(user)
        <Directory \(places.data)>
        Dav On
        Require all granted
        </Directory>

        """
    } command: { places in
      ["/usr/sbin/apache2", "-X", "-f", "\(places.work)/configuration"]
    }
  }
}

final class LighttpdServer: WebDAVServer {
  let served: ServedFolder

  init() throws {
    served = try ServedFolder { places in
      """
      server.document-root = "\(places.data)"
      server.bind = "127.0.0.1"
      server.port = \(places.port)
      server.modules = ("mod_webdav")
      server.upload-dirs = ("\(places.work)")
      webdav.activate = "enable"
      """
    } command: { places in
      // It closes its output, which would be taken for its end.
      [
        "/bin/sh", "-c", "\"$@\" & trap \"kill $!\" TERM; wait", "sh",
        try ServerPrograms.unpacked("usr/sbin/lighttpd"), "-D", "-f",
        "\(places.work)/configuration", "-m", try ServerPrograms.unpacked("usr/lib/lighttpd"),
      ]
    }
  }
}

final class WsgiDAVServer: WebDAVServer {
  let served: ServedFolder

  init() throws {
    served = try ServedFolder { places in
      [
        try ServerPrograms.path("wsgidav"), "--no-config", "--host", "127.0.0.1", "--port",
        "\(places.port)", "--root", places.data, "--auth", "anonymous", "-q",
      ]
    }
  }
}

/// What Nextcloud and ownCloud are built on: sabre/dav, with locks and etags.
final class SabreServer: WebDAVServer {
  let served: ServedFolder

  init() throws {
    served = try ServedFolder { _ in
      """
      <?php
      // Debian's release is older than its PHP.
      error_reporting(E_ERROR);
      require '/usr/share/php/Sabre/autoload.php';
      $data = getenv('DATA');
      $server = new Sabre\\DAV\\Server(new Sabre\\DAV\\FSExt\\Directory($data));
      $server->setBaseUri('/');
      $locks = new Sabre\\DAV\\Locks\\Backend\\File("$data/../work/locks");
      $server->addPlugin(new Sabre\\DAV\\Locks\\Plugin($locks));
      $server->exec();
      """
    } command: { places in
      ["/usr/bin/php", "-S", "127.0.0.1:\(places.port)", "\(places.work)/configuration"]
    }
  }
}
