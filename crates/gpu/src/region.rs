//! The part of a run that is measured.

use strata_engine::config::did_you_mean;
use strata_workloads::Plan;

use crate::position::Position;

/// The part of a run that counts: from a launch, a CTA or an instruction to another, and of one kernel. What comes before runs on
/// the reference executor, or on the machine if it is to warm it; what comes after does not run, unless the run is to be finished.
/// Other kernels in between run all the same, so that caches and memory are as they would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// Number of the first launch, counted from 0. Where the region begins at an instruction, known once the run has come there.
    pub from: Option<u64>,
    /// Number of the first CTA in the first launch.
    pub from_cta: Option<u64>,
    /// Thread instructions after which it begins, between two CTAs.
    pub from_instruction: Option<u64>,
    /// Number of the last launch.
    pub to: Option<u64>,
    /// Name of the kernel.
    pub kernel: Option<String>,
    /// Whether launches and CTAs before the first run on the machine, and leave their data in its caches.
    pub warm: bool,
    /// CTAs of the first launch, before its first that counts, which do so.
    pub warm_ctas: u64,
    /// Where it ends at the latest.
    pub most: Most,
    /// Whether the rest of the run is executed, too, so that results can be compared.
    pub finish: bool,
}

/// The most that a region holds. It ends between CTAs, when this is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Most {
    /// CTAs.
    pub ctas: Option<u64>,
    /// Core cycles of launches, after which no CTA begins.
    pub cycles: Option<u64>,
    /// Thread instructions, after which no CTA begins.
    pub instructions: Option<u64>,
}

impl Most {
    /// Whether it bounds nothing.
    #[must_use]
    pub fn is_unbounded(&self) -> bool {
        *self == Most::default()
    }

    /// What is left after so much; nothing of what is reached.
    #[must_use]
    pub fn after(&self, ctas: u64, cycles: u64, instructions: u64) -> Most {
        let less = |most: Option<u64>, done: u64| most.map(|most| most.saturating_sub(done));
        Most {
            ctas: less(self.ctas, ctas),
            cycles: less(self.cycles, cycles),
            instructions: less(self.instructions, instructions),
        }
    }

    /// Whether any of it is nothing.
    #[must_use]
    pub fn is_reached(&self) -> bool {
        [self.ctas, self.cycles, self.instructions].contains(&Some(0))
    }
}

