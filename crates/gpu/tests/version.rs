//! The simulator's version changes exactly with the files that can change a number.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "../build/version.rs"]
mod version;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A small workspace in a temporary folder.
struct Workspace(PathBuf);

impl Workspace {
    fn new() -> Workspace {
        let root = std::env::temp_dir().join(format!("strata-version-{}", std::process::id()));
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
        let lock = "[[package]]\nname = \"strata-ptx\"\nversion = \"1.0.0\"\ndependencies = [\n \"half\",\n]\n\n\
                    [[package]]\nname = \"half\"\nversion = \"2.0.0\"\nchecksum = \"aa\"\n\n\
                    [[package]]\nname = \"clap\"\nversion = \"4.0.0\"\nchecksum = \"bb\"\n";
        workspace.write("Cargo.lock", lock);
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
        ("Cargo.lock", "2.0.0", "2.0.1", true),
        ("Cargo.lock", "\"aa\"", "\"ab\"", true),
        // The crates are built without it.
        ("Cargo.lock", "4.0.0", "4.0.1", false),
    ] {
        assert_eq!(workspace.decides(name, from, to), decides, "{name}: {from} -> {to}");
    }
    let before = workspace.digest();
    workspace.write("crates/memory/src/new.rs", "fn new() {}\n");
    assert_ne!(workspace.digest(), before);
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
    assert!(parts.keys().any(|name| name.starts_with("Cargo.lock: ")), "Cargo.lock");
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
