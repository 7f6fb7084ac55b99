//! The kernel by itself, as the authors measured it on a GPU (section 5): without a controller, each warp takes its requests from
//! a list in memory, and leaves its answers in a row of a window in memory. It runs on a modelled machine and, as a launch file, on
//! a real GPU.

use strata_workloads::{
    Arg, Comparison, Device, DeviceError, Expected, HostProgram, Module, Outcome, Output, Shape,
};

use super::{BLOCK_BYTES, Indirection, Kernel, MOST_WAYS, ROW_BYTES, Requests, SetPlace, operation, status};
use crate::machine::Machine;
use crate::program::Program;

/// Name of the kernel.
const ENTRY: &str = "extended_llc_alone";

/// Most warps of a CTA (CUDA programming guide: 1,024 threads).
const MOST_CTA_WARPS: u32 = 32;

/// Shared memory of an SM that each of its CTAs takes beside its own (CUDA C++ programming guide, compute capability 8.x).
const RESERVED_BYTES: u32 = 1024;

/// Behind the kernel's own parameters.
const PARAMETERS: &str =
    ", .param .u64 list, .param .u32 of_set, .param .u64 first_block, .param .u32 repetitions";

/// Where a warp's list begins.
const BEFORE: &str = "\tmov.u32 %t, %ctaid.x;\n\tld.param.u32 %u, [rows_per_cta];\n\tmul.lo.u32 %t, %t, %u;\n\
    \tmov.u32 %u, %tid.x;\n\tshr.u32 %u, %u, 5;\n\tadd.u32 %t, %t, %u;\n\tld.param.u32 %u, [of_set];\n\
    \tmul.wide.u32 %next, %t, %u;\n\tshl.b64 %next, %next, 2;\n\tld.param.u64 %window, [list];\n\
    \tadd.u64 %next, %next, %window;\n";

/// The same where reads are repeated; no request is at hand yet.
const REPEATED: &str = "\tld.param.u32 %left, [repetitions];\n\tmov.u32 %sum, 0;\n\tmov.u32 %status, 0;\n";

/// What lies between the sets and those who ask them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// The machine's.
    Modelled,
    /// Nothing: a warp has its set's request at hand, always of the same block, and keeps the answers.
    Ideal,
}

/// Sets on one SM or more: each warp puts in as many blocks as its set holds, then reads them again and again.
#[derive(Debug)]
pub struct Characterisation {
    name: String,
    text: String,
    ctas: u32,
    /// Warps of a CTA.
    warps: u32,
    place: SetPlace,
    /// Blocks of a set.
    ways: u32,
    /// Reads of a set.
    reads: u32,
    network: Network,
}

impl Characterisation {
    /// Sets of `warps` on an SM, as large as the SM allows, each read `reads` times. Up to 32 warps are a CTA, on one SM;
    /// more are several on each SM of the machine, so that a GPU has no others to put them on.
    ///
    /// # Errors
    /// What was found and what was expected, or why the kernel cannot be compiled for the machine.
    pub fn new(
        machine: &Machine,
        place: SetPlace,
        warps: u32,
        reads: u32,
        network: Network,
    ) -> Result<Characterisation, String> {
        let file = machine.file();
        let most = *file.sm.warp_slots;
        if !(1..=most).contains(&warps) {
            return Err(format!("warps: found {warps}, expected 1 to {most}"));
        }
        if reads == 0 {
            return Err("reads: found 0, expected at least 1".into());
        }
        let of_cta = (1..=MOST_CTA_WARPS.min(warps)).rev().find(|of_cta| warps.is_multiple_of(*of_cta));
        let of_cta = of_cta.expect("one divides all");
        let of_sm = warps / of_cta;
        let kernel = |ways| Kernel {
            warps: of_cta,
            ctas: of_sm,
            ways: if place == SetPlace::Registers { ways } else { 1 },
            shared_ways: if place == SetPlace::SharedMemory { ways } else { 0 },
            indirection: Indirection::Branch,
            requests: match network {
                Network::Modelled => Requests::Listed,
                Network::Ideal => Requests::Repeated,
            },
            fetches: false,
            compression: None,
        };
        // The more blocks with tags, the more registers: the largest set that fits is found by halving.
        let fits = |ways| fits(machine, &kernel(ways), warps);
        let (mut ways, mut over) = (0, most_ways(machine, place, warps, of_sm)? + 1);
        while over - ways > 1 {
            let half = ways.midpoint(over);
            *if fits(half) { &mut ways } else { &mut over } = half;
        }
        if ways == 0 {
            return Err(format!("warps: found {warps}, expected so few that their registers hold a block"));
        }
        let suffix = match network {
            Network::Modelled => "",
            Network::Ideal => "-ideal",
        };
        Ok(Characterisation {
            name: format!("extended-llc-{}-{warps}{suffix}", place.name()),
            text: text(&kernel(ways)),
            ctas: if of_sm == 1 { 1 } else { of_sm * u32::from(*file.gpu.sms) },
            warps: of_cta,
            place,
            ways,
            reads,
            network,
        })
    }

