//! Where instructions go from their collectors, and what of it each sub-core has of its own.

use strata_memory::bits::members;
use strata_memory::sub_cores::parts;

use crate::config::{SmConfig, UnitKind};
use crate::slots::{MOST_SLOTS, Slots};

/// Targets of a sub-core. More than there are, so that an index needs no check.
const OF_SUB_CORE: usize = (UnitKind::COUNT + 1).next_power_of_two();

/// Where an instruction goes once its operands have arrived: the units of a kind, those of a sub-core if each has its own, or the
/// control logic, which resolves it at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target(u8);

/// A set of targets, a bit for each [`Target::index`].
pub type Targets = u64;

impl Target {
    /// More than there are targets: a set is a word.
    pub const COUNT: usize = Targets::BITS as usize;
    /// The control logic.
    pub const CONTROL: Target = Target(UnitKind::COUNT as u8);
    /// The load/store unit.
    pub const MEMORY: Target = Target::unit(UnitKind::Ldst);
    /// Every unit that computes.
    pub const COMPUTING: Targets = {
        let of_sub_core = (1 << UnitKind::Ldst as u8) - 1;
        let every_sub_core = Targets::MAX / ((1 << OF_SUB_CORE) - 1);
        of_sub_core * every_sub_core
    };

    /// The units of a kind, those of the first sub-core if each has its own.
    #[inline]
    pub const fn unit(kind: UnitKind) -> Target {
        Target(kind as u8)
    }

    /// The same in a sub-core.
    pub const fn in_sub_core(self, sub_core: usize) -> Target {
        Target(self.0 % OF_SUB_CORE as u8 + (sub_core * OF_SUB_CORE) as u8)
    }

    /// The kind of unit; `None` for the control logic.
    #[inline]
    pub fn kind(self) -> Option<UnitKind> {
        UnitKind::ALL.get(usize::from(self.0) % OF_SUB_CORE).copied()
    }

    /// A dense index.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize % Target::COUNT
    }

    /// Whether a set has it.
    #[inline(always)]
    pub const fn is_in(self, targets: Targets) -> bool {
        targets >> self.index() & 1 == 1
    }

    /// The targets of a set, by index.
    #[inline]
    pub fn members(targets: Targets) -> impl Iterator<Item = Target> {
        members(targets).map(|index| Target(index as u8))
    }
}

/// The sub-cores to which warps belong. An SM whose warps share everything is a single one.
#[derive(Debug)]
pub struct SubCores {
    /// By warp: the first of its sub-core's targets.
    first: Slots<u8>,
    /// By target as a sub-core names it: that one if it is the sub-core's own, or the one that all share.
    targets: [Target; Target::COUNT],
}

impl SubCores {
    /// Those of a machine file that has been checked.
    pub fn new(config: &SmConfig) -> SubCores {
        let count = config.sub_cores() as usize;
        let mut first = Slots::new(|| 0);
        (0..MOST_SLOTS).for_each(|warp| first[warp] = (warp % count * OF_SUB_CORE) as u8);
        let mut targets = std::array::from_fn(|index| Target(index as u8).in_sub_core(0));
        for kind in UnitKind::ALL {
            for sub_core in 0..unit_parts(config, kind) {
                let target = Target::unit(kind).in_sub_core(sub_core as usize);
                targets[target.index()] = target;
            }
        }
        SubCores { first, targets }
    }

    /// A target as the sub-core of a warp names it.
    #[inline(always)]
    pub fn local(&self, warp: usize, target: Target) -> Target {
        Target(target.0 + self.first[warp])
    }

    /// The target that a sub-core names so: its own, or the one that all share.
    #[inline(always)]
    pub fn target(&self, local: Target) -> Target {
        self.targets[local.index()]
    }
}

/// In how many parts the units of a kind are, in a machine file that has been checked.
pub fn unit_parts(config: &SmConfig, kind: UnitKind) -> u32 {
    parts(config.units.of(kind), config.sub_cores()).expect("the machine file has been checked")
}
