//! Machine files: built-in or the user's; read, overridden and checked.

mod base;
mod counts;
mod doors;
mod endurance;
mod facts;
mod file;
mod fit;
mod helpers;
pub mod identity;
mod keys;
mod layer;
pub mod overrides;
mod policies;
mod ranges;
mod schema;
mod size;
pub mod system;
mod together;
mod values;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use strata_engine::config::{self, ConfigError, did_you_mean};
use strata_memory::doors::{OperandAccesses, WideAccesses};
use strata_ptx::back::AccessRules;
use strata_ptx::program::Kernel;
use strata_sm::occupancy::{Demand, occupancy};
use toml::Table;

use base::Source;
pub use counts::{Clocks, GpuConfig};
pub use doors::{Door, Doors, doors, sets};
pub use endurance::{ArraySection, EnduranceSection};
pub use facts::MachineFacts;
pub use file::{MachineFile, Sections};
pub use fit::fit;
pub use helpers::Helper;
pub use keys::{MachineKey, designs_with_key};
use layer::Layer;
pub use policies::{Policy, PolicyKey, policies};
pub use ranges::{Range, Span};
pub use system::System;
pub use values::MachineValue;

/// A built-in machine or system file.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// Name on a command line.
    pub name: &'static str,
    /// Text of the file, in TOML.
    pub text: &'static str,
}

impl Builtin {
    /// The `description` that the file contains.
    pub fn description(&self) -> String {
        let table: Table = self.text.parse().expect("a built-in machine file is TOML");
        table["description"].as_str().expect("a machine file has a description").to_owned()
    }
}

/// The built-in machine files.
pub fn builtin() -> &'static [Builtin] {
    &[
        Builtin { name: "gtx480", text: include_str!("../../machines/gtx480.toml") },
        Builtin { name: "volta-fuse", text: include_str!("../../machines/volta-fuse.toml") },
        Builtin { name: "v100", text: include_str!("../../machines/v100.toml") },
        Builtin { name: "a100", text: include_str!("../../machines/a100.toml") },
        Builtin { name: "h200", text: include_str!("../../machines/h200.toml") },
        Builtin { name: "fermi-apu", text: include_str!("../../machines/fermi-apu.toml") },
        Builtin { name: "rtx3080", text: include_str!("../../machines/rtx3080.toml") },
        Builtin { name: "rtx3080-quarter", text: include_str!("../../machines/rtx3080-quarter.toml") },
        Builtin { name: "stash-apu", text: include_str!("../../machines/stash-apu.toml") },
        Builtin { name: "apu-all", text: include_str!("../../machines/apu-all.toml") },
    ]
}

/// A machine that has been checked and can be built.
#[derive(Clone, Debug)]
pub struct Machine {
    file: MachineFile,
    table: Table,
    systems: Vec<system::About>,
    /// The files that the machine was read from, for errors.
    origin: String,
    title: String,
    path: Option<String>,
    /// Its file and those of its base and systems, as errors name them.
    files: Vec<PathBuf>,
    /// Structures whose energies were removed because a system replaced their design.
    replaced_energies: Vec<String>,
}

impl Machine {
    /// Reads a built-in machine or a machine file (`*.toml`), applies the `--set` overrides and checks the
    /// result.
    ///
    /// # Errors
    /// What is wrong with the file or an override, with file, line and column where known.
    pub fn load(name_or_file: &str, sets: &[String]) -> Result<Machine, ConfigError> {
        Machine::load_with(name_or_file, &[] as &[&str], sets)
    }

    /// Like [`Machine::load`], but lays systems over the machine before the overrides. Each system is a name,
    /// a file, or several of them as `a+b`.
    ///
    /// # Errors
    /// As [`Machine::load`]; what is wrong with a system; or two systems that replace the same thing.
    pub fn load_with(
        name_or_file: &str,
        systems: &[impl AsRef<str>],
        sets: &[String],
    ) -> Result<Machine, ConfigError> {
        let systems = System::load_all(systems)?;
        let (path, text) = find(name_or_file)?;
        let built = Machine::build(&path, &text, systems.clone(), sets);
        let machine = built.map_err(|error| {
            together::explain(error, &systems, |some| Machine::build(&path, &text, some, sets).err())
        })?;
        if builtin().iter().any(|builtin| builtin.name == name_or_file) {
            return Ok(machine);
        }
        let title = format!("{} ({name_or_file})", machine.file.name);
        Ok(Machine { title, path: Some(name_or_file.to_owned()), ..machine })
    }

