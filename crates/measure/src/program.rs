//! What a job runs: a built-in workload, or a launch file.

use std::path::{Path, PathBuf};

use strata_engine::config::did_you_mean;
use strata_gpu::machine::identity::digest;
use strata_workloads::launch_file::{self, LaunchFile};
use strata_workloads::{HostProgram, Size, Workload};

use crate::inputs;

/// A program that the lab can run.
#[derive(Debug)]
pub enum Program {
    /// A built-in workload, which has sizes.
    Workload(&'static Workload),
    /// A launch file and where it lies.
    LaunchFile(PathBuf, LaunchFile),
}

/// Hashes of what a program is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The first 128 bits of the SHA-256 of its PTX.
    pub ptx: String,
    /// Hash of a workload's memory and arguments at its first launch; of a launch file, of everything that its host
    /// side does and expects.
    pub inputs: String,
}

impl Program {
    /// Finds a program by a workload's name, or by the path of a launch file (`*.toml`).
    ///
    /// # Errors
    /// If there is no such workload, or what is wrong with the launch file.
    pub fn find(name: &str) -> Result<Program, String> {
        if !is_launch_file(Path::new(name)) {
            let workload = strata_workloads::find(name).ok_or_else(|| unknown(name))?;
            return Ok(Program::Workload(workload));
        }
        let path = std::path::absolute(name).map_err(|error| format!("{name}: {error}"))?;
        let file = launch_file::read(Path::new(name)).map_err(|error| error.to_string())?;
        Ok(Program::LaunchFile(path, file))
    }

    /// Its name, for readers.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Program::Workload(workload) => workload.name,
            Program::LaunchFile(_, file) => file.name(),
        }
    }

    /// The path of a launch file.
    #[must_use]
    pub fn launch_file(&self) -> Option<&Path> {
        match self {
            Program::Workload(_) => None,
            Program::LaunchFile(path, _) => Some(path),
        }
    }

    /// The program at a size. A launch file has one size only.
    ///
    /// # Errors
    /// If the workload does not have the size.
    pub fn at(self, size: Size) -> Result<Box<dyn HostProgram>, String> {
        match self {
            Program::Workload(workload) => workload.program(size).map_err(|error| error.to_string()),
            Program::LaunchFile(_, file) => Ok(Box::new(file)),
        }
    }

    /// What the program is made of, at a size.
    ///
    /// # Errors
    /// If the workload does not have the size, or a program launches nothing.
    pub fn identity(&self, size: Size) -> Result<Identity, String> {
        match self {
            Program::Workload(workload) => {
                if workload.input(size).is_none() {
                    let known: Vec<&str> = workload.inputs.iter().map(|input| input.size.name()).collect();
                    let known = known.join(", ");
                    return Err(format!(
                        "workload `{}` has no size `{size}`, expected one of {known}",
                        workload.name
                    ));
                }
                let inputs = match workload.measured(size) {
                    Some(measured) => measured.inputs_hash.clone(),
                    None => {
                        inputs::hash(workload.program(size).map_err(|error| error.to_string())?.as_ref())?
                    }
                };
                Ok(Identity { ptx: digest(workload.ptx.as_bytes()), inputs })
            }
            Program::LaunchFile(_, file) => Ok(Identity {
                ptx: digest(file.module().text.as_bytes()),
                inputs: inputs::of_whole_run(file)?,
            }),
        }
    }
}

/// The programs that a command line names, each once: a folder stands for the launch files in it.
///
/// # Errors
/// If a folder cannot be read or holds no launch file.
pub fn expand(names: &[String]) -> Result<Vec<String>, String> {
    let mut programs = Vec::new();
    for name in names {
        let path = Path::new(name);
        if let Some(workload) = strata_workloads::find(name) {
            programs.push(workload.name.to_owned());
            continue;
        }
        if !path.is_dir() {
            programs.push(name.clone());
            continue;
        }
        let entries = std::fs::read_dir(path).map_err(|error| format!("{name}: {error}"))?;
        let mut found = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| format!("{name}: {error}"))?.path();
            if is_launch_file(&path) {
                found.push(path.to_string_lossy().into_owned());
            }
        }
        if found.is_empty() {
            return Err(format!("{name}: found no launch file, expected at least one `*.toml`"));
        }
        found.sort();
        programs.append(&mut found);
    }
    let mut seen = std::collections::BTreeSet::new();
    programs.retain(|name| seen.insert(name.clone()));
    Ok(programs)
}

fn is_launch_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "toml")
}

fn unknown(name: &str) -> String {
    let known: Vec<&str> = strata_workloads::all().iter().map(|workload| workload.name).collect();
    let alike = did_you_mean(name, known.iter().copied());
    format!("no workload `{name}`{alike}, expected a launch file (*.toml) or one of {}", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) {\nret;\n}\n";
    const FILE: &str = "name = \"mine\"\nmodule = \"k.ptx\"\n[[buffer]]\nname = \"b\"\ntype = \"u32\"\ncount = 4\n\
                        [[launch]]\nkernel = \"k\"\ngrid = [1]\nblock = [32]\narguments = [{ buffer = \"b\" }]\n\
                        [[check]]\nbuffer = \"b\"\nexpected = { constant = 0 }\n";

    /// A folder with a launch file, which goes when the test ends.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str, file: &str, ptx: &str) -> Folder {
            let folder = std::env::temp_dir().join(format!("strata-program-{}-{name}", std::process::id()));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("f.toml"), file).unwrap();
            std::fs::write(folder.join("k.ptx"), ptx).unwrap();
            Folder(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_folder_stands_for_its_launch_files() {
        let folder = Folder::new("folder", FILE, PTX);
        let name = folder.0.to_str().unwrap().to_owned();
        let found = expand(&[name.clone(), "GEMM".into(), "gemm".into(), name]).unwrap();
        assert_eq!(found, [folder.0.join("f.toml").to_str().unwrap(), "gemm"]);
        std::fs::remove_file(folder.0.join("f.toml")).unwrap();
        let error = expand(&[folder.0.to_str().unwrap().to_owned()]).unwrap_err();
        assert!(error.ends_with("found no launch file, expected at least one `*.toml`"), "{error}");
    }
}