    /// Bytes of blocks that the sets of an SM hold.
    #[must_use]
    pub fn capacity_bytes(&self, warps: u32) -> u64 {
        u64::from(self.ways * warps) * BLOCK_BYTES
    }

    /// Reads in a set's list.
    fn listed(&self) -> u32 {
        match self.network {
            Network::Modelled => self.reads,
            Network::Ideal => 1,
        }
    }

    fn sets(&self) -> u32 {
        self.ctas * self.warps
    }

    /// The blocks of a set, which no other set has.
    fn block(&self, set: u32, way: u32) -> u32 {
        set * self.ways + way
    }

    /// A set's requests: every block is put in, then reads go over them with a stride that meets all, and the kernel ends.
    /// With an ideal network, one read stands for all.
    fn list(&self, set: u32) -> impl Iterator<Item = u32> {
        let insertions = (0..self.ways).map(move |way| status(operation::INSERT, self.block(set, way)));
        let stride =
            (1..self.ways).rev().find(|stride| coprime(*stride, self.ways) && *stride <= self.ways / 2 + 1);
        let stride = stride.unwrap_or(1);
        let reads = (0..self.listed()).map(move |read| (read * stride) % self.ways);
        let reads = reads.map(move |way| status(operation::READ, self.block(set, way)));
        insertions.chain(reads).chain([status(operation::STOP, 0)])
    }
}

fn coprime(a: u32, b: u32) -> bool {
    let (mut a, mut b) = (a, b);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a == 1
}

/// Most blocks of each of `warps` sets in `ctas` CTAs, whatever registers the kernel needs beside them.
fn most_ways(machine: &Machine, place: SetPlace, warps: u32, ctas: u32) -> Result<u32, String> {
    let file = machine.file();
    let blocks = |bytes: u32| bytes / warps / BLOCK_BYTES as u32;
    Ok(match place {
        SetPlace::Registers => {
            (*file.sm.registers / warps / 32).min(*file.sm.registers_per_thread - 1).min(MOST_WAYS)
        }
        SetPlace::SharedMemory => {
            blocks((*file.sm.shared_bytes).saturating_sub(ctas * RESERVED_BYTES)).min(MOST_WAYS)
        }
        SetPlace::L1d => {
            let unified = file.unified().ok_or_else(|| {
                format!(
                    "{}: expected sm.unified, which says how large an L1D is without shared memory",
                    file.name
                )
            })?;
            blocks(*unified.storage_bytes)
        }
    })
}

/// The kernel's text.
fn text(kernel: &Kernel) -> String {
    let before = match kernel.requests {
        Requests::Repeated => BEFORE.to_owned() + REPEATED,
        _ => BEFORE.into(),
    };
    kernel.module(ENTRY, PARAMETERS, &before, "")
}

