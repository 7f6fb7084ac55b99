//! Lists the systems that come with the program: `systems/<paper>/<name>.toml`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=systems");
    let papers = folders(&root.join("systems"));
    let mut files: Vec<PathBuf> = papers.iter().flat_map(|paper| folders(paper)).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let mut text = format!("static BUILTIN: [SystemFile; {}] = [\n", files.len());
    for file in files {
        let name = file.file_stem().expect("a file has a name").to_string_lossy();
        let path = file.strip_prefix(&root).expect("it was found there");
        writeln!(
            text,
            "    SystemFile {{ name: {name:?}, path: \"crates/designs/{}\", text: include_str!({file:?}) }},",
            path.display()
        )
        .expect("a string takes all");
    }
    text.push_str("];\n");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("systems.rs"), text).expect("cargo's output folder can be written");
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return vec![] };
    entries.filter_map(Result::ok).map(|entry| entry.path()).collect()
}
