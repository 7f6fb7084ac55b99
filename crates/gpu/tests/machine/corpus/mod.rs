//! Every input of the fuzzing corpora, handled as the fuzz targets do (docs/fuzzing.md): none may panic.

#[path = "../../../../../fuzz/src/launch_file.rs"]
mod launch_file;
#[path = "../../../../../fuzz/src/machine.rs"]
pub mod machine;
#[path = "../../../../../fuzz/src/ptx.rs"]
mod ptx;

use std::path::Path;

/// Passes each file of a corpus to `try_input`. If one panics, its name has been printed.
fn replay(corpus: &str, try_input: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(corpus);
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the corpus is part of the repository")
        .map(|entry| entry.expect("the corpus can be listed").path())
        .collect();
    files.sort();
    assert!(files.len() >= 3, "{} holds {} inputs only", folder.display(), files.len());
    for file in files {
        let input = std::fs::read(&file).expect("the corpus can be read");
        // Shown only when the test fails.
        println!("{}", file.display());
        try_input(&input);
    }
}

#[test]
fn ptx_does_not_panic() {
    replay("ptx", ptx::try_input);
}

#[test]
fn machine_files_do_not_panic() {
    replay("machine", machine::try_input);
}

#[test]
fn launch_files_do_not_panic() {
    replay("launch_file", launch_file::try_input);
}
