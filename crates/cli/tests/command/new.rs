//! Crates that `strata new` writes, as files; `scripts/new-crates` builds them.

use std::path::Path;

use super::{folder, refused, well};

/// Every file below a folder, by its path from there.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        match path.is_dir() {
            true => found.extend(files(&path).into_iter().map(|file| format!("{name}/{file}"))),
            false => found.push(name),
        }
    }
    found.sort();
    found
}

#[test]
fn a_crate_is_written_whole_or_not_at_all() {
    let folder = folder("new-crate", &[]);
    std::fs::remove_dir_all(&folder).unwrap();
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let out = well(&["new", "mine", "--kind", "llc", "--dir", &at("mine"), "--strata", "crates.io"]);
    assert!(out.contains("--systems gtx480,mine.toml"), "{out}");
    let expected = [
        ".gitignore",
        "Cargo.toml",
        "mine.toml",
        "src/config.rs",
        "src/lib.rs",
        "src/main.rs",
        "src/protocol.rs",
        "tests/command.rs",
        "tests/contract.rs",
    ];
    assert_eq!(files(Path::new(&at("mine"))), expected);

    // A file that is in the way stays, and nothing is written beside it.
    std::fs::create_dir_all(at("other/src")).unwrap();
    std::fs::write(at("other/src/main.rs"), "kept").unwrap();
    let error = refused(&["new", "mine", "--kind", "l1d", "--dir", &at("other")]);
    assert!(error.contains("other/src/main.rs: exists already; expected a name that no file has"), "{error}");
    assert_eq!(files(Path::new(&at("other"))), ["src/main.rs"]);
    assert_eq!(std::fs::read_to_string(at("other/src/main.rs")).unwrap(), "kept");
}

#[test]
fn what_no_crate_can_be_is_refused() {
    for (arguments, expected) in [
        (
            &["lru", "--kind", "replacement"][..],
            "`lru` is a built-in replacement policy, expected another name",
        ),
        (&["Mine", "--kind", "l1d"], "expected a name of small letters"),
        (&["mine", "--strata", "crates.io"], "--strata: found a program, expected a --kind that is a crate"),
        (&["mine", "--kind", "l1d", "--ptx", "k.ptx"], "--ptx k.ptx: found a crate, expected a program"),
        (&["mine", "--kind", "l1d", "--strata", "/nowhere"], "--strata /nowhere: "),
    ] {
        let error = refused(&[&["new"], arguments].concat());
        assert!(error.contains(expected), "{arguments:?}: {error}");
        assert!(!Path::new("mine").exists(), "{arguments:?}");
    }
}
