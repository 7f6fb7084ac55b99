//! What is put before a program: libraries and tools in folders of their own, and variables that have them found.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::libraries::{self, before_others, symlink};
use super::part::{Part, Parts};
use super::tools;

/// Variables by which Triton is told its assembler, for GPUs before and from Blackwell on.
const TRITON: [&str; 2] = ["TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"];

/// Where CuPy keeps what it has compiled. Its names for that do not tell machine code, as a real GPU's programs leave it, from PTX.
const CUPY: &str = "CUPY_CACHE_DIR";

/// What stands before a program.
pub struct Front {
    /// Where processes list what they load and call.
    pub log: PathBuf,
    /// The folder of the libraries that are handed out.
    pub folder: PathBuf,
    variables: Vec<(&'static str, OsString)>,
    /// What was wanted and is not there, a sentence each.
    pub missing: Vec<String>,
}

impl Front {
    /// Makes the folders in a folder.
    ///
    /// # Errors
    /// If one cannot be made or takes no links.
    pub fn make(folder: &Path, driver: &Path, program: &Path, parts: &Parts) -> Result<Front, String> {
        let make = |name: &str| {
            let path = folder.join(name);
            fs::create_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            Ok::<_, String>(path)
        };
        let mut front = Front {
            log: folder.join("found"),
            folder: make("audit")?,
            variables: Vec::new(),
            missing: Vec::new(),
        };
        // Found by programs that the audit library does not reach, such as those that link nothing dynamically but CUDA.
        let searched = make("libraries")?;
        libraries::link(driver, &searched, parts)?;
        front.set_to("LD_LIBRARY_PATH", before_others(&searched, "LD_LIBRARY_PATH"));
        front.audit(driver, parts)?;
        front.tools(&make("tools")?, program, parts)?;
        Ok(front)
    }

    /// Has the dynamic linker ask for every library.
    fn audit(&mut self, driver: &Path, parts: &Parts) -> Result<(), String> {
        libraries::link(driver, &self.folder, parts)?;
        libraries::link_stand_ins(driver, &self.folder, parts)?;
        let audit = driver.with_file_name(libraries::AUDIT);
        let stand_ins = libraries::STAND_INS.into_iter().filter(|(_, _, part)| parts.has(*part));
        let wanted = std::iter::once(libraries::AUDIT).chain(stand_ins.map(|(built, ..)| built));
        for built in wanted.filter(|built| !driver.with_file_name(built).exists()) {
            self.missing.push(format!("no {built} beside {}", driver.display()));
        }
        if parts.has(Part::Nvrtc) {
            // The user's, so that what was compiled once is found again; else it lasts as long as the program.
            let home = || std::env::home_dir().map(|home| home.join(".cache"));
            let caches =
                std::env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
            let caches = caches.or_else(home).unwrap_or_else(|| self.folder.clone());
            self.set_to(CUPY, caches.join("strata/cupy").into());
        }
        if audit.exists() {
            self.set_to("LD_AUDIT", before_others(&audit, "LD_AUDIT"));
            self.set_to("STRATA_AUDIT", self.folder.clone().into());
            self.set_to(tools::LOG, self.log.clone().into());
        }
        Ok(())
    }

    /// Puts tools into a folder. They are this command under other names.
    fn tools(&mut self, folder: &Path, program: &Path, parts: &Parts) -> Result<(), String> {
        let command = std::env::current_exe().map_err(|error| format!("this command's place: {error}"))?;
        if parts.has(Part::Ptxas) {
            let ptxas = folder.join(tools::PTXAS);
            symlink(&command, &ptxas)?;
            TRITON.into_iter().for_each(|variable| self.set_to(variable, ptxas.clone().into()));
        }
        // Without one of the user's, programs are to see that there is none.
        if let Some(nvcc) = parts.has(Part::Nvcc).then(|| tools::nvcc::find(program)).flatten() {
            let path = folder.join("path");
            fs::create_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            symlink(&command, &path.join(tools::nvcc::NAME))?;
            self.set_to("PATH", before_others(&path, "PATH"));
            self.set_to(tools::NVCC, nvcc.into());
        }
        Ok(())
    }

    fn set_to(&mut self, variable: &'static str, value: OsString) {
        self.variables.push((variable, value));
    }

    /// Sets the variables for a program.
    pub fn set(&self, program: &mut Command) {
        // Of a command that runs in another's program.
        for variable in ["STRATA_AUDIT", tools::LOG, tools::NVCC] {
            program.env_remove(variable);
        }
        program.envs(self.variables.iter().map(|(variable, value)| (variable, value)));
    }
}