    /// Reads a machine from text; `path` appears in errors.
    ///
    /// # Errors
    /// As [`Machine::load`].
    pub fn parse(path: &Path, text: &str, sets: &[String]) -> Result<Machine, ConfigError> {
        Machine::build(path, text, vec![], sets)
    }

    /// This machine, with its systems and overrides but without some sections, and one more system over it.
    ///
    /// # Errors
    /// What is wrong with the machine that it makes.
    pub fn under(&self, system: &System, without: &[&str]) -> Result<Machine, ConfigError> {
        let mut table = self.table.clone();
        without.iter().for_each(|section| _ = table.remove(*section));
        let text = table.to_string();
        let machine = Machine::build(Path::new(&self.origin), &text, vec![system.clone()], &[])?;
        let systems = self.systems.iter().cloned().chain(machine.systems).collect();
        Ok(Machine { systems, title: self.title.clone(), path: self.path.clone(), ..machine })
    }

    /// The file and table of a machine that may break rules between its values.
    ///
    /// # Errors
    /// What cannot be read.
    fn unchecked(
        path: &Path,
        text: &str,
        systems: &[System],
        sets: &[String],
    ) -> Result<(MachineFile, Table), ConfigError> {
        let source = Source::new(path, text)?;
        let mut table = config::read_table(&source.path, &source.text)?;
        for layer in source.layer.iter().chain(systems.iter().map(|system| &system.layer)) {
            layer.lay_over(&mut table);
        }
        for set in sets {
            overrides::apply(&mut table, keys::root(), set)?;
        }
        let file = MachineFile::parse(&source.path, &table.to_string())?;
        Ok((file, table))
    }

    fn build(path: &Path, text: &str, systems: Vec<System>, sets: &[String]) -> Result<Machine, ConfigError> {
        let source = Source::new(path, text)?;
        let (path, text) = (source.path.as_path(), &*source.text);
        // Read the file as it stands first: only this pass knows lines and columns.
        let mut file = MachineFile::parse(path, text)?;
        let mut table = config::read_table(path, text)?;
        ranges::check(path, text, &table)?;
        // The overridden machine is read from generated text, because a second reader would be as large as
        // the first. Positions in that text mean nothing to the user.
        let read = |table: &Table, blame: &dyn Fn(&str, ConfigError) -> ConfigError| {
            let text = table.to_string();
            MachineFile::parse(path, &text).map_err(|error| blame(&text, error))
        };
        // The key that fails stands in the text that is blamed, if it was not set for this run.
        let checked = |file: &MachineFile, blamed: PathBuf, text: &str| {
            size::check(file).map_err(|message| ConfigError {
                file: blamed,
                place: config::place_named(text, &message),
                message,
            })
        };
        let layers: Vec<&Layer> =
            source.layer.iter().chain(systems.iter().map(|system| &system.layer)).collect();
        let files = std::iter::once(path)
            .chain(layers.iter().map(|layer| layer.file()))
            .map(Path::to_owned)
            .collect();
        let mut origin = path.display().to_string();
        let mut replaced_energies = Vec::new();
        if sets.is_empty() || !layers.is_empty() {
            checked(&file, path.into(), text)?;
        }
        // What one layer breaks, the next ones and the overrides may mend.
        let mut broken: Option<ConfigError> = None;
        for layer in &layers {
            origin = format!("{origin} with {}", layer.file().display());
            replaced_energies.extend(layer.lay_over(&mut table));
            file = read(&table, &|text, error| layer.blame(text, error))?;
            let found = checked(&file, layer.file().into(), layer.text()).err();
            broken = found.map(|error| broken.unwrap_or(error));
        }
        if !sets.is_empty() {
            let paths: Result<Vec<String>, ConfigError> =
                sets.iter().map(|set| overrides::apply(&mut table, keys::root(), set)).collect();
            let paths = paths?;
            file = read(&table, &|text, error| overrides::blame(sets, &paths, text, error))?;
            let named = source.layer.as_ref().map_or(path, Layer::file);
            let blamed = blamed(path, named, text, sets);
            let text = if blamed == path { text } else { "" };
            let found = checked(&file, blamed, text).err();
            broken =
                found.map(|error| broken.filter(|layer| layer.message == error.message).unwrap_or(error));
        }
        if let Some(error) = broken {
            return Err(error);
        }
        let title = file.name.clone();
        let about = systems.iter().map(|system| system.about.clone()).collect();
        let machine =
            Machine { file, table, systems: about, origin, title, path: None, files, replaced_energies };
        machine.with_fitting_helper(&layers, sets)
    }

