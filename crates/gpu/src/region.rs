//! The part of a run that is measured.

use strata_engine::config::did_you_mean;
use strata_workloads::Plan;

/// Launches that count: from one to another, and of one kernel. Those before the first run on the reference executor, or on
/// the machine if they are to warm it; those after the last do not run. Other kernels in between run all the same, so that
/// caches and memory are as they would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// Number of the first launch, counted from 0.
    pub from: Option<u64>,
    /// Number of the last launch.
    pub to: Option<u64>,
    /// Name of the kernel.
    pub kernel: Option<String>,
    /// Whether launches before the first run on the machine, and leave their data in its caches.
    pub warm: bool,
}

impl Region {
    /// Whether every launch counts.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.from.is_none() && self.to.is_none() && self.kernel.is_none()
    }

    /// Whether a launch comes before the first that counts and need not run on the machine.
    #[must_use]
    pub fn passes_over(&self, number: u64) -> bool {
        !self.warm && self.from.is_some_and(|from| number < from)
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

    /// Whether a launch counts.
    #[must_use]
    pub fn has(&self, number: u64, kernel: &str) -> bool {
        self.from.is_none_or(|from| from <= number)
            && self.to.is_none_or(|to| number <= to)
            && self.kernel.as_deref().is_none_or(|name| name == kernel)
    }

    /// Whether a host phase counts that came after so many launches: it must lie between launches that do, or before or
    /// after all of them where the region has no such bound.
    #[must_use]
    pub fn has_phase(&self, after_launches: u64, kernel: &str) -> bool {
        self.from.is_none_or(|from| from < after_launches)
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
        let region = Region { from: Some(2), to: Some(4), kernel: Some("k".into()), warm: false };
        let inside: Vec<u64> = (0..8).filter(|number| region.has(*number, "k")).collect();
        assert_eq!(inside, [2, 3, 4]);
        assert!(!region.has(3, "other"));
        let phases: Vec<u64> = (0..8).filter(|after| region.has_phase(*after, "k")).collect();
        assert_eq!(phases, [3, 4], "between launches 2, 3 and 4");
        assert!(Region::default().has_phase(0, "k") && !region.has_phase(3, "other"));
        assert!(
            region.passes_over(1)
                && !region.passes_over(2)
                && !Region { warm: true, ..region.clone() }.passes_over(1)
        );
        assert!(region.is_past(5) && !region.is_past(4) && !Region::default().is_past(u64::MAX));
    }

    #[test]
    fn a_region_without_a_launch_is_refused() {
        let plan = Plan { launches: 3, kernels: vec!["fill".into()] };
        let check = |from, to, kernel: Option<&str>| {
            let region = Region { from, to, kernel: kernel.map(str::to_owned), warm: false };
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
}
