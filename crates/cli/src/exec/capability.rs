//! The compute capability that the driver reports to a program.

use std::fmt;
use std::str::FromStr;

/// A compute capability, as the driver takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capability {
    major: u32,
    minor: u32,
}

impl FromStr for Capability {
    type Err = String;

    fn from_str(text: &str) -> Result<Capability, String> {
        let parts =
            text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        match parts {
            Some((major @ 3..=12, minor @ 0..=9)) => Ok(Capability { major, minor }),
            _ => Err("expected major.minor from 3.0 to 12.9".into()),
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_driver_takes_is_taken() {
        for text in ["3.0", "8.0", "12.9"] {
            assert_eq!(
                text.parse::<Capability>().map(|capability| capability.to_string()),
                Ok(text.to_owned())
            );
        }
        for text in ["8", "2.1", "13.0", "8.10", "8.x", "-8.0", ""] {
            assert!(text.parse::<Capability>().is_err(), "{text}");
        }
    }
}