    /// The machine, if the kernel of its SMs in cache mode fits them. An error names the last layer that sets the key, or the overrides.
    fn with_fitting_helper(self, layers: &[&Layer], sets: &[String]) -> Result<Machine, ConfigError> {
        let Err(message) = self.helper() else { return Ok(self) };
        let of_a_layer = |layer: &&Layer| {
            let place = config::place_named(layer.text(), &message)?;
            Some((layer.file().to_owned(), Some(place)))
        };
        let found = layers.iter().rev().find_map(of_a_layer).filter(|_| sets.is_empty());
        let (file, place) = found.unwrap_or_else(|| {
            let sets: String = sets.iter().map(|set| format!(" with --set {set}")).collect();
            (format!("{}{sets}", self.origin).into(), None)
        });
        Err(ConfigError { file, place, message })
    }

    /// The files that the machine was read from, for errors.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Structures that lost their energies because a system replaced their design and gives none for it.
    pub fn replaced_energies(&self) -> &[String] {
        &self.replaced_energies
    }

    /// The systems laid over the machine, in order.
    pub fn systems(&self) -> &[system::About] {
        &self.systems
    }

    /// Names of the systems laid over the machine, joined by `+`; `None` if there are none.
    pub fn system_name(&self) -> Option<String> {
        let names: Vec<&str> = self.systems.iter().map(|system| system.name.as_str()).collect();
        (!names.is_empty()).then(|| names.join("+"))
    }

    /// Name of the machine in results: the one that its file gives and, unless it is built in, the file.
    pub fn name(&self) -> &str {
        &self.title
    }

    /// The machine's file as it was named; `None` if it is built in.
    pub fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// A hash of all values that decide numbers, after systems and overrides.
    pub fn hash(&self) -> String {
        identity::digest(identity::lines(&self.table).concat().as_bytes())
    }

    /// The configuration from which the machine is built.
    pub fn file(&self) -> &MachineFile {
        &self.file
    }

    /// The machine as TOML, after systems and overrides. [`Machine::parse`] reads the same machine from its
    /// text.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The files that the machine was read from: its own, its base's and its systems'. Built-in ones go by their paths in the
    /// sources.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(PathBuf::as_path)
    }

    /// The machine's values, after systems and overrides, by path. `--set` takes each of the paths.
    pub fn values(&self) -> Vec<MachineValue> {
        values::values(&self.table)
    }

    /// Compiler options for kernels that run on this machine.
    pub fn compile_options(&self) -> strata_ptx::back::Options {
        let sm = &self.file.sm;
        strata_ptx::back::Options {
            max_registers: *sm.registers_per_thread,
            sm_threads: *sm.warp_slots * 32,
            register_unit: *sm.register_unit / 32,
            sm_registers: *sm.registers,
            load_window: *sm.load_window,
            allocation: (*sm.register_allocation).into(),
            indirect_mov: sm.indirect_mov.as_ref().is_some_and(|has| **has),
            independent_threads: sm.independent_threads.as_ref().is_some_and(|has| **has),
            loads_parameters: self.file.lsu.loads_read_only_as_global(),
            accesses: access_rules(self.file.doors.register_file.accesses()),
            ..Default::default()
        }
    }

    /// The same for a kernel with so many warps on an SM, which share out its registers in units.
    pub fn compile_options_for(&self, warps: u32) -> strata_ptx::back::Options {
        let unit = *self.file.sm.register_unit;
        let share = *self.file.sm.registers / warps / unit * unit / 32;
        let options = self.compile_options();
        strata_ptx::back::Options { max_registers: options.max_registers.min(share), ..options }
    }

    /// The kernel of the SMs in cache mode; `None` if there are none, or these rest.
    ///
    /// # Errors
    /// The keys with which the kernel does not fit them, what was found and what was expected.
    pub fn helper(&self) -> Result<Option<Helper>, String> {
        helpers::compile(&self.file, |warps| self.compile_options_for(warps))
            .map_err(|message| file::misfit(&message))
    }

    /// Number of CTAs of a kernel that fit on an SM together, with `threads` threads and `shared_bytes` bytes
    /// of shared memory each.
    pub fn resident_ctas(&self, kernel: &Kernel, threads: u32, shared_bytes: u32) -> u32 {
        let demand = Demand {
            warps: threads.div_ceil(32),
            registers: kernel.registers,
            rows_spared: 0,
            shared_bytes,
            barriers: kernel.barriers,
        };
        occupancy(&self.file.sm.limits(), &demand).ctas
    }

    /// Size of the whole last-level cache in bytes.
    pub fn llc_bytes(&self) -> u64 {
        let slices = u64::from(*self.file.gpu.channels) * u64::from(*self.file.gpu.slices_per_channel);
        slices * self.file.doors.llc.capacity_bytes()
    }

    /// Figures of the machine that are needed to read its results.
    pub fn facts(&self) -> MachineFacts {
        let Sections { gpu, sm, clocks, dram, .. } = &self.file.sections;
        let per_cycle = *dram.atom_bytes as f64 / *dram.burst_cycles as f64;
        MachineFacts {
            core_mhz: *clocks.core_mhz,
            warp_slots: *sm.warp_slots,
            dram_bytes_per_second: per_cycle * f64::from(*clocks.dram_mhz) * 1e6 * f64::from(*gpu.channels),
        }
    }

    /// Describes the machine in a few lines.
    pub fn outline(&self) -> String {
        let Sections { gpu, sm, clocks, dram, description, .. } = &self.file.sections;
        let doors = &self.file.doors;
        let cores = self.file.cpu.as_ref().map_or_else(String::new, |cpu| {
            let (cores, mhz, l1d) = (*cpu.cores, *cpu.clock_mhz, doors.cpu_l1d().outline());
            format!("\n  CPU {cores} cores at {mhz} MHz, L1D {l1d}")
        });
        format!(
            "  {description}\n  {} SMs of {} warps at {} MHz, {} schedulers each\n  registers {}\n  L1D {}{cores}\n  \
             network {}{}\n  LLC {} slices, each {}{}\n  DRAM {} channels of {} banks at {} MHz\n  window {} cycles",
            *gpu.sms,
            *sm.warp_slots,
            *clocks.core_mhz,
            *sm.schedulers,
            doors.register_file.outline(),
            doors.l1d.outline(),
            doors.network.outline(),
            own_clock(clocks.network_mhz.as_ref()),
            *gpu.channels * *gpu.slices_per_channel,
            doors.llc.outline(),
            own_clock(clocks.l2_mhz.as_ref()),
            *gpu.channels,
            *dram.banks,
            *clocks.dram_mhz,
            self.file.window(),
        )
    }
}

