//! Storage that L1D and shared memory share, and unused registers with them: each launch divides it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::Cited;

/// The storage of an SM that is divided between shared memory and the L1D when a kernel is launched (CUDA C++
/// Programming Guide, compute capability 7.x to 9.0: unified data cache).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnifiedStorage {
    /// Storage that each launch divides between shared memory and the L1D, in bytes.
    #[schemars(range(min = 1, max = 1 << 20), extend("unit" = "B"))]
    pub storage_bytes: Cited<u32>,
    /// Sizes that shared memory can have, in bytes, ascending; the L1D has the rest. The largest is `sm.shared_bytes`.
    #[schemars(extend("unit" = "B"))]
    pub carve_outs_bytes: Cited<Vec<u32>>,
    /// Where it is given, registers that no CTA of a launch takes go to the L1D too (Gebhart et al., MICRO 2012, unify all three), whose
    /// capacity is then a multiple of so many bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("unit" = "B"))]
    pub register_unit_bytes: Option<Cited<u32>>,
}

impl UnifiedStorage {
    /// The smallest carve-out with `needed` bytes of shared memory; the largest if none has.
    pub fn carve_out(&self, needed: u32) -> u32 {
        let carve_outs = &self.carve_outs_bytes;
        let fitting = carve_outs.iter().copied().find(|carve_out| *carve_out >= needed);
        fitting.or(carve_outs.last().copied()).unwrap_or(0)
    }

    /// The L1D's capacity in bytes beside a carve-out and registers of which so many bytes are unused.
    pub fn l1d_bytes(&self, carve_out: u32, unused_registers: u64) -> u64 {
        let left = u64::from(self.storage_bytes.saturating_sub(carve_out));
        match &self.register_unit_bytes {
            None => left,
            Some(unit) => {
                let unit = u64::from(**unit);
                (left + unused_registers) / unit * unit
            }
        }
    }

    /// The capacities that the L1D can have beside registers of so many bytes, the largest first.
    pub fn l1d_capacities(&self, registers: u64) -> Vec<u64> {
        match &self.register_unit_bytes {
            None => self.carve_outs_bytes.iter().map(|carve_out| self.l1d_bytes(*carve_out, 0)).collect(),
            Some(unit) => {
                let unit = u64::from(**unit);
                let least = self.carve_outs_bytes.last().map_or(0, |carve_out| self.l1d_bytes(*carve_out, 0));
                let most = self.l1d_bytes(0, registers);
                (least / unit..=most / unit).rev().map(|units| units * unit).collect()
            }
        }
    }

    /// Checks the sizes; `shared_bytes` is the most shared memory that the SM gives.
    ///
    /// # Errors
    /// Returns a sentence that names the first bad field, its value and the accepted values.
    pub fn check(&self, shared_bytes: u32) -> Result<(), String> {
        const MOST: u32 = 1 << 20;
        let (storage, carve_outs) = (*self.storage_bytes, &*self.carve_outs_bytes);
        if !(1..=MOST).contains(&storage) {
            return Err(format!("sm.unified.storage_bytes = {storage}: expected 1 to {MOST}"));
        }
        if carve_outs.last() != Some(&shared_bytes) {
            let last = carve_outs.last().map_or("none".to_owned(), ToString::to_string);
            return Err(format!(
                "sm.unified.carve_outs_bytes: found {last} as the largest size of shared memory, expected {shared_bytes}, \
                 as sm.shared_bytes has: set both"
            ));
        }
        if let Some(two) = carve_outs.windows(2).find(|two| two[0] >= two[1]) {
            return Err(format!(
                "sm.unified.carve_outs_bytes: found {} before {}, expected ascending sizes",
                two[0], two[1]
            ));
        }
        if shared_bytes >= storage {
            return Err(format!(
                "sm.unified.carve_outs_bytes: found {shared_bytes}, expected less than the storage, {storage}"
            ));
        }
        match &self.register_unit_bytes {
            Some(unit) if !(1..=storage - shared_bytes).contains(&**unit) => Err(format!(
                "sm.unified.register_unit_bytes = {}: expected 1 to {}, what the largest carve-out leaves",
                **unit,
                storage - shared_bytes
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unified(storage: u32, carve_outs: &[u32]) -> UnifiedStorage {
        UnifiedStorage {
            storage_bytes: Cited::new(storage, "test"),
            carve_outs_bytes: Cited::new(carve_outs.to_vec(), "test"),
            register_unit_bytes: None,
        }
    }

    #[test]
    fn unused_registers_enlarge_the_l1d_in_whole_units() {
        let all = UnifiedStorage {
            register_unit_bytes: Some(Cited::new(8192, "test")),
            ..unified(131_072, &[0, 102_400])
        };
        assert_eq!(all.check(102_400), Ok(()));
        // 128 KB and 64 KB; 28 KB and none; 28 KB and 6 KB: 34 KB.
        assert_eq!(all.l1d_bytes(0, 65_536), 196_608);
        assert_eq!(all.l1d_bytes(102_400, 0), 24_576);
        assert_eq!(all.l1d_bytes(102_400, 6144), 32_768);
        let capacities = all.l1d_capacities(262_144);
        assert_eq!((capacities[0], capacities.len(), capacities[45]), (393_216, 46, 24_576));
        let wrong = UnifiedStorage { register_unit_bytes: Some(Cited::new(0, "test")), ..all };
        let expected =
            "sm.unified.register_unit_bytes = 0: expected 1 to 28672, what the largest carve-out leaves";
        assert_eq!(wrong.check(102_400), Err(expected.to_owned()));
    }

    #[test]
    fn a_launch_gets_the_smallest_carve_out_that_holds_its_ctas() {
        let ampere = unified(131_072, &[0, 8192, 16384, 32768, 65536, 102_400]);
        assert_eq!(ampere.check(102_400), Ok(()));
        for (needed, carve_out, left) in [
            (0, 0, 131_072),
            (1, 8192, 122_880),
            (8192, 8192, 122_880),
            (8193, 16384, 114_688),
            (65_537, 102_400, 28_672),
            (200_000, 102_400, 28_672),
        ] {
            assert_eq!(
                (ampere.carve_out(needed), ampere.l1d_bytes(carve_out, 0)),
                (carve_out, left),
                "{needed}"
            );
        }
    }

    #[test]
    fn bad_sizes_are_named() {
        for (storage, carve_outs, expected) in [
            (0, &[0, 1][..], "sm.unified.storage_bytes = 0: expected 1 to 1048576"),
            (
                64,
                &[],
                "sm.unified.carve_outs_bytes: found none as the largest size of shared memory, expected 32, as sm.shared_bytes \
             has: set both",
            ),
            (
                64,
                &[0, 16],
                "sm.unified.carve_outs_bytes: found 16 as the largest size of shared memory, expected 32, as sm.shared_bytes \
             has: set both",
            ),
            (64, &[8, 8, 32], "sm.unified.carve_outs_bytes: found 8 before 8, expected ascending sizes"),
            (32, &[0, 32], "sm.unified.carve_outs_bytes: found 32, expected less than the storage, 32"),
        ] {
            assert_eq!(unified(storage, carve_outs).check(32), Err(expected.to_owned()));
        }
    }
}
