//! The instructions that run against a register file, and the state of registers meanwhile.

use strata_engine::Cycle;
use strata_engine::seed::Stream;
use strata_warp::{ALL_LANES, LaneMask, Reg, Row, lanes_of};

use super::Contract;

/// A register's value, with the lanes that are defined.
#[derive(Clone, Copy)]
pub(super) struct Value {
    pub row: Row,
    pub known: LaneMask,
}

impl Value {
    pub const UNDEFINED: Value = Value { row: Row::ZERO, known: 0 };

    pub fn same(&self, found: &Row, what: impl Fn() -> String) -> Result<(), String> {
        for lane in lanes_of(self.known) {
            let (expected, found) = (self.row.0[lane], found.0[lane]);
            if expected != found {
                return Err(format!("{}: lane {lane} is {found:#x}, expected {expected:#x}", what()));
            }
        }
        Ok(())
    }
}

/// The progress of an instruction.
pub(super) enum Stage {
    /// Its collector lacks this many rows.
    Collecting { collector: usize, missing: usize },
    /// Its results are there at this cycle.
    Computing(Cycle),
    /// This many of its results have been taken.
    Writing(usize),
}

pub(super) struct Instruction {
    pub warp: u8,
    pub reads: Vec<Reg>,
    /// Reads that have been requested: all at once, or the last one when the others have arrived.
    pub asked: usize,
    /// Reads that have arrived.
    pub arrived: usize,
    pub writes: Vec<(Reg, Row)>,
    pub lanes: LaneMask,
    pub delay: u64,
    pub stage: Stage,
}

/// What the scoreboard knows of a register.
#[derive(Clone, Copy, Default)]
pub(super) struct Hazard {
    /// Number of open reads.
    pub reads: u32,
    /// Whether an instruction in flight writes it.
    pub written: bool,
}

impl Instruction {
    /// A random instruction of a warp with `rows` registers that reads at most `operands` of them.
    pub fn random(
        stream: &mut Stream,
        warp: u8,
        (rows, operands): (u32, u16),
        contract: &Contract,
    ) -> Instruction {
        let reads = stream.below(u64::from(operands) + 1);
        let reads: Vec<Reg> = (0..reads).map(|_| random_register(stream, rows)).collect();
        let picks = reads.len() > 1 && stream.below(4) == 0;
        let mut writes: Vec<(Reg, Row)> = Vec::new();
        for _ in 0..stream.below(4) {
            let register = random_register(stream, rows);
            if writes.iter().all(|(other, _)| *other != register) {
                let alike = stream.below(100) < contract.alike;
                writes.push((register, if alike { alike_row(stream) } else { random_row(stream) }));
            }
        }
        let lanes = match stream.below(100) < contract.partial {
            true => (stream.next() as u32 & stream.next() as u32).max(1),
            false => ALL_LANES,
        };
        Instruction {
            warp,
            asked: reads.len() - usize::from(picks),
            arrived: 0,
            reads,
            writes,
            lanes,
            delay: 1 + stream.below(contract.delay),
            stage: Stage::Writing(0),
        }
    }
}

/// Half of the time one of the first four: instructions meet.
fn random_register(stream: &mut Stream, rows: u32) -> Reg {
    let bound = if stream.below(2) == 0 { 4 } else { rows };
    Reg(stream.below(u64::from(bound)) as u8)
}

pub(super) fn random_row(stream: &mut Stream) -> Row {
    Row(std::array::from_fn(|_| stream.next() as u32))
}

/// A row as warps often write it: one value, a thread's number times something, or values near each other.
fn alike_row(stream: &mut Stream) -> Row {
    let base = stream.next() as u32;
    let (stride, noise) = match stream.below(4) {
        0 => (0, 1),
        1 => (stream.below(9) as u32, 1),
        2 => (stream.below(2000) as u32, 1),
        _ => (0, 1 << stream.below(16)),
    };
    Row(std::array::from_fn(|lane| {
        base.wrapping_add(stride.wrapping_mul(lane as u32)).wrapping_sub(stream.below(noise) as u32)
    }))
}
