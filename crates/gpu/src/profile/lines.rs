//! How each line of global memory is read and written over a whole run: the read levels of FUSE section
//! III-A.

use strata_ptx::reference::AccessKind;

/// FUSE's read levels of a line (section III-A, Fig. 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineClass {
    /// WM: several writes, and few reads per write.
    WriteMultiple,
    /// Read-intensive: a few writes and many reads.
    ReadIntensive,
    /// WORM: one write, which may be the fill, and then only reads.
    WriteOnceReadMultiple,
    /// WORO: accessed once in the whole run.
    WriteOnceReadOnce,
}

impl LineClass {
    /// All classes, in the order of the arrays of [`LineClasses`].
    pub const ALL: [Self; 4] =
        [Self::WriteMultiple, Self::ReadIntensive, Self::WriteOnceReadMultiple, Self::WriteOnceReadOnce];

    /// Name of the class in the paper.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::WriteMultiple => "WM",
            Self::ReadIntensive => "read-intensive",
            Self::WriteOnceReadMultiple => "WORM",
            Self::WriteOnceReadOnce => "WORO",
        }
    }
}

/// ASSUMED: reads per write from which a line that is written several times counts as read-intensive. The
/// paper says "a few writes" and "many reads".
const MANY_READS: u64 = 4;

/// Number of lines and of accesses to them, by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineClasses {
    /// Lines, in the order of [`LineClass::ALL`].
    pub lines: [u64; 4],
    /// Accesses to those lines, in the order of [`LineClass::ALL`].
    pub accesses: [u64; 4],
}

impl LineClasses {
    /// Share of the lines in a class, from 0 to 1.
    #[must_use]
    pub fn share(&self, class: LineClass) -> f64 {
        super::ratio(self.lines[class as usize], self.lines.iter().sum())
    }
}

/// All lines touched so far.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// Indexed by line number. Device addresses start low, so the table is about as long as the program's
    /// buffers.
    uses: Vec<Use>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Use {
    reads: u32,
    /// Number of writes. Unless the first access is a write, the fill before it counts as one.
    writes: u32,
}

impl Lines {
    /// Records a warp's access to a line.
    pub(super) fn touch(&mut self, line: u64, kind: AccessKind) {
        let index = usize::try_from(line).expect("device memory fits the host");
        if index >= self.uses.len() {
            self.uses.resize((index + 1).next_power_of_two(), Use::default());
        }
        let of = &mut self.uses[index];
        if kind != AccessKind::Store && of.writes == 0 {
            of.writes = 1;
        }
        let reads = u32::from(kind != AccessKind::Store);
        let writes = u32::from(kind != AccessKind::Load);
        of.reads = of.reads.saturating_add(reads);
        of.writes = of.writes.saturating_add(writes);
    }

    pub(super) fn classes(&self) -> LineClasses {
        let mut classes = LineClasses::default();
        for of in self.uses.iter().filter(|of| of.writes > 0) {
            let class = of.class() as usize;
            classes.lines[class] += 1;
            classes.accesses[class] += u64::from(of.reads) + u64::from(of.writes);
        }
        classes
    }
}

impl Use {
    fn class(self) -> LineClass {
        let (reads, writes) = (u64::from(self.reads), u64::from(self.writes));
        match (writes, reads) {
            (1, 0 | 1) => LineClass::WriteOnceReadOnce,
            (1, _) => LineClass::WriteOnceReadMultiple,
            _ if reads >= MANY_READS * writes => LineClass::ReadIntensive,
            _ => LineClass::WriteMultiple,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class_of(kinds: &[AccessKind]) -> LineClass {
        let mut lines = Lines::default();
        kinds.iter().for_each(|kind| lines.touch(9, *kind));
        let classes = lines.classes();
        assert_eq!(classes.lines.iter().sum::<u64>(), 1);
        LineClass::ALL.into_iter().find(|class| classes.lines[*class as usize] == 1).unwrap()
    }

    #[test]
    fn lines_are_classed_by_writes_and_reads() {
        use AccessKind::{Atomic, Load, Store};
        let cases: [(&[AccessKind], LineClass); 8] = [
            (&[Load], LineClass::WriteOnceReadOnce),
            (&[Store], LineClass::WriteOnceReadOnce),
            (&[Store, Load], LineClass::WriteOnceReadOnce),
            (&[Load, Load], LineClass::WriteOnceReadMultiple),
            (&[Store, Load, Load], LineClass::WriteOnceReadMultiple),
            // The fill counts as one write, the store as another.
            (&[Load, Store], LineClass::WriteMultiple),
            (&[Atomic, Atomic], LineClass::WriteMultiple),
            (&[Store, Load, Load, Load, Load, Load, Load, Load, Load, Store], LineClass::ReadIntensive),
        ];
        for (kinds, class) in cases {
            assert_eq!(class_of(kinds), class, "{kinds:?}");
        }
    }
}
