// swift-tools-version: 6.2
import PackageDescription

func libraries(_ names: String...) -> [LinkerSetting] { names.map { .linkedLibrary($0) } }

// For programs in C, which Swift's driver links: nothing of its runtime is used, so nothing of it is taken, or loaded.
let withoutSwift: [LinkerSetting] = [.unsafeFlags(["-nostartfiles", "-static-stdlib"])]

// Imports point down only: a target may use what stands above it in this list, and declares what it uses.
let package = Package(
  name: "kinvault",
  products: [
    .executable(name: "kinvault", targets: ["kinvault"]),
    .executable(name: "kinvault-render-images", targets: ["kinvault-render-images"]),
    .executable(name: "kinvault-render-heif", targets: ["kinvault-render-heif"]),
    .executable(name: "kinvault-render-pdf", targets: ["kinvault-render-pdf"]),
    .executable(name: "kinvault-render-dicom", targets: ["kinvault-render-dicom"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    // The page's server. Without the traits that would bring all of Foundation, and its tables of 30 MB.
    .package(
      url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
    // X-Wing; and in tests the independent witness of the rest of our cryptography, which is OpenSSL's and libsodium's.
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
  ],
  targets: [
    .systemLibrary(
      name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(
      name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
    .systemLibrary(name: "CCMark", pkgConfig: "libcmark", providers: [.apt(["libcmark-dev"])]),
    .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
    .systemLibrary(name: "CFuse", pkgConfig: "fuse3", providers: [.apt(["libfuse3-dev"])]),
    .systemLibrary(name: "CFido2", pkgConfig: "libfido2", providers: [.apt(["libfido2-dev"])]),
    // Its FTS5 searches records, in memory alone; the tokenizer is ours.
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .target(name: "CFullText", dependencies: ["CSQLite"]),
    .target(name: "CLinux"),
    // What opens foreign files, and what keeps it from everything else.
    .systemLibrary(
      name: "CPoppler", pkgConfig: "poppler-glib", providers: [.apt(["libpoppler-glib-dev"])]),
    .target(name: "CSandbox", linkerSettings: [.linkedLibrary("seccomp")]),
    .target(
      name: "CRender", dependencies: ["CSandbox"], linkerSettings: [.linkedLibrary("webp")]),
    .target(
      name: "CImages", dependencies: ["CRender"], linkerSettings: [.linkedLibrary("lcms2")]),
    // TPM 2.0 by the TCG's software stack, and the desktop's keyring.
    .target(
      name: "CTokens",
      linkerSettings: ["tss2-esys", "tss2-mu", "tss2-tctildr", "tss2-rc"].map {
        .linkedLibrary($0)
      }),

    .target(name: "Threads"),
    .target(name: "Processes", dependencies: ["CLinux"]),
    .target(name: "VaultModel"),
    .target(
      name: "Log",
      dependencies: [
        "VaultModel", "Threads", .product(name: "Logging", package: "swift-log"),
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "VaultCrypto",
      dependencies: [
        "CSodium", "COpenSSL", "CLinux", "VaultModel",
        .product(name: "Crypto", package: "swift-crypto"),
      ]),
    .target(name: "Tokens", dependencies: ["VaultModel", "VaultCrypto", "CTokens", "CFido2"]),
    .target(name: "VaultTrust", dependencies: ["VaultModel", "VaultCrypto"]),
    .target(
      name: "BlobStore",
      dependencies: [
        "CLinux", "Threads", .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "VaultErrors", dependencies: ["VaultModel", "VaultCrypto", "BlobStore", "Log"]),
    .target(
      name: "VaultObjects",
      dependencies: [
        "VaultModel", "VaultCrypto", "BlobStore", "VaultErrors", "Threads",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "MachineState",
      dependencies: [
        "VaultModel", "VaultCrypto", "VaultTrust", "BlobStore", "VaultErrors", "Threads",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "VaultPeople",
      dependencies: [
        "VaultModel", "VaultCrypto", "VaultTrust", "BlobStore", "VaultErrors", "MachineState",
        "Threads",
      ]),
    // What stands in a record's note; the one place where YAML is read.
    .target(name: "Notes", dependencies: ["CYAML"]),
    .target(
      name: "Vault",
      dependencies: [
        "VaultModel", "VaultCrypto", "VaultTrust", "BlobStore", "VaultErrors", "VaultObjects",
        "MachineState", "VaultPeople", "Notes", "Threads", "Log",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "VaultPlain",
      dependencies: [
        "VaultModel", "VaultCrypto", "BlobStore", "VaultErrors", "Vault", "CLinux",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(name: "Rendering", dependencies: ["Processes", "Threads"]),
    .target(
      name: "Search",
      dependencies: [
        "CSQLite", "CFullText", "Notes", "Rendering", "VaultCrypto", "VaultErrors", "Vault",
        "VaultModel",
      ]),
    .target(
      name: "Pictures",
      dependencies: ["Rendering", "Threads", "VaultErrors", "Vault", "VaultModel"]),
    .target(
      name: "VaultSync",
      dependencies: [
        "VaultModel", "VaultCrypto", "VaultTrust", "BlobStore", "VaultErrors", "VaultObjects",
        "MachineState", "VaultPeople", "Vault", "Threads", "Log",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "VaultFiles",
      dependencies: [
        "VaultModel", "VaultErrors", "Vault", "Threads", "Log",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "VaultMount",
      dependencies: [
        "BlobStore", "VaultModel", "VaultFiles", "CFuse", "CLinux", "Processes", "Threads", "Log",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "Traces",
      dependencies: ["BlobStore", .product(name: "SystemPackage", package: "swift-system")]),
    .target(
      name: "RemoteStores",
      dependencies: [
        "BlobStore", "CExpat", "CLinux", "COpenSSL", "Processes", "Threads",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "Window",
      dependencies: [
        "CCMark", "Notes", "Pictures", "Rendering", "Search", "VaultErrors", "Vault", "VaultCrypto",
        "VaultFiles", "VaultModel", "VaultPlain", "Threads", "Log",
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      resources: [.embedInCode("Files")]),
    .executableTarget(
      name: "kinvault",
      dependencies: [
        "VaultModel", "VaultCrypto", "BlobStore", "VaultErrors", "VaultObjects", "MachineState",
        "Notes", "Vault", "VaultPlain", "VaultFiles", "VaultMount", "VaultSync", "RemoteStores",
        "Rendering", "Tokens", "Traces", "Search", "Window", "CLinux", "Processes", "Threads",
        "Log",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    // None of our modules, and no keys: Rendering has them run.
    .executableTarget(
      name: "kinvault-render-images", dependencies: ["CImages"],
      linkerSettings: libraries("jpeg", "png16", "webpdemux", "gif", "tiff", "m") + withoutSwift),
    .executableTarget(
      name: "kinvault-render-heif", dependencies: ["CImages"],
      linkerSettings: libraries("heif") + withoutSwift),
    .executableTarget(
      name: "kinvault-render-pdf", dependencies: ["CPoppler", "CRender"],
      linkerSettings: libraries("fontconfig", "freetype", "m") + withoutSwift),
    .executableTarget(
      name: "kinvault-render-dicom", dependencies: ["CRender"],
      linkerSettings: libraries("gdcmMSFF", "gdcmDSED", "gdcmDICT", "gdcmCommon", "m")
        + withoutSwift),

    .target(
      name: "TestSupport",
      dependencies: [
        "BlobStore", "CLinux", "CSodium",
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      path: "Tests/Support", exclude: ["remembered-passwords.c"]),
    // A FIDO2 token in software, for this process and for programs.
    .target(
      name: "SoftTokens",
      dependencies: [
        "Tokens", "COpenSSL", "Threads", "TestSupport",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      path: "Tests/SoftTokens", exclude: ["plugged-token.c"]),
    // Every decoder, with values to begin with: for the tests' bounded run, and for Scripts/fuzz.
    .target(
      name: "Fuzzing",
      dependencies: [
        "VaultModel", "VaultCrypto", "VaultTrust", "BlobStore", "MachineState", "Notes", "Vault",
        "VaultSync", "RemoteStores", "Search",
      ],
      path: "Tests/Fuzzing"),
    .testTarget(name: "FuzzingTests", dependencies: ["Fuzzing"]),
    .testTarget(
      name: "VaultModelTests",
      dependencies: [
        "VaultModel", "VaultCrypto", "Fuzzing", "TestSupport",
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      exclude: ["Proto/kinvault.proto"]),
    .testTarget(
      name: "LogTests",
      dependencies: [
        "Log", "VaultModel", "TestSupport",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .testTarget(
      name: "VaultCryptoTests",
      dependencies: [
        "VaultModel", "VaultCrypto", "TestSupport",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      // The second implementation of X-Wing.
      exclude: ["xwing.py"]),
    .testTarget(
      name: "VaultTrustTests",
      dependencies: ["Fuzzing", "VaultModel", "VaultCrypto", "VaultTrust", "TestSupport"]),
    .testTarget(
      name: "BlobStoreTests",
      dependencies: [
        "BlobStore", "CLinux", "TestSupport", "Threads",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .testTarget(
      name: "TokensTests",
      dependencies: ["Tokens", "SoftTokens", "VaultModel", "VaultCrypto", "TestSupport"]),
    .testTarget(
      name: "TracesTests",
      dependencies: [
        "BlobStore", "Traces", "TestSupport",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .testTarget(
      name: "RemoteStoresTests",
      dependencies: [
        "BlobStore", "RemoteStores", "TestSupport",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .testTarget(
      name: "VaultObjectsTests",
      dependencies: [
        "VaultModel", "VaultCrypto", "BlobStore", "VaultErrors", "VaultObjects", "TestSupport",
      ]),
    .testTarget(
      name: "VaultTests",
      dependencies: [
        "VaultModel", "VaultCrypto", "VaultTrust", "BlobStore", "VaultErrors", "VaultObjects",
        "MachineState", "VaultPeople", "Notes", "Vault", "VaultPlain", "TestSupport", "Threads",
        "Log",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .testTarget(name: "NotesTests", dependencies: ["Notes"]),
    .testTarget(name: "ProcessesTests", dependencies: ["Processes"]),
    .testTarget(name: "SearchTests", dependencies: ["Search", "VaultCrypto", "VaultModel"]),
    .testTarget(
      name: "WindowTests",
      dependencies: [
        "Fuzzing", "Log", "Notes", "Rendering", "Threads", "VaultErrors", "Vault", "VaultCrypto",
        "VaultModel", "Window",
        .product(name: "Logging", package: "swift-log"),
      ]),
    // Tries what kinvault-render must not be able to do.
    .executableTarget(
      name: "sandbox-probe", dependencies: ["CSandbox"], path: "Tests/SandboxProbe"),
    .testTarget(
      name: "RenderingTests",
      dependencies: [
        "Rendering", "TestSupport", .product(name: "SystemPackage", package: "swift-system"),
      ],
      exclude: ["dicom-pixels.py", "hostile-shapes.py"]),
    .testTarget(
      name: "PicturesTests",
      dependencies: [
        "Pictures", "Rendering", "VaultErrors", "MachineState", "Vault", "VaultCrypto",
        "VaultModel", "TestSupport",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .testTarget(
      name: "VaultSyncTests",
      dependencies: [
        "VaultModel", "VaultCrypto", "VaultTrust", "BlobStore", "VaultErrors", "VaultObjects",
        "MachineState", "VaultPeople", "Notes", "Vault", "VaultSync", "TestSupport", "Threads",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    // Stories of devices and people, told in text files.
    .testTarget(
      name: "ScenarioTests",
      dependencies: [
        "VaultModel", "VaultCrypto", "BlobStore", "VaultErrors", "MachineState", "Vault",
        "VaultFiles", "VaultSync", "TestSupport",
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      exclude: ["Scenarios"]),
    .testTarget(
      name: "CommandTests",
      dependencies: [
        "CLinux", "kinvault", "VaultErrors", "MachineState", "Vault", "VaultModel", "VaultCrypto",
        "VaultSync", "SoftTokens", "TestSupport", "Threads",
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      exclude: ["page.py", "firefox.py", "rebinding.py", "story.py", "stranger.py"]),
    .testTarget(
      name: "VaultFilesTests",
      dependencies: [
        "BlobStore", "VaultFiles", "VaultErrors", "VaultObjects", "MachineState", "Vault",
        "VaultModel", "VaultPlain", "VaultCrypto", "TestSupport", "Threads", "Log",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .testTarget(
      name: "VaultMountTests",
      dependencies: [
        "BlobStore", "VaultModel", "VaultFiles", "VaultMount", "Vault", "VaultCrypto", "CFuse",
        "Threads", "VaultErrors", "VaultObjects", "MachineState",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),

    // A second implementation of the format, for reading: none of our modules.
    .testTarget(
      name: "InteropTests",
      dependencies: ["CSodium", .product(name: "Crypto", package: "swift-crypto")]),

    // The built program, killed, cut from power, filled up and damaged.
    .testTarget(
      name: "CrashTests",
      dependencies: [
        "TestSupport", .product(name: "SystemPackage", package: "swift-system"),
      ],
      exclude: ["machine.sh", "oracle.py", "processor-state.c"]),

    // The product from outside: system calls and real programs on a plain folder and on the mount.
    .target(name: "CPosix", path: "Tests/CPosix"),
    .target(
      name: "Places",
      dependencies: [
        "CPosix", "TestSupport", .product(name: "SystemPackage", package: "swift-system"),
      ],
      path: "Tests/Places", exclude: ["doorbell.py"]),
    .testTarget(
      name: "PosixTests",
      dependencies: [
        "CPosix", "Places", .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .testTarget(
      name: "ProgramsTests",
      dependencies: ["Places", .product(name: "SystemPackage", package: "swift-system")],
      exclude: [
        "documents.py", "libreoffice.py", "office.py", "traces.sh", "tracker.sh", "users.sh",
      ]),
  ],
  swiftLanguageModes: [.v6],
  cxxLanguageStandard: .cxx17
)

// What Scripts/test ("tests") and Scripts/build ("program") ask for beyond an ordinary build is said of our own targets
// alone, and not on the command line, where it holds for the packages too: so these are compiled once for both.
let purpose = Context.environment["KINVAULT_BUILD"]

// Our own are, too: where Scripts/test tries the program, that is linked of the very objects that were tested. That they can
// be tested costs it 2 % of size, and no time that was measured.
if purpose == "tests" || purpose == "program" {
  for target in package.targets where [.regular, .executable, .test].contains(target.type) {
    var settings: [SwiftSetting] = []
    // Whoever builds the program with a newer compiler is not stopped by what that warns of.
    if Context.environment["KINVAULT_WARNINGS"] == "errors" {
      settings.append(.treatAllWarnings(as: .error))
    }
    settings.append(.unsafeFlags(["-enable-testing"], .when(configuration: .release)))
    // Nobody waits for what says things to people, and it is a third of our own code.
    if target.name == "kinvault" || target.name == "Window" {
      settings.append(.unsafeFlags(["-Osize"], .when(configuration: .release)))
    }
    // What is tested is optimized, and not what tests it: that takes the compiler longer than it saves. Nothing waits for its
    // module, so that is made along with the objects, and not by another run of the compiler over the same sources.
    if target.type == .test {
      settings.append(
        .unsafeFlags(
          ["-Onone", "-no-emit-module-separately-wmo"], .when(configuration: .release)))
    }
    target.swiftSettings = settings
  }
}

if purpose == "program" {
  // Swift's runtime comes along, with the parts of it that are found by themselves only where the packages are compiled for
  // that as well. Nothing looks for a symbol in a program, but then all of them are exported, and nothing of
  // them is left out; equal functions are one: a tenth smaller. The build id is by what a debugger finds symbols that
  // are apart. What the largest of them is moved by when it is loaded is written down in short, which glibc reads
  // from 2.36 on and the other linker cannot write: 3 MB.
  let packaging = "\(Context.packageDirectory)/Scripts/packaging"
  for target in package.targets where target.type == .executable {
    var flags = [
      "-static-stdlib", "-Xlinker", "--build-id=sha1", "-Xlinker",
      "--version-script=\(packaging)/no-exports.map", "-l_FoundationCollections",
      "-l_FoundationCShims",
    ]
    if target.name == "kinvault" {
      // Of what the compiler of Swift makes the linker is not told which functions have to stay apart. None has: nothing here
      // asks whether two of them are one.
      flags += [
        "-use-ld=lld", "-Xlinker", "--icf=all", "-Xlinker", "--undefined-version", "-Xlinker", "-z",
        "-Xlinker", "pack-relative-relocs", "-Xclang-linker", "-Wl,--no-eh-frame-hdr", "-Xlinker",
        "-T", "-Xlinker", "\(packaging)/no-unwinding.ld",
      ]
    } else {
      flags += ["-Xlinker", "--icf=safe"]
    }
    target.linkerSettings = (target.linkerSettings ?? []) + [.unsafeFlags(flags)]
  }
}

// libFuzzer brings the main function, so that this target links only as Scripts/fuzz builds it.
if Context.environment["KINVAULT_FUZZ_BUILD"] != nil {
  package.targets.append(
    .executableTarget(name: "fuzz", dependencies: ["Fuzzing"], path: "Tests/Fuzz"))
}
