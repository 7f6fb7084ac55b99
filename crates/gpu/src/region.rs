//! The part of a run that is measured.

/// Launches that count: from one to another, and of one kernel. The others run all the same, so that caches and memory
/// are as they would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// Number of the first launch, counted from 0.
    pub from: Option<u64>,
    /// Number of the last launch.
    pub to: Option<u64>,
    /// Name of the kernel.
    pub kernel: Option<String>,
}

impl Region {
    /// Whether every launch counts.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        *self == Region::default()
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
        let region = Region { from: Some(2), to: Some(4), kernel: Some("k".into()) };
        let inside: Vec<u64> = (0..8).filter(|number| region.has(*number, "k")).collect();
        assert_eq!(inside, [2, 3, 4]);
        assert!(!region.has(3, "other"));
        let phases: Vec<u64> = (0..8).filter(|after| region.has_phase(*after, "k")).collect();
        assert_eq!(phases, [3, 4], "between launches 2, 3 and 4");
        assert!(Region::default().has_phase(0, "k") && !region.has_phase(3, "other"));
    }
}