/// What an outline says of a clock that need not be the core clock.
fn own_clock(mhz: Option<&config::Cited<u32>>) -> String {
    mhz.map_or_else(String::new, |mhz| format!(", at {} MHz", **mhz))
}

/// What errors name when a machine fails its check: the overrides, unless the file fails without them too.
fn blamed(path: &Path, named: &Path, text: &str, sets: &[String]) -> PathBuf {
    let is_right_without = || MachineFile::parse(path, text).is_ok_and(|file| size::check(&file).is_ok());
    if sets.is_empty() || !is_right_without() {
        return path.to_owned();
    }
    format!("{} with --set {}", named.display(), sets.join(" --set ")).into()
}

/// Path, for errors, and text of a built-in machine or a machine file (`*.toml`).
fn find(name_or_file: &str) -> Result<(PathBuf, Cow<'static, str>), ConfigError> {
    if let Some(builtin) = builtin().iter().find(|builtin| builtin.name == name_or_file) {
        return Ok((format!("crates/gpu/machines/{}.toml", builtin.name).into(), builtin.text.into()));
    }
    Ok((name_or_file.into(), read_file("machine", builtin(), name_or_file)?.into()))
}

/// Text of a file (`*.toml`), where no built-in one has the name; `what` and the built-in ones are for errors.
fn read_file(what: &str, builtin: &[Builtin], name_or_file: &str) -> Result<String, ConfigError> {
    let path = Path::new(name_or_file);
    if path.extension().is_none_or(|extension| extension != "toml") {
        let known: Vec<&str> = builtin.iter().map(|builtin| builtin.name).collect();
        let alike = did_you_mean(name_or_file, known.iter().copied());
        let message =
            format!("no such {what}{alike}, expected one of {} or a file (*.toml)", known.join(", "));
        return Err(ConfigError { file: path.into(), place: None, message });
    }
    read_limited(path)
}

/// Largest machine file that is read, in bytes.
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

/// What operands access, as the compiler says it.
fn access_rules(accesses: OperandAccesses) -> AccessRules {
    let wide = match accesses.wide {
        WideAccesses::Rows => strata_ptx::back::WideAccesses::Rows,
        WideAccesses::Once => strata_ptx::back::WideAccesses::Once,
        WideAccesses::OneNumber => strata_ptx::back::WideAccesses::OneNumber,
    };
    AccessRules { wide, predicates: accesses.predicates }
}