impl Region {
    /// Whether every launch counts.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        let begins = self.from.is_none() && self.from_cta.is_none() && self.from_instruction.is_none();
        begins && self.to.is_none() && self.kernel.is_none() && self.most.is_unbounded()
    }

    /// Where it begins, if that is known.
    #[must_use]
    pub fn begin(&self) -> Option<Position> {
        if self.from_instruction.is_some() && self.from.is_none() {
            return None;
        }
        Some(Position { launch: self.from.unwrap_or(0), cta: self.from_cta.unwrap_or(0) })
    }

    /// The region, which begins here.
    #[must_use]
    pub fn beginning_at(self, at: Position) -> Region {
        let (from, from_cta) = (Some(at.launch), (at.cta > 0).then_some(at.cta));
        Region { from, from_cta, ..self }
    }

    /// Whether an option says where it begins.
    #[must_use]
    pub fn has_begin(&self) -> bool {
        self.from.is_some() || self.from_cta.is_some() || self.from_instruction.is_some()
    }

    /// Whether something before it need not run on the machine.
    #[must_use]
    pub fn passes_over(&self) -> bool {
        !self.warm && self.begin() != Some(Position::START)
    }

    /// Whether a launch, or a host phase after so many launches, comes after the last that counts.
    #[must_use]
    pub fn is_past(&self, number: u64) -> bool {
        self.to.is_some_and(|to| to < number)
    }

    /// Checks that the region can hold a launch, from the names of a module's kernels and, where they are known, the program's
    /// launches.
    ///
    /// # Errors
    /// The option that leaves no launch, what was found and what was expected.
    pub fn check<'a>(
        &self,
        module: impl Iterator<Item = &'a str> + Clone,
        plan: Option<&Plan>,
    ) -> Result<(), String> {
        if let (Some(from), Some(to)) = (self.from, self.to)
            && from > to
        {
            return Err(format!("--from-launch {from} --to-launch {to}: expected the first before the last"));
        }
        self.check_bounds()?;
        if let Some(kernel) = &self.kernel {
            if !module.clone().any(|known| known == kernel) {
                let alike = did_you_mean(kernel, module.clone());
                let known = module.collect::<Vec<_>>().join(", ");
                return Err(format!(
                    "--kernel {kernel}: the module has no such kernel{alike}, expected one of {known}"
                ));
            }
            if let Some(plan) = plan
                && !plan.kernels.contains(kernel)
            {
                let launched = plan.kernels.join(", ");
                return Err(format!(
                    "--kernel {kernel}: the program does not launch it, expected one of {launched}"
                ));
            }
        }
        match (self.from, plan) {
            (Some(from), Some(plan)) if from >= plan.launches => Err(format!(
                "--from-launch {from}: the program makes {}, counted from 0",
                if plan.launches == 1 {
                    "1 launch".to_owned()
                } else {
                    format!("{} launches", plan.launches)
                }
            )),
            _ => Ok(()),
        }
    }

    /// Checks the options that say where it begins and ends, for themselves.
    fn check_bounds(&self) -> Result<(), String> {
        for (option, most) in [
            ("--for-ctas", self.most.ctas),
            ("--for-cycles", self.most.cycles),
            ("--for-instructions", self.most.instructions),
        ] {
            if most == Some(0) {
                return Err(format!("{option} 0: expected at least 1"));
            }
        }
        let (warm_ctas, cta) = (self.warm_ctas, self.from_cta.unwrap_or(0));
        if self.from_instruction.is_some() && (self.from.is_some() || self.from_cta.is_some()) {
            return Err("--from-instruction: expected no --from-launch and no --from-cta beside it".into());
        }
        if warm_ctas > 0 && self.warm {
            return Err(format!("--warm-ctas {warm_ctas}: --warm simulates all CTAs, expected one of them"));
        }
        if warm_ctas > 0 && cta == 0 && self.from_instruction.is_none() {
            let launch = self.from.unwrap_or(0);
            return Err(format!(
                "--warm-ctas {warm_ctas}: no CTA of launch {launch} comes before the first measured, expected --from-cta"
            ));
        }
        if self.warm && self.from_instruction.is_some() {
            return Err(
                "--warm: only the reference executor finds the place of --from-instruction, expected --warm-ctas".into()
            );
        }
        Ok(())
    }

    /// Whether a launch counts.
    #[must_use]
    pub fn has(&self, number: u64, kernel: &str) -> bool {
        self.begin().is_some_and(|begin| begin.launch <= number)
            && self.to.is_none_or(|to| number <= to)
            && self.kernel.as_deref().is_none_or(|name| name == kernel)
    }

    /// Whether a host phase counts that came after so many launches: it must lie between launches that do, or before or
    /// after all of them where the region has no such bound.
    #[must_use]
    pub fn has_phase(&self, after_launches: u64, kernel: &str) -> bool {
        let begins_before = self.begin().is_some_and(|begin| begin.launch < after_launches);
        (begins_before || !self.has_begin())
            && self.to.is_none_or(|to| after_launches <= to)
            && self.kernel.as_deref().is_none_or(|name| name == kernel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bound_leaves_out_its_own() {
        assert!(Region::default().is_everything() && Region::default().has(7, "k"));
        let region = Region { from: Some(2), to: Some(4), kernel: Some("k".into()), ..Region::default() };
        let inside: Vec<u64> = (0..8).filter(|number| region.has(*number, "k")).collect();
        assert_eq!(inside, [2, 3, 4]);
        assert!(!region.has(3, "other"));
        let phases: Vec<u64> = (0..8).filter(|after| region.has_phase(*after, "k")).collect();
        assert_eq!(phases, [3, 4], "between launches 2, 3 and 4");
        assert!(Region::default().has_phase(0, "k") && !region.has_phase(3, "other"));
        assert!(
            region.passes_over()
                && !Region::default().passes_over()
                && !Region { warm: true, ..region.clone() }.passes_over()
        );
        assert!(region.is_past(5) && !region.is_past(4) && !Region::default().is_past(u64::MAX));
    }

    #[test]
    fn a_region_without_a_launch_is_refused() {
        let plan = Plan { launches: 3, kernels: vec!["fill".into()] };
        let check = |from, to, kernel: Option<&str>| {
            let region = Region { from, to, kernel: kernel.map(str::to_owned), ..Region::default() };
            region.check(["fill", "unused"].into_iter(), Some(&plan))
        };
        assert_eq!(check(Some(2), Some(7), Some("fill")), Ok(()));
        for (region, expected) in [
            (check(Some(3), None, None), "--from-launch 3: the program makes 3 launches, counted from 0"),
            (
                check(Some(2), Some(1), None),
                "--from-launch 2 --to-launch 1: expected the first before the last",
            ),
            (
                check(None, None, Some("fil")),
                "--kernel fil: the module has no such kernel (did you mean `fill`?), expected one of fill, unused",
            ),
            (
                check(None, None, Some("unused")),
                "--kernel unused: the program does not launch it, expected one of fill",
            ),
        ] {
            assert_eq!(region.unwrap_err(), expected);
        }
    }

    #[test]
    fn a_region_from_an_instruction_has_nothing_until_its_launch_is_known() {
        let region = Region { from_instruction: Some(100), ..Region::default() };
        assert!(!region.is_everything() && region.passes_over() && !region.has(0, "k"));
        assert!(!region.has_phase(0, "k") && !region.has_phase(9, "k"));
        let region = region.beginning_at(Position { launch: 3, cta: 0 });
        assert!(!region.has(2, "k") && region.has(3, "k") && region.from_cta.is_none());
        assert!(!region.has_phase(3, "k") && region.has_phase(4, "k"));
    }

    #[test]
    fn a_bound_is_reached_by_any_of_its_counts() {
        let most = Most { ctas: Some(4), cycles: None, instructions: Some(100) };
        assert!(!most.is_reached() && !most.after(3, u64::MAX, 99).is_reached());
        assert!(most.after(4, 0, 0).is_reached() && most.after(0, 0, 101).is_reached());
        assert_eq!(most.after(1, 7, 30), Most { ctas: Some(3), cycles: None, instructions: Some(70) });
        assert!(Most::default().is_unbounded() && !Most::default().after(1, 1, 1).is_reached());
    }

    #[test]
    fn options_that_say_nothing_together_are_refused() {
        let check = |region: Region| region.check(["k"].into_iter(), None);
        let cta = Region { from_cta: Some(4), ..Region::default() };
        let most = |most| Region { most, ..Region::default() };
        assert_eq!(check(Region { warm_ctas: 9, ..cta.clone() }), Ok(()));
        for (region, expected) in [
            (most(Most { ctas: Some(0), ..Most::default() }), "--for-ctas 0: expected at least 1"),
            (most(Most { cycles: Some(0), ..Most::default() }), "--for-cycles 0: expected at least 1"),
            (
                Region { from_instruction: Some(1), ..cta.clone() },
                "--from-instruction: expected no --from-launch and no --from-cta beside it",
            ),
            (
                Region { warm: true, warm_ctas: 2, ..cta.clone() },
                "--warm-ctas 2: --warm simulates all CTAs, expected one of them",
            ),
            (
                Region { from: Some(3), warm_ctas: 2, ..Region::default() },
                "--warm-ctas 2: no CTA of launch 3 comes before the first measured, expected --from-cta",
            ),
            (
                Region { from_instruction: Some(1), warm: true, ..Region::default() },
                "--warm: only the reference executor finds the place of --from-instruction, expected --warm-ctas",
            ),
        ] {
            assert_eq!(check(region).unwrap_err(), expected);
        }
    }
}
