//! Lists the systems that come with the program: `systems/<paper>/<name>.toml`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let systems = Path::new(&root).join("../../systems");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", systems.display());
    let mut files: Vec<PathBuf> =
        folders(&systems).iter().flat_map(|folder| folders(folder)).filter(|path| is_toml(path)).collect();
    files.sort();
    let mut text = format!("static BUILTIN: [Builtin; {}] = [\n", files.len());
    for file in files {
        let name = file.file_stem().expect("a file has a name").to_string_lossy();
        writeln!(text, "    Builtin {{ name: {name:?}, text: include_str!({file:?}) }},")
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

fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "toml")
}
