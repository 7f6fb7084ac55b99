//! The host: its processor, its memory, the terminal.

use std::io::IsTerminal;

use anstream::{AutoStream, ColorChoice};

use super::finding::Finding;
use crate::table;

/// Instructions that an x86-64 build may be compiled for, by the names that Linux gives them, and whether this one is.
const INSTRUCTIONS: [(&str, bool); 8] = [
    ("avx", cfg!(target_feature = "avx")),
    ("avx2", cfg!(target_feature = "avx2")),
    ("fma", cfg!(target_feature = "fma")),
    ("bmi1", cfg!(target_feature = "bmi1")),
    ("bmi2", cfg!(target_feature = "bmi2")),
    ("f16c", cfg!(target_feature = "f16c")),
    ("abm", cfg!(target_feature = "lzcnt")),
    ("movbe", cfg!(target_feature = "movbe")),
];

/// The processor's instructions and cores.
pub fn processor() -> Finding {
    // What the standard library detects is what the build assumes; only the kernel says what the processor has.
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    instructions(&text, &INSTRUCTIONS, cores)
}

/// What `/proc/cpuinfo` says of the instructions that are wanted.
fn instructions(cpuinfo: &str, wanted: &[(&str, bool)], cores: usize) -> Finding {
    let feature = "simulation";
    let cores = if cores == 1 { "one core".to_owned() } else { format!("{cores} cores") };
    let flags = cpuinfo.lines().find_map(|line| line.strip_prefix("flags")?.split_once(':'));
    let Some((_, flags)) = flags else {
        return Finding::ok(feature, format!("{cores} ({})", std::env::consts::ARCH));
    };
    let has = |name: &str| flags.split_whitespace().any(|flag| flag == name);
    let built_for = wanted.iter().filter(|(_, is_built_for)| *is_built_for);
    let absent: Vec<&str> = built_for.map(|(name, _)| *name).filter(|name| !has(name)).collect();
    if !absent.is_empty() {
        let found = format!("this build needs {}, which the processor lacks", absent.join(", "));
        return Finding::broken(feature, found, "build with RUSTFLAGS=\"-C target-cpu=native\"");
    }
    match ["avx2", "fma"].into_iter().filter(|name| !has(name)).collect::<Vec<_>>() {
        absent if !absent.is_empty() => {
            Finding::ok(feature, format!("{cores}; slower for want of {}", absent.join(" and ")))
        }
        _ if wanted.iter().all(|(name, is_built_for)| *is_built_for || !["avx2", "fma"].contains(name)) => {
            Finding::ok(feature, format!("{cores} with AVX2 and FMA"))
        }
        _ => Finding::ok(feature, format!("{cores} with AVX2 and FMA, which this build does not use")),
    }
}

/// The memory that runs may take.
pub fn memory() -> Finding {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let feature = "memory";
    match (kibibytes(&text, "MemAvailable:"), kibibytes(&text, "MemTotal:")) {
        (Some(free), Some(all)) => {
            Finding::ok(feature, format!("{} of {} GiB available", gib(free), gib(all)))
        }
        _ => Finding::missing(
            feature,
            "the host does not say how much it has",
            "sweeps take 4 GiB unless --memory says otherwise",
        ),
    }
}

/// A line of `/proc/meminfo`.
fn kibibytes(meminfo: &str, name: &str) -> Option<u64> {
    meminfo.lines().find_map(|line| line.strip_prefix(name)?.trim().strip_suffix(" kB")?.parse().ok())
}

fn gib(kibibytes: u64) -> String {
    format!("{:.1}", kibibytes as f64 / f64::from(1 << 20))
}

/// Where standard output goes, how wide it is and whether it is coloured.
pub fn terminal() -> Finding {
    let stdout = std::io::stdout();
    let place = if stdout.is_terminal() { "a terminal" } else { "no terminal" };
    let colour = match AutoStream::choice(&stdout) {
        ColorChoice::Never => "without colour",
        _ => "in colour",
    };
    Finding::ok("output", format!("{place}, {} columns, {colour}", table::width()))
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    const WANTED: [(&str, bool); 3] = [("avx2", true), ("fma", true), ("movbe", false)];

    fn of(flags: &str, wanted: &[(&str, bool)]) -> (State, String) {
        let found = instructions(&format!("vendor_id\t: X\nflags\t\t: {flags}\nbugs\t: \n"), wanted, 4);
        (found.state, found.found)
    }

    #[test]
    fn a_build_that_the_processor_cannot_run_is_broken() {
        assert_eq!(of("fpu avx2 fma", &WANTED), (State::Ok, "4 cores with AVX2 and FMA".into()));
        let broken = (State::Broken, "this build needs fma, which the processor lacks".into());
        assert_eq!(of("fpu avx2 fma4", &WANTED), broken);
    }

    #[test]
    fn a_plain_build_runs_anywhere() {
        let plain = WANTED.map(|(name, _)| (name, false));
        assert_eq!(of("fpu avx2", &plain), (State::Ok, "4 cores; slower for want of fma".into()));
        let unused = (State::Ok, "4 cores with AVX2 and FMA, which this build does not use".into());
        assert_eq!(of("avx2 fma", &plain), unused);
        let other = instructions("processor\t: 0\nFeatures\t: fp asimd\n", &plain, 1);
        assert_eq!((other.state, other.found), (State::Ok, format!("one core ({})", std::env::consts::ARCH)));
    }

    #[test]
    fn memory_is_read_from_lines_of_kibibytes() {
        let text = "MemTotal:       8050300 kB\nMemAvailable:   1048576 kB\n";
        assert_eq!(kibibytes(text, "MemAvailable:"), Some(1 << 20));
        assert_eq!(kibibytes(text, "MemTotal:").map(gib).as_deref(), Some("7.7"));
        assert_eq!(kibibytes("MemTotal: many\n", "MemTotal:"), None);
    }
}
