//! Settings from the environment.

use std::env::VarError;
use std::path::PathBuf;

use strata_gpu::broken_down::each_once;
use strata_gpu::machine::Machine;
use strata_gpu::results::By;

use crate::blocks::Bounds;
use crate::log::Level;

/// Which backend runs launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The modelled GPU, with timing.
    Timing,
    /// The modelled GPU with timing, and the reference executor in lockstep.
    Check,
    /// The reference executor, without timing.
    Functional,
}

/// A compute capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capability {
    /// The number before the point.
    pub major: i32,
    /// The digit behind it.
    pub minor: i32,
}

impl Capability {
    /// As targets of compilers write it: 80 for 8.0.
    pub fn target(self) -> u32 {
        (10 * self.major + self.minor).unsigned_abs()
    }

    /// The capability of a target: 8.0 for 80.
    pub fn of_target(target: u32) -> Capability {
        Capability { major: (target / 10) as i32, minor: (target % 10) as i32 }
    }

    fn parse(text: &str) -> Option<Capability> {
        let (major, minor) = text.split_once('.')?;
        let (major, minor) = (major.parse().ok()?, minor.parse().ok()?);
        ((3..=12).contains(&major) && (0..=9).contains(&minor)).then_some(Capability { major, minor })
    }
}

impl std::fmt::Display for Capability {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// All settings of the process.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The machine to model.
    pub machine: Machine,
    /// Overrides of the machine's values, for reports.
    pub sets: Vec<String>,
    /// Which backend runs launches.
    pub mode: Mode,
    /// Number of worker threads.
    pub threads: usize,
    /// File or folder for results, if any.
    pub results: Option<PathBuf>,
    /// A file that whoever runs the process keeps locked until kernels are to stop, if any.
    pub lock: Option<PathBuf>,
    /// Core cycles after which launches are given up.
    pub max_cycles: Option<u64>,
    /// CSV file for counters over time, if any.
    pub timeline: Option<PathBuf>,
    /// Length of a timeline span, in cycles.
    pub span: u64,
    /// What the run's counters are broken down by.
    pub by: Vec<By>,
    /// How far kernels reach.
    pub bounds: Bounds,
    /// Compute capability that clients see.
    pub capability: Capability,
}

/// The machine if the environment names none.
const DEFAULT_MACHINE: &str = "gtx480";
/// The compute capability if the environment names none: new enough that today's compilers emit PTX for it,
/// and old enough that this PTX needs no unsupported instructions.
const DEFAULT_CAPABILITY: Capability = Capability { major: 8, minor: 0 };

/// The length of a timeline's spans if the environment says none: as `strata run` has it.
const DEFAULT_SPAN: u64 = 10_000;

impl Settings {
    /// Reads the settings from this process's environment.
    ///
    /// # Errors
    /// A sentence with the variable, what was found and what was expected.
    pub fn from_environment() -> Result<Settings, String> {
        Settings::read(&|name| std::env::var(name))
    }

    fn read(variable: &dyn Fn(&str) -> Result<String, VarError>) -> Result<Settings, String> {
        let text = |name: &str| match variable(name) {
            Ok(text) if text.is_empty() => Ok(None),
            Ok(text) => Ok(Some(text)),
            Err(VarError::NotPresent) => Ok(None),
            Err(VarError::NotUnicode(_)) => {
                Err(format!("{name}: found bytes that are not UTF-8, expected UTF-8"))
            }
        };
        let mode = match text("STRATA_MODE")?.as_deref() {
            None | Some("timing") => Mode::Timing,
            Some("functional") => Mode::Functional,
            Some("check") => Mode::Check,
            Some(found) => return bad("STRATA_MODE", found, "`timing`, `check` or `functional`"),
        };
        let threads = match text("STRATA_THREADS")? {
            None => 1,
            Some(found) => match found.parse() {
                Ok(threads @ 1..=1024) => threads,
                _ => return bad("STRATA_THREADS", &found, "a number from 1 to 1024"),
            },
        };
        let cycles = |name: &str| match text(name)? {
            None => Ok(None),
            Some(found) => match found.parse() {
                Ok(cycles @ 1..) => Ok(Some(cycles)),
                _ => bad(name, &found, "a number of cycles, at least 1"),
            },
        };
        let (max_cycles, span) =
            (cycles("STRATA_MAX_CYCLES")?, cycles("STRATA_SPAN")?.unwrap_or(DEFAULT_SPAN));
        if let Some(found) = text("STRATA_LOG")?
            && Level::parse(&found).is_none()
        {
            return bad("STRATA_LOG", &found, "`quiet`, `once` or `calls`");
        }
        let capability = match text("STRATA_COMPUTE_CAPABILITY")? {
            None => DEFAULT_CAPABILITY,
            Some(found) => match Capability::parse(&found) {
                Some(capability) => capability,
                None => return bad("STRATA_COMPUTE_CAPABILITY", &found, "major.minor from 3.0 to 12.9"),
            },
        };
        let sets: Vec<String> = text("STRATA_SET")?
            .iter()
            .flat_map(|sets| sets.split(';'))
            .map(|set| set.trim().to_owned())
            .filter(|set| !set.is_empty())
            .collect();
        let by = match text("STRATA_BY")? {
            None => Vec::new(),
            Some(found) => {
                let parts = found.split(',').map(str::parse).collect::<Result<Vec<By>, String>>();
                each_once(&parts.map_err(|error| format!("STRATA_BY: {error}"))?)
            }
        };
        let name = text("STRATA_MACHINE")?.unwrap_or_else(|| DEFAULT_MACHINE.to_owned());
        let system = text("STRATA_SYSTEM")?;
        let machine = Machine::load_with(&name, system.as_slice(), &sets)
            .map_err(|error| format!("STRATA_MACHINE, STRATA_SYSTEM or STRATA_SET: {error}"))?;
        let bounds = match text("STRATA_BOUNDS")?.as_deref() {
            None | Some("exact") => Bounds::Exact,
            Some("guard") => Bounds::Guard,
            Some("page") => Bounds::Page,
            Some(found) => return bad("STRATA_BOUNDS", found, "`exact`, `guard` or `page`"),
        };
        let path = |name: &str| Ok::<_, String>(text(name)?.map(PathBuf::from));
        let [results, lock, timeline] = ["STRATA_RESULTS", "STRATA_LOCK", "STRATA_TIMELINE"].map(path);
        let (results, lock, timeline) = (results?, lock?, timeline?);
        Ok(Settings {
            machine,
            sets,
            mode,
            threads,
            results,
            lock,
            max_cycles,
            timeline,
            span,
            by,
            bounds,
            capability,
        })
    }
}