/// Whether a kernel has the registers that so many warps leave to each, and none is spilled.
fn fits(machine: &Machine, kernel: &Kernel, warps: u32) -> bool {
    let options = machine.compile_options_for(warps);
    let registers = options.max_registers;
    let module = Module { name: "extended_llc.ptx", text: &text(kernel) };
    let compiled = Program::parse(module, options).ok().and_then(|mut program| program.kernel(ENTRY).ok());
    compiled.is_some_and(|kernel| kernel.spill_bytes == 0 && kernel.registers <= registers)
}

/// Word of the block that every set has in all its places.
fn word(set: u32, lane: u32) -> u32 {
    (set * 32 + lane).wrapping_mul(0x9e37_79b9)
}

/// A row of the window.
fn row(result: u32, payload: impl Iterator<Item = u32>, answer: impl Iterator<Item = u32>) -> Vec<u32> {
    let line = ROW_BYTES as usize / 4 / 4;
    let mut row = vec![0; 4 * line];
    row[0] = result;
    row.splice(line..2 * line, payload);
    row.splice(3 * line.., answer);
    row
}

impl HostProgram for Characterisation {
    fn name(&self) -> &str {
        &self.name
    }

    fn module(&self) -> Module<'_> {
        Module { name: "extended_llc.ptx", text: &self.text }
    }

    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        let sets = self.sets();
        let of_set = self.ways + self.listed() + 1;
        let blocks_bytes = u64::from(sets * self.ways) * BLOCK_BYTES;
        let blocks = device.alloc("blocks", blocks_bytes)?;
        let window = device.alloc("window", u64::from(sets) * ROW_BYTES)?;
        let list = device.alloc("list", u64::from(sets * of_set) * 4)?;
        let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let line = |set| (0..32).map(move |lane| word(set, lane));
        let in_memory = (0..sets).flat_map(|set| (0..self.ways).flat_map(move |_| line(set)));
        device.upload(blocks, &bytes(&in_memory.collect::<Vec<u32>>()))?;
        // A row: request and result, payload, mask, answer.
        let rows = |result: u32, answer: &dyn Fn(u32) -> u32| {
            (0..sets).flat_map(|set| row(result, line(set), line(set).map(answer))).collect::<Vec<u32>>()
        };
        device.upload(window, &bytes(&rows(0, &|_| 0)))?;
        device.upload(list, &bytes(&(0..sets).flat_map(|set| self.list(set)).collect::<Vec<u32>>()))?;
        let shape = Shape::new([self.ctas, 1, 1], [self.warps * 32, 1, 1]);
        let in_shared = if self.place == SetPlace::SharedMemory { self.ways } else { 0 };
        let shape = shape.with_shared(self.warps * in_shared * BLOCK_BYTES as u32);
        let sets_in = |place| Arg::U32(if self.place == place { self.warps } else { 0 });
        let arguments = [
            Arg::Ptr(window),
            Arg::U32(self.warps),
            sets_in(SetPlace::Registers),
            sets_in(SetPlace::SharedMemory),
            Arg::U32(if self.place == SetPlace::Registers { self.ways } else { 0 }),
            Arg::U32(in_shared),
            Arg::U32(0),
            Arg::Ptr(list),
            Arg::U32(of_set),
            Arg::Ptr(blocks),
            Arg::U32(self.reads - 1),
        ];
        device.launch(ENTRY, shape, &arguments)?;
        let mut found = vec![0; (u64::from(sets) * ROW_BYTES) as usize];
        device.download(window, &mut found)?;
        // Each set ends with the result of its last request.
        let answer = |word: u32| match (self.network, self.place) {
            (Network::Ideal, _) => word.wrapping_mul(self.reads),
            // The answer of an L1D set is where its payload was.
            (Network::Modelled, SetPlace::L1d) => 0,
            (Network::Modelled, _) => word,
        };
        let expected = rows(1, &answer);
        let words: Vec<u32> = found
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")))
            .collect();
        let comparison = Comparison::exact("window", &words, &expected);
        let output = Output {
            name: "window".into(),
            ptr: window,
            element: "u32",
            bytes: found,
            expected: Expected::Exact(bytes(&expected)),
        };
        Ok(Outcome { outputs: vec![output], comparisons: vec![comparison] })
    }
}
