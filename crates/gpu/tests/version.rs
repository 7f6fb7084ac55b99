//! The simulator's version changes exactly with the files that can change a number.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

#[path = "../build/version.rs"]
mod version;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A small workspace in a temporary folder.
struct Workspace(PathBuf);

impl Workspace {
    fn new() -> Workspace {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("strata-version-{}-{number}", std::process::id()));
        let workspace = Workspace(root);
        for room in version::ROOMS {
            workspace.write(&format!("crates/{room}/src/lib.rs"), "// One.\nfn one() {}\n");
            workspace.write(&format!("crates/{room}/Cargo.toml"), "[package]\n");
        }
        workspace.write("crates/ptx/src/front/heap.ptx", ".visible .func f() { ret; }\n");
        workspace.write("crates/ptx/src/front/tests.rs", "fn test() {}\n");
        workspace.write("crates/workloads/src/suite/a/mod.rs", "fn host() {}\n");
        workspace.write("crates/workloads/src/suite/a/kernel.ptx", ".entry k() { ret; }\n");
        workspace.write("crates/workloads/build/folders.rs", "fn folders() {}\n");
        workspace.write("Cargo.toml", "[workspace.dependencies]\nhalf = \"=2.0.0\"\nclap = \"4.0\"\n");
        workspace.write("Cargo.lock", "[[package]]\nname = \"half\"\nversion = \"2.0.0\"\n");
        workspace
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn digest(&self) -> String {
        version::digest(&self.0).unwrap().unwrap()
    }

    /// Whether changing a file's text changes the version. Restores the file afterwards.
    fn decides(&self, name: &str, from: &str, to: &str) -> bool {
        let before = fs::read_to_string(self.0.join(name)).unwrap();
        assert!(before.contains(from), "{name}");
        let old = self.digest();
        self.write(name, &before.replace(from, to));
        let new = self.digest();
        self.write(name, &before);
        assert_eq!(self.digest(), old);
        old != new
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn what_can_change_a_number_changes_the_version_and_nothing_else_does() {
    let workspace = Workspace::new();
    for (name, from, to, decides) in [
        ("crates/sm/src/lib.rs", "one()", "two()", true),
        ("crates/sm/src/lib.rs", "// One.", "// Two.", false),
        ("crates/ptx/src/front/heap.ptx", "ret", "trap", true),
        ("crates/ptx/src/front/tests.rs", "test()", "other()", false),
        ("crates/workloads/build/folders.rs", "folders()", "others()", true),
        ("crates/gpu/Cargo.toml", "[package]", "[package]\nx = 1", true),
        // Hashed into the keys of its own jobs instead.
        ("crates/workloads/src/suite/a/kernel.ptx", "ret", "trap", false),
        ("crates/workloads/src/suite/a/mod.rs", "host()", "other()", true),
        ("Cargo.toml", "2.0.0", "2.0.1", true),
        // It computes no values.
        ("Cargo.toml", "4.0", "4.1", false),
        // Not every build goes by it.
        ("Cargo.lock", "2.0.0", "2.0.1", false),
    ] {
        assert_eq!(workspace.decides(name, from, to), decides, "{name}: {from} -> {to}");
    }
    let before = workspace.digest();
    workspace.write("crates/memory/src/new.rs", "fn new() {}\n");
    assert_ne!(workspace.digest(), before);
}

/// The hash must hold for builds that go by another lock file, or by none.
#[test]
fn a_crate_that_computes_values_has_one_exact_version() {
    let workspace = Workspace::new();
    for (manifest, found) in [
        (
            "[workspace.dependencies]\nhalf = \"2.0.0\"\n",
            "found half = \"2.0.0\", expected one exact version",
        ),
        ("[workspace.dependencies]\nhalf-life = \"=1.0.0\"\n[profile.half]\n", "found nothing, expected"),
    ] {
        workspace.write("Cargo.toml", manifest);
        let error = version::digest(&workspace.0).unwrap_err();
        assert!(error.starts_with("Cargo.toml: ") && error.contains(found), "{error}");
    }
}

/// Crates from elsewhere that no number depends on, and why. They may come in any version that the manifests allow.
const COMPUTE_NO_VALUES: [(&str, &str); 14] = [
    ("bytemuck", "casts between types of one size, and vectors of zeros"),
    ("criterion", "only the benchmarks use it"),
    ("gungraun", "only the benchmarks use it"),
    ("lz4_flex", "packs checkpoints, which come back byte by byte"),
    ("prost", "writes traces"),
    ("rustc-hash", "finds entries of maps, which are read in no order of theirs"),
    ("rustix", "reads the host's clocks"),
    ("schemars", "says what the keys of machine files mean"),
    ("serde", "a job's key has the resolved values"),
    ("serde_json", "writes results; the store has them in binary"),
    ("sha2", "a standard's hash"),
    ("strsim", "suggests names in messages"),
    ("thiserror", "derives messages"),
    ("toml", "a job's key has the resolved values, and the hash of inputs"),
];

#[test]
fn every_crate_from_elsewhere_is_known_to_compute_values_or_not() {
    let mut seen = BTreeSet::new();
    for room in version::ROOMS {
        let manifest = fs::read_to_string(root().join("crates").join(room).join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let targets = manifest.get("target").and_then(toml::Value::as_table).into_iter().flatten();
        let tables = targets.filter_map(|(_, target)| target.as_table()).chain([&manifest]);
        let dependencies = tables.filter_map(|table| table.get("dependencies")?.as_table());
        seen.extend(dependencies.flat_map(|table| table.keys().cloned()));
    }
    seen.retain(|name| !name.starts_with("strata-"));
    let no_values = COMPUTE_NO_VALUES.map(|(name, _)| name);
    let known: BTreeSet<_> = version::COMPUTING.iter().chain(&no_values).map(ToString::to_string).collect();
    assert_eq!(seen, known, "crates from elsewhere that the rooms use, and those that these tests know");
}

#[test]
fn away_from_the_workspace_there_is_no_hash() {
    let folder = std::env::temp_dir().join(format!("strata-version-none-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    assert_eq!(version::digest(&folder), Ok(None));
    fs::remove_dir_all(&folder).unwrap();
}

/// Every file that a crate's sources include is hashed, or is a workload or a machine, which job keys cover.
#[test]
fn what_the_rooms_include_is_hashed() {
    let parts = version::parts(&root()).unwrap();
    assert!(parts.contains_key("crates/ptx/src/front/heap.ptx"));
    assert!(parts.contains_key("Cargo.toml: half"));
    let watched = version::watched(&root());
    for name in parts.keys() {
        let path = root().join(name.split(": ").next().unwrap());
        assert!(watched.iter().any(|of| path.starts_with(of)), "cargo does not watch {name}");
    }
    let mut seen = 0;
    for (name, bytes) in parts.iter().filter(|(name, _)| name.ends_with(".rs")) {
        let text = String::from_utf8_lossy(bytes);
        for included in text.split("include_str!(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let path = Path::new(name).parent().unwrap().join(included);
            let path = root()
                .join(path)
                .canonicalize()
                .unwrap_or_else(|error| panic!("{name}: {included}: {error}"));
            let path =
                path.strip_prefix(root().canonicalize().unwrap()).unwrap().to_string_lossy().into_owned();
            let in_the_key =
                path.contains("/suite/") || path.contains("machines/") || path.contains("systems/");
            let in_a_test =
                path.contains("/tests/") || path.starts_with("examples/") || path.starts_with("docs/");
            assert!(in_the_key || in_a_test || parts.contains_key(&path), "{name} includes {path}");
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen}");
}
