//! One measurement: a workload on a machine, with everything that determines its numbers.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use strata_gpu::machine::identity::digest;
pub use strata_measure::metric::Kind;
use strata_workloads::{Size, launch_file};

use crate::SIMULATOR;
use crate::package::Packed;
use crate::program::{Identity, Program};
use crate::resolved::Resolved;
use crate::variant::Variant;

/// Name of the format of job files and records.
pub const FORMAT: &str = "strata-job-1";

/// A measurement. With its launch file packed ([`Job::pack`]) it is self-contained, and runs on any host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Name of the format: [`FORMAT`].
    pub format: String,
    /// Version of the simulator: [`SIMULATOR`]. Other versions refuse the job.
    pub simulator: String,
    /// What the job measures.
    pub kind: Kind,
    /// Name of a built-in workload, or the name that a launch file gives its program.
    pub workload: String,
    /// Where the launch file lay when the job was made, for readers; `None` for a built-in workload. It does not affect the
    /// numbers: the hashes below say what it must hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch_file: Option<PathBuf>,
    /// Whether `strata exec` ran the program, a CUDA executable of which the lab knows only what it made the device do:
    /// the hashes below. Nobody else can run such a job.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executed: bool,
    /// Size of the workload. Other programs have one size, and this means nothing.
    pub size: Size,
    /// Name of the machine, for readers. It does not affect the numbers.
    pub variant: String,
    /// The system laid over the machine, or several as `a+b`, for readers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Overrides of the machine's values, for readers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<String>,
    /// The command line that asked for the measurement, for readers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Hash of the program's PTX: [`Identity::ptx`].
    pub ptx: String,
    /// Hash of the program's inputs: [`Identity::inputs`].
    pub inputs: String,
    /// The machine after systems and overrides; `None` for a profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Resolved>,
    /// The launch file with all that it names: in job files, and not in results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<Packed>,
}

/// A hash of everything that determines a job's numbers: 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(String);

