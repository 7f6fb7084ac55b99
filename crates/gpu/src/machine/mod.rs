//! Machine files: built in or the user's, read, overridden and checked.

mod doors;
mod endurance;
mod facts;
mod file;
pub mod overrides;
mod size;
pub mod system;

use std::path::{Path, PathBuf};

use strata_engine::config::ConfigError;
use strata_ptx::program::Kernel;
use strata_sm::occupancy::{Demand, occupancy};
use toml::Table;

pub use doors::{Door, Doors, doors, sets};
pub use endurance::{ArraySection, EnduranceSection};
pub use facts::MachineFacts;
pub use file::{Clocks, GpuConfig, MachineFile, Sections};
pub use system::System;

/// A machine file that comes with the program.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// Its name on a command line.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

impl Builtin {
    /// What the file says of itself.
    pub fn description(&self) -> String {
        let table: Table = self.text.parse().expect("a built-in machine file is TOML");
        table["description"].as_str().expect("a machine file has a description").to_owned()
    }
}

/// The machine files that come with the program.
pub fn builtin() -> &'static [Builtin] {
    &[
        Builtin { name: "gtx480", text: include_str!("../../machines/gtx480.toml") },
        Builtin { name: "volta-fuse", text: include_str!("../../machines/volta-fuse.toml") },
    ]
}

/// A machine that can be built.
#[derive(Clone, Debug)]
pub struct Machine {
    file: MachineFile,
    table: Table,
    systems: Vec<system::About>,
    /// The files it was read from, for errors.
    origin: String,
    /// Structures whose energy went with the design that a system replaced.
    replaced_energies: Vec<String>,
}

impl Machine {
    /// Reads a machine by name or from a file (`*.toml`), applies `--set` overrides and checks it.
    ///
    /// # Errors
    /// What is wrong with the file or an override, with file, line and column where known.
    pub fn load(name_or_file: &str, sets: &[String]) -> Result<Machine, ConfigError> {
        Machine::load_with(name_or_file, &[] as &[&str], sets)
    }

    /// The same with systems, each a name, a file or several as `a+b`, laid over the machine before the overrides.
    ///
    /// # Errors
    /// As [`Machine::load`]; what is wrong with a system, or two that replace the same.
    pub fn load_with(
        name_or_file: &str,
        systems: &[impl AsRef<str>],
        sets: &[String],
    ) -> Result<Machine, ConfigError> {
        let systems = System::load_all(systems)?;
        if let Some(builtin) = builtin().iter().find(|builtin| builtin.name == name_or_file) {
            let path = format!("crates/gpu/machines/{}.toml", builtin.name);
            return Machine::build(Path::new(&path), builtin.text, systems, sets);
        }
        let path = Path::new(name_or_file);
        if path.extension().is_none_or(|extension| extension != "toml") {
            let known: Vec<&str> = builtin().iter().map(|builtin| builtin.name).collect();
            let message = format!("no such machine, expected one of {} or a file (*.toml)", known.join(", "));
            return Err(ConfigError { file: path.into(), place: None, message });
        }
        let text = read_limited(path)?;
        Machine::build(path, &text, systems, sets)
    }

    /// Reads a machine from text; `path` is named in errors.
    ///
    /// # Errors
    /// As [`Machine::load`].
    pub fn parse(path: &Path, text: &str, sets: &[String]) -> Result<Machine, ConfigError> {
        Machine::build(path, text, vec![], sets)
    }

    fn build(path: &Path, text: &str, systems: Vec<System>, sets: &[String]) -> Result<Machine, ConfigError> {
        // Read as it stands first: only this knows lines and columns.
        let mut file = MachineFile::parse(path, text)?;
        let mut table: Table = text.parse().expect("the text was read before");
        // By way of text: a second way to read a machine would be as large as the first. Positions in that text mean
        // nothing to the user.
        let read = |table: &Table, from: PathBuf| {
            MachineFile::parse(&from, &table.to_string())
                .map_err(|error| ConfigError { place: None, ..error })
        };
        let checked = |file: &MachineFile, blamed: PathBuf| {
            file.check().map_err(|message| ConfigError { file: blamed, place: None, message })
        };
        let mut replaced_energies = Vec::new();
        if sets.is_empty() || !systems.is_empty() {
            checked(&file, path.into())?;
        }
        for system in &systems {
            replaced_energies.extend(system.lay_over(&mut table));
            file = read(&table, system.file().into())?;
            checked(&file, system.file().into())?;
        }
        for set in sets {
            overrides::apply(&mut table, set)?;
            file = read(&table, format!("--set {set}").into())?;
        }
        if !sets.is_empty() {
            checked(&file, blamed(path, text, sets))?;
        }
        let mut origin = path.display().to_string();
        for system in &systems {
            origin = format!("{origin} with {}", system.file().display());
        }
        let systems = systems.into_iter().map(|system| system.about).collect();
        Ok(Machine { file, table, systems, origin, replaced_energies })
    }

