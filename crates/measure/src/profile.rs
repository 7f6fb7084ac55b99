//! The counters of profiles: what programs ask of memory and of registers, measured on the reference executor.

use strata_gpu::machine::Machine;
use strata_gpu::profile::{Compression, LineClass, Profile, SpaceProfile};
use strata_workloads::HostProgram;

use crate::numbers::{Row, Value};

/// A counter of profiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Group of the counter.
    pub group: &'static str,
    /// Name of the counter within its group.
    pub name: String,
    /// What is counted.
    pub unit: &'static str,
    /// Meaning, as a sentence.
    pub meaning: String,
}

/// All counters of profiles.
#[must_use]
pub fn counters() -> Vec<Counter> {
    counts(&ALLOCATIONS.map(|_| Profile::default())).into_iter().map(|(counter, _)| counter).collect()
}

/// Profiles a program, and returns its numbers.
///
/// # Errors
/// If it does not run or has wrong results.
pub fn rows(program: &dyn HostProgram) -> Result<Vec<Row>, String> {
    let row = |(counter, value): (Counter, u64)| Row {
        launch: None,
        group: counter.group.into(),
        counter: counter.name,
        value: Value::Count(value),
    };
    Ok(measure(program)?.into_iter().map(row).collect())
}

fn measure(program: &dyn HostProgram) -> Result<Vec<(Counter, u64)>, String> {
    let mut profiles = ALLOCATIONS.map(|_| Profile::default());
    for (profile, allocation) in profiles.iter_mut().zip(&ALLOCATIONS) {
        *profile = profile_with(program, allocation.sets)?;
    }
    Ok(counts(&profiles))
}

/// A way in which the registers of PTX get physical ones.
struct Allocation {
    /// Group of the counters.
    group: &'static str,
    /// What the counters' meanings end with.
    which: &'static str,
    sets: &'static [&'static str],
}

/// Each program is profiled with each of them; everything but registers is counted with the first.
const ALLOCATIONS: [Allocation; 3] = [
    Allocation { group: "registers", which: "", sets: &[] },
    Allocation {
        group: "tight_registers",
        which: ", where kernels take the fewest registers",
        sets: &["sm.register_allocation=tight"],
    },
    Allocation {
        group: "ptx_registers",
        which: ", where each register of PTX has one of its own",
        sets: &["sm.register_allocation=separate", "sm.registers_per_thread=255"],
    },
];

/// Profiles a program that is compiled for a GTX 480. The machine decides which registers the kernels name, and barely
/// anything else.
fn profile_with(program: &dyn HostProgram, sets: &[&str]) -> Result<Profile, String> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let machine = Machine::load("gtx480", &sets).expect("a built-in machine can be built");
    let (profile, outcome) =
        strata_gpu::profile_program(program, &machine).map_err(|error| error.to_string())?;
    if !outcome.passed() {
        return Err("its results are wrong".into());
    }
    Ok(profile)
}

/// The counters of the profiles of a program, one for each allocation.
fn counts(profiles: &[Profile; ALLOCATIONS.len()]) -> Vec<(Counter, u64)> {
    let mut counts = Counts(Vec::new());
    let [profile, ..] = profiles;
    counts.of_run(profile);
    counts.of_space("global", "global memory", "Lines accessed, after coalescing.", &profile.global);
    counts.of_space("local", "local memory", "Lines accessed, after coalescing.", &profile.local);
    counts.of_space("shared", "shared memory", "Passes over the banks.", &profile.shared);
    counts.of_space("constant", "constant memory", "Distinct words accessed.", &profile.constant);
    for class in LineClass::ALL {
        let name = class.name().to_ascii_lowercase().replace('-', "_");
        let (lines, accesses) = (profile.lines.lines[class as usize], profile.lines.accesses[class as usize]);
        let class = class.name();
        counts.add("lines", &name, "lines", format!("Lines of global memory that are {class}."), lines);
        counts.add("line_accesses", &name, "accesses", format!("Accesses to {class} lines."), accesses);
    }
    for (profile, allocation) in profiles.iter().zip(&ALLOCATIONS) {
        counts.of_registers(allocation.group, allocation.which, profile);
    }
    counts.0
}

struct Counts(Vec<(Counter, u64)>);

impl Counts {
    fn add(
        &mut self,
        group: &'static str,
        name: &str,
        unit: &'static str,
        meaning: impl Into<String>,
        value: u64,
    ) {
        let (name, meaning) = (name.to_owned(), meaning.into());
        self.0.push((Counter { group, name, unit, meaning }, value));
    }

    fn of_run(&mut self, of: &Profile) {
        self.add("run", "launches", "launches", "Kernels that were launched.", of.launches);
        let (warps, threads) = (of.warp_instructions, of.thread_instructions);
        self.add("run", "warp_instructions", "instructions", "Instructions that warps issued.", warps);
        self.add(
            "run",
            "thread_instructions",
            "instructions",
            "Instructions that threads executed.",
            threads,
        );
        self.add("run", "footprint_bytes", "B", "Bytes of the program's buffers.", of.footprint_bytes);
    }

    fn of_space(&mut self, group: &'static str, space: &str, accesses: &str, of: &SpaceProfile) {
        self.add(group, "loads", "instructions", format!("Loads by warps from {space}."), of.loads);
        self.add(group, "stores", "instructions", format!("Stores by warps to {space}."), of.stores);
        self.add(group, "atomics", "instructions", format!("Atomics by warps on {space}."), of.atomics);
        self.add(group, "accesses", "accesses", accesses, of.accesses);
    }

    fn of_registers(&mut self, group: &'static str, which: &str, of: &Profile) {
        const UNIT: &str = "rows";
        let registers = &of.registers;
        let mut add = |name: &str, meaning: &str, value: u64| {
            self.add(group, name, UNIT, format!("{meaning}{which}."), value);
        };
        add("reads", "Registers that instructions of warps read", registers.read_count());
        add("top5_reads", "Reads of the five registers that are read most", registers.top5_reads());
        add("writes", "Registers that instructions of warps write", registers.write_count());
        add("top5_writes", "Writes of the five registers that are written most", registers.top5_writes());
        add("partial_writes", "Writes of only some lanes of a register", registers.partial_writes);
        for (width, name) in Compression::WIDTHS {
            let how = match width {
                Some(width) => {
                    format!("leave a register that compresses, with deltas of {} B", width.bytes())
                }
                None => "leave a register that base-delta compression does not take".to_owned(),
            };
            add(name, &format!("Writes that {how}"), registers.writes.count(width));
            let full = format!("Writes of all lanes that {how}");
            add(&format!("full_{name}"), &full, registers.full_writes.count(width));
        }
        let reusing = of.kernels.values().filter(|kernel| kernel.reuses_registers).count();
        let meaning = "Kernels in which registers of PTX may share one.";
        self.add(group, "reusing_kernels", "kernels", meaning, reusing as u64);
    }
}
