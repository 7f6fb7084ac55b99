//! Address separation (4.1.1): which lines of a slice the conventional LLC keeps, and which the extended one.
//!
//! Lines are divided in proportion to the capacities, by their number alone. Of each `period` lines, `extended` belong to the
//! extended LLC, spread evenly. Both parts number their lines without gaps, so that either uses all its sets.

use strata_memory::LineAddress;

/// Where a line of the slice is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// In the conventional slice, which knows it by this number.
    Conventional(LineAddress),
    /// In the extended LLC; the number counts its lines.
    Extended(u64),
}

/// The address separator of a slice.
#[derive(Clone, Debug)]
pub struct Separator {
    /// Whether each line of a period is extended, and how many of its kind come before it.
    lines: Vec<(bool, u32)>,
    /// The conventional lines of a period.
    conventional: Vec<u32>,
    extended: u64,
}

impl Separator {
    /// Divides lines between a conventional and an extended LLC of so many lines; the former has
    /// some.
    pub fn new(conventional: u64, extended: u64) -> Separator {
        let divisor = gcd(conventional, extended);
        let (period, extended) = ((conventional + extended) / divisor, extended / divisor);
        let mut separator =
            Separator { lines: Vec::with_capacity(period as usize), conventional: Vec::new(), extended };
        for line in 0..period {
            let before = line * extended / period;
            let is_extended = (line + 1) * extended / period > before;
            let count = if is_extended { before } else { line - before };
            separator.lines.push((is_extended, count as u32));
            if !is_extended {
                separator.conventional.push(line as u32);
            }
        }
        separator
    }

    /// The part that keeps a line.
    #[inline]
    pub fn part(&self, line: LineAddress) -> Part {
        let period = self.lines.len() as u64;
        let (round, place) = (line.0 / period, line.0 % period);
        let (is_extended, count) = self.lines[place as usize];
        if is_extended {
            Part::Extended(round * self.extended + u64::from(count))
        } else {
            Part::Conventional(LineAddress(round * (period - self.extended) + u64::from(count)))
        }
    }

    /// The slice's line that the conventional slice knows by a number.
    #[inline]
    pub fn line(&self, conventional: LineAddress) -> LineAddress {
        let count = self.conventional.len() as u64;
        let (round, place) = (conventional.0 / count, conventional.0 % count);
        LineAddress(round * self.lines.len() as u64 + u64::from(self.conventional[place as usize]))
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