    /// The files it was read from.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Structures whose energy went with the design that a system replaced, and for which the system has none.
    pub fn replaced_energies(&self) -> &[String] {
        &self.replaced_energies
    }

    /// The systems laid over it.
    pub fn systems(&self) -> &[system::About] {
        &self.systems
    }

    /// The names of the systems laid over it, joined by `+`; nothing for the machine alone.
    pub fn system_name(&self) -> Option<String> {
        let names: Vec<&str> = self.systems.iter().map(|system| system.name.as_str()).collect();
        (!names.is_empty()).then(|| names.join("+"))
    }

    /// Its name in results.
    pub fn name(&self) -> &str {
        &self.file.name
    }

    /// Its numbers.
    pub fn file(&self) -> &MachineFile {
        &self.file
    }

    /// What its file says once everything is applied: [`Machine::parse`] makes the same machine of it as text.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// How its kernels are compiled.
    pub fn compile_options(&self) -> strata_ptx::back::Options {
        strata_ptx::back::Options {
            max_registers: *self.file.sm.registers_per_thread,
            sm_registers: *self.file.sm.registers,
            ..Default::default()
        }
    }

    /// CTAs of a kernel that are resident together on an SM: `threads` a CTA, and all its shared memory.
    pub fn resident_ctas(&self, kernel: &Kernel, threads: u32, shared_bytes: u32) -> u32 {
        let demand = Demand {
            warps: threads.div_ceil(32),
            registers: kernel.registers,
            shared_bytes,
            barriers: kernel.barriers,
        };
        occupancy(&self.file.sm.limits(), &demand).ctas
    }

    /// Bytes of the last-level cache.
    pub fn llc_bytes(&self) -> u64 {
        let slices = u64::from(*self.file.gpu.channels) * u64::from(*self.file.gpu.slices_per_channel);
        slices * self.file.doors.llc.capacity_bytes()
    }

    /// What a reader of results must know.
    pub fn facts(&self) -> MachineFacts {
        let Sections { gpu, sm, clocks, dram, .. } = &self.file.sections;
        let per_cycle = *dram.atom_bytes as f64 / *dram.burst_cycles as f64;
        MachineFacts {
            core_mhz: *clocks.core_mhz,
            warp_slots: *sm.warp_slots,
            dram_bytes_per_second: per_cycle * f64::from(*clocks.dram_mhz) * 1e6 * f64::from(*gpu.channels),
        }
    }

    /// A few lines that say what it is.
    pub fn outline(&self) -> String {
        let Sections { gpu, sm, clocks, dram, description, .. } = &self.file.sections;
        let doors = &self.file.doors;
        format!(
            "  {description}\n  {} SMs of {} warps at {} MHz, {} schedulers each\n  registers {}\n  L1D {}\n  \
             network {}\n  LLC {} slices, each {}\n  DRAM {} channels of {} banks at {} MHz\n  window {} cycles",
            *gpu.sms,
            *sm.warp_slots,
            *clocks.core_mhz,
            *sm.schedulers,
            doors.register_file.outline(),
            doors.l1d.outline(),
            doors.network.outline(),
            *gpu.channels * *gpu.slices_per_channel,
            doors.llc.outline(),
            *gpu.channels,
            *dram.banks,
            *clocks.dram_mhz,
            self.file.window(),
        )
    }
}

/// What is named when a machine fails its check: the overrides, unless the file fails without them.
fn blamed(path: &Path, text: &str, sets: &[String]) -> PathBuf {
    let is_right_without = || MachineFile::parse(path, text).is_ok_and(|file| file.check().is_ok());
    if sets.is_empty() || !is_right_without() {
        return path.to_owned();
    }
    format!("{} with --set {}", path.display(), sets.join(" --set ")).into()
}

/// Machine files are small: more is not read.
const FILE_LIMIT: u64 = 1 << 20;

fn read_limited(path: &Path) -> Result<String, ConfigError> {
    let error = |message: String| ConfigError { file: path.to_owned(), place: None, message };
    let meta = std::fs::metadata(path).map_err(|e| error(e.to_string()))?;
    if !meta.is_file() {
        return Err(error("not a regular file".into()));
    }
    let size = meta.len();
    if size > FILE_LIMIT {
        return Err(error(format!("found {size} bytes, expected at most {FILE_LIMIT}")));
    }
    std::fs::read_to_string(path).map_err(|e| error(e.to_string()))
}