fn bad<T>(name: &str, found: &str, expected: &str) -> Result<T, String> {
    Err(format!("{name}: found `{found}`, expected {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Settings, String> {
        Settings::read(&|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned()).ok_or(VarError::NotPresent)
        })
    }

    #[test]
    fn an_empty_environment_is_a_gtx480_that_takes_time() {
        let settings = read(&[]).unwrap();
        assert_eq!(settings.machine.name(), "gtx480");
        assert_eq!((settings.mode, settings.threads, settings.capability.target()), (Mode::Timing, 1, 80));
    }

    #[test]
    fn what_is_asked_for_is_done() {
        let asked = [
            ("STRATA_MODE", "functional"),
            ("STRATA_SET", "gpu.sms=2; l1d.ways=8;"),
            ("STRATA_THREADS", "2"),
            ("STRATA_BY", "line,queue,line"),
            ("STRATA_COMPUTE_CAPABILITY", "7.5"),
        ];
        let settings = read(&asked).unwrap();
        assert_eq!(settings.sets, ["gpu.sms=2", "l1d.ways=8"]);
        assert_eq!(*settings.machine.file().gpu.sms, 2);
        assert_eq!(settings.by, [By::Line, By::Queue]);
        assert_eq!(
            (settings.mode, settings.threads, settings.capability.target()),
            (Mode::Functional, 2, 75)
        );
    }

    #[test]
    fn mistakes_name_variable_found_and_expected() {
        for (name, value, expected) in [
            ("STRATA_MODE", "fast", "STRATA_MODE: found `fast`, expected `timing`, `check` or `functional`"),
            ("STRATA_THREADS", "0", "STRATA_THREADS: found `0`, expected a number from 1 to 1024"),
            (
                "STRATA_MAX_CYCLES",
                "0",
                "STRATA_MAX_CYCLES: found `0`, expected a number of cycles, at least 1",
            ),
            ("STRATA_SPAN", "x", "STRATA_SPAN: found `x`, expected a number of cycles, at least 1"),
            (
                "STRATA_BY",
                "sm,lines",
                "STRATA_BY: found `lines`, expected one of sm, slice, channel, launch, line",
            ),
            ("STRATA_BOUNDS", "loose", "STRATA_BOUNDS: found `loose`, expected `exact`, `guard` or `page`"),
            ("STRATA_LOG", "loud", "STRATA_LOG: found `loud`, expected `quiet`, `once` or `calls`"),
            (
                "STRATA_COMPUTE_CAPABILITY",
                "8",
                "STRATA_COMPUTE_CAPABILITY: found `8`, expected major.minor from 3.0 to 12.9",
            ),
            ("STRATA_MACHINE", "gtx", "no such machine (did you mean `gtx480`?), expected one of gtx480"),
            ("STRATA_SET", "gpu.sm=2", "--set gpu.sm=2: unknown key `gpu.sm` (did you mean `gpu.sms`?)"),
        ] {
            let error = read(&[(name, value)]).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
