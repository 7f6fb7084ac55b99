//! How wide the operands of an operation are.

use super::types::{Space, Ty};

/// What an operand occupies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// The operation has no such operand.
    Nothing,
    /// A predicate register.
    Predicate,
    /// So many 32-bit rows: 1, 2 or 4, or those of an array, of which an instruction reads or writes one.
    Rows(usize),
}

impl Width {
    /// What a value of a type occupies.
    pub const fn of(ty: Ty) -> Width {
        match ty {
            Ty::Pred => Width::Predicate,
            _ => Width::Rows(ty.rows()),
        }
    }

    /// What a value twice as wide as a type occupies.
    pub const fn widened(ty: Ty) -> Width {
        Width::Rows((ty.bytes() * 2).div_ceil(4))
    }

    /// What one of so many equal pieces of a value occupies.
    pub const fn piece(whole: Ty, pieces: u8) -> Width {
        Width::Rows((whole.bytes() / pieces as usize).div_ceil(4))
    }

    /// What an address occupies: 32 bits in the windows of a CTA, a thread or a launch, 64 bits elsewhere.
    pub const fn address(space: Space) -> Width {
        match space {
            Space::Shared | Space::Local | Space::Param => Width::Rows(1),
            Space::Generic | Space::Global | Space::Const => Width::Rows(2),
        }
    }

    /// The rows; 0 for a predicate or nothing.
    pub const fn rows(self) -> usize {
        match self {
            Width::Rows(rows) => rows,
            Width::Predicate | Width::Nothing => 0,
        }
    }
}

/// The widths of an operation's destinations or of its sources, slot by slot: runs of equal ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Widths {
    runs: [(Width, usize); 3],
}

impl Widths {
    /// No operands.
    pub const NONE: Widths = Widths { runs: [(Width::Nothing, 0); 3] };

    /// `count` operands of one width.
    pub const fn of(width: Width, count: usize) -> Widths {
        Widths { runs: [(width, count), (Width::Nothing, 0), (Width::Nothing, 0)] }
    }

    /// The same, followed by `count` operands of another width.
    ///
    /// # Panics
    /// After the third run: no operation has a fourth.
    #[must_use]
    pub const fn then(mut self, width: Width, count: usize) -> Widths {
        let run = if self.runs[1].1 == 0 { 1 } else { 2 };
        assert!(self.runs[run].1 == 0, "more than three runs");
        self.runs[run] = (width, count);
        self
    }

    /// Operands in all.
    pub const fn count(&self) -> usize {
        self.runs[0].1 + self.runs[1].1 + self.runs[2].1
    }

    /// The width of the operand in a slot.
    pub fn width(&self, mut slot: usize) -> Width {
        for (width, count) in self.runs {
            if slot < count {
                return width;
            }
            slot -= count;
        }
        Width::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_follow_each_other() {
        let row = Width::Rows(1);
        let store = Widths::of(Width::Rows(2), 1).then(row, 2).then(Width::Predicate, 1);
        let slots: Vec<Width> = (0..5).map(|slot| store.width(slot)).collect();
        assert_eq!(slots, [Width::Rows(2), row, row, Width::Predicate, Width::Nothing]);
        assert_eq!((store.count(), Widths::NONE.count()), (4, 0));
        assert_eq!(Widths::NONE.width(0), Width::Nothing);
    }
}
