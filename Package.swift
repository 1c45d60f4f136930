// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// Settings every Swift target shares: strict concurrency comes with language mode 6; the upcoming features keep
/// imports and existentials explicit; `Lifetimes` lets a container hand out a span of its own storage.
///
/// Exclusive access to class properties is checked at run time in debug builds, which run every unit test. A release
/// build leaves it out: it was 38 % of the instructions of an echoed message.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableExperimentalFeature("Lifetimes"),
  .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)),
]

/// A module of the gateway. `imports` is the whole list of rooms it may enter; the import check in CI holds it.
func room(_ name: String, imports: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: imports, swiftSettings: strict)
}

func suite(_ name: String, of imports: [Target.Dependency]) -> Target {
  .testTarget(name: "\(name)Tests", dependencies: imports, swiftSettings: strict)
}

/// The fuzzers need libFuzzer's runtime and its `main`, which an ordinary build has not: they are part of the package only
/// for `scripts/fuzz.sh`, which sets the variable and builds with `--sanitize fuzzer`.
let isFuzzing = ProcessInfo.processInfo.environment["THREADCAST_FUZZ"] == "1"

/// libFuzzer calls the target's one C function; there is no main of ours.
func fuzzer(_ name: String) -> Target {
  .executableTarget(
    name: "fuzz-\(name)", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/\(name)",
    swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])])
}

let package = Package(
  name: "threadcast",
  products: [
    .executable(name: "threadcast", targets: ["threadcast"]),
    .executable(name: "threadcast-load", targets: ["threadcast-load"]),
  ],
  targets: [
    // C libraries: module maps and thin inlines, no logic.
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .target(name: "CLinux"),
    .target(
      name: "CSimdjson", cxxSettings: [.unsafeFlags(["-O2"])], linkerSettings: [.linkedLibrary("simdjson")]),

    // Pure rooms: bytes, values and a clock in; values out.
    room("Primitives"),
    room("Crypto", imports: ["COpenSSL"]),
    room("HTTP1", imports: ["Primitives"]),
    room("WebSocket", imports: ["Primitives", "HTTP1", "CZlib", "Crypto"]),
    room("JSON", imports: ["Primitives", "CSimdjson"]),
    room("Chat", imports: ["Primitives"]),
    room("Wire", imports: ["JSON", "Chat"]),

    // Rooms with threads, files and sockets.
    room("Workers", imports: ["Primitives", "CLinux"]),
    room("Telemetry", imports: ["Primitives", "Workers"]),
    room("Reactor", imports: ["Primitives", "Workers", "Telemetry", "CLinux", "COpenSSL"]),
    room("Store", imports: ["Primitives", "Chat", "Crypto", "Workers", "Telemetry", "CSQLite"]),
    room("Bus", imports: ["Primitives", "Chat", "Workers", "Telemetry"]),
    room(
      "Gateway",
      imports: [
        "Primitives", "HTTP1", "WebSocket", "JSON", "Chat", "Wire", "Workers", "Telemetry", "Crypto", "Reactor",
        "Store", "Bus",
      ]),
    room("Configuration", imports: ["Primitives", "CYAML"]),
    .executableTarget(
      name: "threadcast",
      dependencies: [
        "Primitives", "JSON", "Chat", "Wire", "Workers", "Telemetry", "Crypto", "Reactor", "Store", "Bus", "Gateway",
        "Configuration",
      ],
      swiftSettings: strict),

    // The load driver: its model is pure, its program has the sockets.
    .target(
      name: "LoadModel", dependencies: ["Primitives", "JSON"], path: "loadtest/driver/LoadModel", swiftSettings: strict),
    .executableTarget(
      name: "threadcast-load",
      dependencies: ["LoadModel", "Primitives", "HTTP1", "WebSocket", "JSON", "Workers", "CLinux", "COpenSSL"],
      path: "loadtest/driver/threadcast-load", swiftSettings: strict),
    suite("LoadModel", of: ["LoadModel", "JSON", "Primitives"]),

    suite("Primitives", of: ["Primitives"]),
    suite("Crypto", of: ["Crypto"]),
    suite("HTTP1", of: ["HTTP1", "Primitives"]),
    suite("WebSocket", of: ["WebSocket", "HTTP1", "Primitives"]),
    suite("JSON", of: ["JSON"]),
    suite("Chat", of: ["Chat"]),
    suite("Wire", of: ["Wire", "Chat", "JSON"]),
    suite("Workers", of: ["Workers", "Primitives"]),
    suite("Telemetry", of: ["Telemetry", "Workers"]),
    suite("Reactor", of: ["Reactor", "Workers", "Primitives", "Telemetry", "CLinux", "COpenSSL"]),
    suite("Store", of: ["Store", "Chat", "Crypto"]),
    suite("Gateway", of: ["Gateway", "Store", "Chat", "Wire", "JSON", "WebSocket", "Primitives", "Telemetry"]),
    .testTarget(
      name: "SimulationTests",
      dependencies: ["Gateway", "Store", "Bus", "Chat", "Wire", "Workers", "WebSocket", "Primitives", "Telemetry"],
      path: "Tests/Simulation", swiftSettings: strict),
    suite("Configuration", of: ["Configuration"]),

    // What the fuzzers check, as a library, so that the committed corpora run with every other test.
    .target(
      name: "FuzzTargets", dependencies: ["HTTP1", "WebSocket", "JSON", "Chat", "Wire"], path: "Tests/Fuzz/Targets",
      swiftSettings: strict),
    .testTarget(
      name: "FuzzCorpusTests", dependencies: ["FuzzTargets", "WebSocket"], path: "Tests/Fuzz/CorpusTests",
      swiftSettings: strict),
  ] + (isFuzzing ? ["frame", "head", "handshake", "inflate", "operation"].map(fuzzer) : []),
  swiftLanguageModes: [.v6],
  cxxLanguageStandard: .cxx17
)
