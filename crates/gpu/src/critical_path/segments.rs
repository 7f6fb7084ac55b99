//! Segments of a path: cycles with a cause, one behind the other.

use strata_ptx::isa::Pc;

use super::Cause;

/// What a segment is spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spent {
    /// Something of a kind.
    On(Cause),
    /// A packet under way, by its place among the SM's: from the L1D to its answer.
    Packet(u32),
}

/// Cycles of a launch, from one to another, counted from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub from: u64,
    pub to: u64,
    pub spent: Spent,
    /// The instruction behind it, if there is one.
    pub pc: Option<Pc>,
}

/// Cuts a stretch of cycles into segments, front to back. Whatever it is told, they are all of its cycles.
pub(super) struct Cut {
    segments: Vec<Segment>,
    at: u64,
    until: u64,
}

impl Cut {
    pub fn new(from: u64, until: u64) -> Cut {
        Cut { segments: Vec::new(), at: from, until: until.max(from) }
    }

    /// Until `to`, cycles are spent so.
    pub fn to(&mut self, to: u64, spent: Spent, pc: Option<Pc>) {
        let to = to.clamp(self.at, self.until);
        if to > self.at {
            self.segments.push(Segment { from: self.at, to, spent, pc });
            self.at = to;
        }
    }

    /// Until `to`, for a cause.
    pub fn on(&mut self, to: u64, cause: Cause, pc: Option<Pc>) {
        self.to(to, Spent::On(cause), pc);
    }

    /// The segments; what is left is spent on a cause.
    pub fn end(mut self, rest: Cause, pc: Option<Pc>) -> Vec<Segment> {
        self.on(self.until, rest, pc);
        self.segments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_all_cycles_whatever_they_are_cut_at() {
        let mut cut = Cut::new(10, 20);
        cut.on(13, Cause::Operands, Some(1));
        cut.on(12, Cause::UnitBusy, Some(1));
        cut.on(25, Cause::Execution, Some(1));
        cut.on(30, Cause::WriteBack, Some(1));
        let segments = cut.end(Cause::Unknown, None);
        let found: Vec<(u64, u64, Spent)> =
            segments.iter().map(|segment| (segment.from, segment.to, segment.spent)).collect();
        assert_eq!(found, [(10, 13, Spent::On(Cause::Operands)), (13, 20, Spent::On(Cause::Execution))]);
    }
}
