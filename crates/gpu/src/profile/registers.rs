//! Which registers a run reads and writes, and how well what it writes compresses: the study of Hi-End sections III-B
//! and III-C.

use strata_memory::base_delta::{DeltaWidth, narrowest};
use strata_ptx::lanes::ALL_LANES;
use strata_ptx::reference::RegisterUse;

/// Number of registers that Hi-End's Fig. 5 calls the most accessed.
const TOP: usize = 5;

/// Reads and writes of registers by warps. An instruction counts each register that it reads and each that it writes once; a
/// 64-bit value is two registers. An instruction whose guard lets no lane through counts nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegisterProfile {
    /// Counts by register id, all warps and kernels together. ASSUMED: ids are those of a kernel's allocated
    /// registers, and equal ids of several kernels are one register; the paper counts "by register IDs" and does
    /// not say more.
    pub by_id: Vec<RegisterCounts>,
    /// Writes of only some of the 32 lanes.
    pub partial_writes: u64,
    /// Writes, by how base-delta compression takes the register as it stands after the write.
    pub writes: Compression,
    /// Of those, writes of all 32 lanes.
    pub full_writes: Compression,
}

/// Reads and writes of one register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegisterCounts {
    /// Instructions of warps that read it.
    pub reads: u64,
    /// Instructions of warps that write it.
    pub writes: u64,
}

/// Registers by the narrowest deltas that express them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compression([u64; 4]);

impl Compression {
    /// All widths, `None` for registers that do not compress, with their names.
    pub const WIDTHS: [(Option<DeltaWidth>, &str); 4] = [
        (Some(DeltaWidth::Zero), "delta_0"),
        (Some(DeltaWidth::One), "delta_1"),
        (Some(DeltaWidth::Two), "delta_2"),
        (None, "uncompressed"),
    ];

    /// Number of registers with a width.
    #[must_use]
    pub fn count(&self, width: Option<DeltaWidth>) -> u64 {
        self.0[Self::place(width)]
    }

    /// Number of registers that compress.
    #[must_use]
    pub fn compressed(&self) -> u64 {
        DeltaWidth::ALL.iter().map(|width| self.count(Some(*width))).sum()
    }

    fn place(width: Option<DeltaWidth>) -> usize {
        width.map_or(DeltaWidth::ALL.len(), |width| width as usize)
    }
}

impl RegisterProfile {
    /// Registers read, summed over the instructions of all warps.
    #[must_use]
    pub fn read_count(&self) -> u64 {
        self.by_id.iter().map(|register| register.reads).sum()
    }

    /// Registers written, summed over the instructions of all warps.
    #[must_use]
    pub fn write_count(&self) -> u64 {
        self.by_id.iter().map(|register| register.writes).sum()
    }

    /// Reads of the five registers that are read most.
    #[must_use]
    pub fn top5_reads(&self) -> u64 {
        top(self.by_id.iter().map(|register| register.reads))
    }

    /// Writes of the five registers that are written most.
    #[must_use]
    pub fn top5_writes(&self) -> u64 {
        top(self.by_id.iter().map(|register| register.writes))
    }

    /// Records what an instruction of a warp uses.
    pub(super) fn add(&mut self, registers: &RegisterUse<'_>) {
        let RegisterUse { lanes, reads, writes, rows } = *registers;
        if self.by_id.len() < rows.len() {
            self.by_id.resize(rows.len(), RegisterCounts::default());
        }
        for register in reads {
            self.by_id[usize::from(register.0)].reads += 1;
        }
        for register in writes {
            self.by_id[usize::from(register.0)].writes += 1;
            let place = Compression::place(narrowest(&rows[usize::from(register.0)].0));
            self.writes.0[place] += 1;
            if lanes == ALL_LANES {
                self.full_writes.0[place] += 1;
            } else {
                self.partial_writes += 1;
            }
        }
    }
}

/// Sum of the [`TOP`] largest.
fn top(counts: impl Iterator<Item = u64>) -> u64 {
    let mut counts: Vec<u64> = counts.collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts.iter().take(TOP).sum()
}

#[cfg(test)]
mod tests {
    use strata_ptx::reference::testing::Session;
    use strata_ptx::reference::{Executor, LaunchConfig, pack_arguments};

    use super::super::Profiler;
    use super::*;

    /// Profiles a kernel's body on one CTA.
    fn profile(body: &str, threads: u32) -> RegisterProfile {
        let mut session = Session::of_body(body);
        let out = session.buffer(&[0; 2]);
        let kernel = session.module.kernel("test").expect("the body's kernel");
        let params = pack_arguments(kernel, &[out]).expect("one argument");
        let config = LaunchConfig {
            grid: [1, 1, 1],
            block: [threads, 1, 1],
            cluster: None,
            dynamic_shared: 0,
            params,
        };
        let mut profiler = Profiler::default();
        let executor = Executor::new(kernel, config, &session.variables, &mut session.memory);
        executor.watched_by(Some(&mut profiler)).run().unwrap_or_else(|fault| panic!("{fault}"));
        profiler.finish().registers
    }

    #[test]
    fn the_operands_of_every_warp_are_counted() {
        // What each instruction reads, writes and leaves in the register that it writes, in a warp of 32 threads and
        // in one of eight, whose other lanes stay zero.
        let body = "
            mov.u32 %r0, %tid.x;          // 0 -> 1: 0..31, 32..39 and zeros: deltas of a byte
            mul.lo.u32 %r1, %r0, 1000;    // 1 -> 1: up to 31,000; 32,000 away from zero: two bytes
            mul.lo.u32 %r2, %r1, 1000;    // 1 -> 1: up to 31,000,000: none
            shr.u32 %r3, %r0, 8;          // 1 -> 1: zeros
            setp.lt.u32 %p0, %r0, 4;      // 1 -> 0
            @%p0 add.u32 %r3, %r3, 7;     // 1 -> 1: in four lanes: one byte; no lane of the second warp
            xor.b32 %r1, %r1, %r2;        // 2 -> 1: none
            xor.b32 %r1, %r1, %r3;        // 2 -> 1: none
            st.global.u32 [%out], %r1;    // 1 -> 0, for the address is a parameter
            ret;";
        let registers = profile(body, 40);
        assert_eq!(registers.read_count(), 10 + 9);
        assert_eq!(registers.write_count(), 7 + 6);
        assert_eq!(registers.partial_writes, 1 + 6);
        assert_eq!(registers.writes, Compression([1 + 1, 2 + 1, 1 + 1, 3 + 3]));
        assert_eq!(registers.full_writes, Compression([1, 1, 1, 3]));
        assert_eq!(registers.writes.compressed(), 7);
        assert_eq!(registers.writes.count(None), 6);
    }

    #[test]
    fn a_wide_value_is_two_registers() {
        let registers =
            profile("mov.u32 %r0, %tid.x; mul.wide.u32 %rd0, %r0, 4; st.global.u64 [%out], %rd0; ret;", 32);
        assert_eq!((registers.read_count(), registers.write_count()), (1 + 2, 1 + 2));
    }

    #[test]
    fn the_top_five_are_the_largest_counts() {
        let of = |(reads, writes)| RegisterCounts { reads, writes };
        let by_id = [(1, 9), (2, 8), (3, 0), (4, 6), (5, 5), (6, 4), (7, 7)].map(of).to_vec();
        let registers = RegisterProfile { by_id, ..RegisterProfile::default() };
        assert_eq!((registers.top5_reads(), registers.top5_writes()), (25, 35));
        assert_eq!(RegisterProfile::default().top5_writes(), 0);
    }
}
