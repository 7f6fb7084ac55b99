//! tinyCaches as a design that a machine file can select.

use strata_memory::area::Component;
use strata_memory::doors::{Design, LanePath, LanePathDesign, LanePathSite};
use strata_memory::{LINE_BYTES, ParameterError};
use strata_warp::WARP_LANES;

use super::cache::TinyCache;
use super::config::{Bypass, TinyCacheConfig};
use super::lines::MOST_LINES;

impl Design for TinyCacheConfig {
    fn check(&self) -> Result<(), ParameterError> {
        let powers = [
            ("lines", *self.lines, 1, MOST_LINES as u32),
            ("ways", *self.ways, 1, *self.lines),
            ("line_bytes", *self.line_bytes, 32, LINE_BYTES as u32),
        ];
        for (field, value, least, most) in powers {
            if !value.is_power_of_two() || !(least..=most).contains(&value) {
                let message = format!("must be a power of two from {least} to {most}, found {value}");
                return Err(ParameterError::new(field, message));
            }
        }
        if !(1..=100).contains(&*self.latency_cycles) {
            let message = format!("must be 1 to 100, found {}", *self.latency_cycles);
            return Err(ParameterError::new("latency_cycles", message));
        }
        Ok(())
    }

    fn outline(&self) -> String {
        let bytes = u64::from(*self.lines) * u64::from(*self.line_bytes);
        format!("{bytes} B a lane, {} ways, lines of {} B", *self.ways, *self.line_bytes)
    }

    fn area(&self) -> Vec<Component> {
        let (data, control) = self.storage_bits();
        let lanes = WARP_LANES as u64;
        let (lines, bytes) = (*self.lines, *self.line_bytes);
        vec![
            Component::bits("data", lanes * data, format!("{lanes} lanes x {lines} lines x {bytes} B")),
            Component::bits(
                "control",
                lanes * control,
                format!(
                    "{lanes} lanes x {lines} lines x {} B: 79 bits of tag, 2 of state, {} of half-words (tinyCache 3.2)",
                    control / u64::from(lines) / 8,
                    bytes / 2
                ),
            ),
        ]
    }

    fn host_bytes(&self) -> u64 {
        u64::from(*self.lines) * (u64::from(*self.line_bytes) + 64) * WARP_LANES as u64 + (1 << 20)
    }
}

impl LanePathDesign for TinyCacheConfig {
    fn keeps_shared(&self) -> bool {
        *self.bypass != Bypass::Shared
    }

    fn build(&self, site: LanePathSite) -> Result<Option<Box<dyn LanePath>>, ParameterError> {
        self.check()?;
        Ok(Some(Box::new(TinyCache::new(self, site))))
    }
}
