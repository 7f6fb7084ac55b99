//! Targets of PTX, and which devices run it by the vendor's rules.

/// What a text was compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The compute capability: 80 for 8.0.
    pub number: u32,
    /// Where else the text runs.
    pub reach: Reach,
}

/// How far beyond its target a text runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// On all later devices.
    Onward,
    /// On later devices of the same major version, as `sm_100f`.
    Family,
    /// Nowhere else, as `sm_90a`.
    Exact,
}

impl Target {
    /// Reads the value of `.target`, of whose words one is the target: `sm_90a, debug`.
    pub fn parse(words: &str) -> Option<Target> {
        let name = words.split(',').find_map(|word| word.trim().strip_prefix("sm_"))?;
        let digits = name.trim_end_matches(|end: char| !end.is_ascii_digit());
        let reach = match &name[digits.len()..] {
            "a" => Reach::Exact,
            "f" => Reach::Family,
            _ => Reach::Onward,
        };
        Some(Target { number: digits.parse().ok()?, reach })
    }

    /// Whether a device of `capability` (80 for 8.0) runs the text.
    pub fn runs_on(self, capability: u32) -> bool {
        match self.reach {
            Reach::Onward => self.number <= capability,
            Reach::Family => self.number <= capability && self.number / 10 == capability / 10,
            Reach::Exact => self.number == capability,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_of_its_own_or_of_a_family_runs_nowhere_else() {
        for (words, on, not_on) in [
            ("sm_80", &[80, 86, 90, 120][..], &[70, 75][..]),
            ("texmode_independent, sm_80, debug", &[80, 120], &[75]),
            ("sm_90a", &[90], &[80, 89, 91, 100, 120]),
            ("sm_100f", &[100, 103], &[90, 110, 120]),
        ] {
            let target = Target::parse(words).unwrap();
            for capability in on {
                assert!(target.runs_on(*capability), "{words} {capability}");
            }
            for capability in not_on {
                assert!(!target.runs_on(*capability), "{words} {capability}");
            }
        }
        for words in ["", "debug", "sm_", "sm_x", "sm_99999999999"] {
            assert_eq!(Target::parse(words), None, "{words}");
        }
    }
}