impl Key {
    /// Parses a key; `None` if the text is not one.
    #[must_use]
    pub fn read(text: &str) -> Option<Key> {
        is_digest(text).then(|| Key(text.to_owned()))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a text consists of 32 lowercase hexadecimal digits.
pub(crate) fn is_digest(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl Job {
    /// A job that runs a workload or a launch file on a variant of a machine.
    ///
    /// # Errors
    /// An unknown workload, size or system, a launch file that cannot be read, or a machine that cannot be built.
    pub fn timing(workload: &str, size: Size, variant: &Variant) -> Result<Job, String> {
        let machine = variant.machine()?;
        let table = machine.table().clone().into();
        Ok(Job::profile(workload, size)?.on(variant, table))
    }

    /// The job that runs a profile's program on a variant of a machine, whose resolved form is `machine`.
    pub(crate) fn on(self, variant: &Variant, machine: Resolved) -> Job {
        Job {
            kind: Kind::Timing,
            variant: variant.name.clone(),
            system: variant.system.clone(),
            overrides: variant.sets.clone(),
            machine: Some(machine),
            ..self
        }
    }

    /// A job that profiles a workload or a launch file, by what [`Program::find`] finds it.
    ///
    /// # Errors
    /// An unknown workload or size, or a launch file that cannot be read.
    pub fn profile(workload: &str, size: Size) -> Result<Job, String> {
        let program = Program::find(workload)?;
        let Identity { ptx, inputs } = program.identity(size)?;
        Ok(Job {
            format: FORMAT.into(),
            simulator: SIMULATOR.into(),
            kind: Kind::Profile,
            workload: program.name().into(),
            launch_file: program.launch_file().map(Path::to_owned),
            executed: false,
            size,
            variant: String::new(),
            system: None,
            overrides: vec![],
            command: vec![],
            ptx,
            inputs,
            machine: None,
            package: None,
        })
    }

    /// The job's program: the launch file that came along, the one at its path, or the workload.
    ///
    /// # Errors
    /// What is wrong with the launch file; or that there is no such workload.
    pub fn program(&self) -> Result<Program, String> {
        match (&self.launch_file, &self.package) {
            (Some(path), Some(packed)) => {
                let package = packed.unpack(&path.to_string_lossy())?;
                let file = launch_file::read_package(&package).map_err(|error| error.to_string())?;
                Ok(Program::LaunchFile(path.clone(), file))
            }
            (Some(path), None) => Program::find(&path.to_string_lossy()),
            (None, _) => Program::find(&self.workload),
        }
    }

    /// The job with its launch file and all that that names, if it has one.
    ///
    /// # Errors
    /// A file that cannot be read any more.
    pub fn pack(&self) -> Result<Job, String> {
        let mut job = self.clone();
        if let (Some(path), None) = (&self.launch_file, &self.package) {
            let package = launch_file::pack(path).map_err(|error| error.to_string())?;
            job.package = Some(Packed::new(package));
        }
        Ok(job)
    }

    /// The job as results have it, without what came along.
    #[must_use]
    pub fn unpacked(&self) -> Job {
        Job { package: None, ..self.clone() }
    }

    /// Reads a job from the text of a job file; `name` appears in errors.
    ///
    /// # Errors
    /// What is wrong with the text; or that the job was made for another simulator, or for a workload that
    /// has changed since.
    pub fn read(name: &str, text: &str) -> Result<Job, String> {
        let job: Job = toml::from_str(text).map_err(|error| format!("{name}: {}", error.message().trim()))?;
        let expect = |field: &str, found: &str, expected: &str| {
            if found == expected {
                Ok(())
            } else {
                Err(format!("{name}: {field}: found `{found}`, expected `{expected}`"))
            }
        };
        expect("format", &job.format, FORMAT)?;
        expect("simulator", &job.simulator, SIMULATOR)?;
        if job.executed {
            return Err(format!("{name}: executed: found a CUDA program, which only `strata exec` runs"));
        }
        if job.launch_file.is_some() != job.package.is_some() {
            return Err(format!(
                "{name}: package: expected the launch file and what it names, for a job with a `launch_file`, and none for others"
            ));
        }
        let program = job.program().map_err(|error| format!("{name}: {error}"))?;
        let here = program.identity(job.size).map_err(|error| format!("{name}: {error}"))?;
        expect("ptx", &job.ptx, &here.ptx)?;
        expect("inputs", &job.inputs, &here.inputs)?;
        if job.machine.is_some() != (job.kind == Kind::Timing) {
            return Err(format!("{name}: machine: expected one for kind `timing`, none for `profile`"));
        }
        Ok(job)
    }

    /// The job as the text of a job file.
    #[must_use]
    pub fn text(&self) -> String {
        toml::to_string(self).expect("a job is TOML")
    }

    /// Whether an override of the job set this machine value, as its path and what stands there.
    pub(crate) fn sets(&self, value: &str) -> bool {
        let keys = self.overrides.iter().filter_map(|set| Some(set.split_once('=')?.0));
        keys.into_iter()
            .any(|key| value.strip_prefix(key).is_some_and(|rest| rest.starts_with(['.', ' ', '['])))
    }

    /// Hash of everything that determines the job's numbers. Names of machine and system, descriptions and
    /// sources are left out, so two spellings of one machine have one key.
    #[must_use]
    pub fn key(&self) -> Key {
        let mut text = String::new();
        let kind = match self.kind {
            Kind::Timing => "timing",
            Kind::Profile => "profile",
        };
        let (workload, size) = match self.launch_file {
            _ if self.executed => ("a CUDA program", ""),
            Some(_) => ("a launch file", ""),
            None => (self.workload.as_str(), self.size.name()),
        };
        for part in [&self.format, &self.simulator, kind, workload, size, &self.ptx, &self.inputs] {
            text += part;
            text.push('\n');
        }
        text += self.canonical_machine();
        Key(digest(text.as_bytes()))
    }

    /// The machine's values, one per line and sorted by name; empty if there is no machine.
    #[must_use]
    pub fn canonical_machine(&self) -> &str {
        self.machine.as_ref().map_or("", Resolved::text)
    }

    /// The lines of [`Job::canonical_machine`].
    pub(crate) fn machine_values(&self) -> &[String] {
        self.machine.as_ref().map_or(&[], Resolved::lines)
    }
}

#[cfg(test)]
mod launch_file_tests;

#[cfg(test)]
mod tests {
    use super::*;

    fn job(base: &str, system: Option<&str>, sets: &[&str]) -> Job {
        let sets = sets.iter().map(|set| (*set).to_owned()).collect();
        let variant = Variant {
            name: format!("{base} {sets:?}"),
            base: base.into(),
            system: system.map(str::to_owned),
            sets,
            version: None,
        };
        Job::timing("saxpy", Size::Test, &variant).unwrap()
    }

    #[test]
    fn a_key_hashes_what_decides_the_numbers_and_nothing_else() {
        let plain = job("gtx480", None, &[]);
        let ways = plain.machine.as_ref().unwrap()["l1d"]["sram"]["ways"]["value"].as_integer().unwrap();
        let spelled = job("gtx480", None, &[&format!("l1d.ways={ways}")]);
        assert_eq!(plain.key(), spelled.key(), "the same value, set again");
        assert_ne!(plain.key(), job("gtx480", None, &[&format!("l1d.ways={}", ways * 2)]).key());
        let mut other = plain.clone();
        let mut machine = toml::Table::clone(plain.machine.as_ref().unwrap());
        machine["description"] = "another".into();
        other.machine = Some(machine.into());
        other.variant = "another".into();
        other.system = Some("another".into());
        other.overrides = vec!["another".into()];
        other.command = vec!["another".into()];
        assert_eq!(plain.key(), other.key());
        let changes: [fn(&mut Job); 6] = [
            |job| job.simulator.push('x'),
            |job| job.ptx.push('x'),
            |job| job.inputs.push('x'),
            |job| job.size = Size::Small,
            |job| job.kind = Kind::Profile,
            |job| job.executed = true,
        ];
        for change in changes {
            let mut other = plain.clone();
            change(&mut other);
            assert_ne!(plain.key(), other.key());
        }
    }

    #[test]
    fn every_value_of_a_machine_is_in_the_key() {
        let job = job("gtx480", None, &[]);
        let text = job.canonical_machine();
        assert!(text.lines().count() > 60, "{text}");
        assert!(!text.contains("source"), "{text}");
        assert!(text.contains("l1d.sram.ways = "), "{text}");
    }

    #[test]
    fn a_job_file_gives_the_job_back() {
        let job = job("gtx480", None, &["l1d.sets=16"]);
        let again = Job::read("a.toml", &job.text()).unwrap();
        assert_eq!(again, job);
        assert_eq!(again.key(), job.key());
    }

    #[test]
    fn a_job_of_another_simulator_or_workload_is_refused() {
        let job = job("gtx480", None, &[]);
        for (from, to, expected) in [
            (SIMULATOR, "0.0.1+0", "a.toml: simulator: found `0.0.1+0`, expected `"),
            (job.ptx.as_str(), "0", "a.toml: ptx: found `0`, expected `"),
            (
                "\"saxpy\"",
                "\"saxpi\"",
                "a.toml: no workload `saxpi` (did you mean `saxpy`?), expected a launch file (*.toml) or one of ",
            ),
            (
                "\"timing\"",
                "\"profile\"",
                "a.toml: machine: expected one for kind `timing`, none for `profile`",
            ),
            (
                "kind = ",
                "executed = true\nkind = ",
                "a.toml: executed: found a CUDA program, which only `strata exec` runs",
            ),
            ("kind = ", "kin = ", "a.toml: "),
        ] {
            let error = Job::read("a.toml", &job.text().replacen(from, to, 1)).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
