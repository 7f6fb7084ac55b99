//! Runs that begin and end between CTAs, and from checkpoints: what counts is known by hand, and results stay right.

mod checkpoints;
mod places;
mod refusals;

use std::collections::BTreeMap;
use std::sync::Arc;

use strata_gpu::checkpoint::{Checkpoint, Identity};
use strata_gpu::machine::Machine;
use strata_gpu::region::{Most, Region};
use strata_gpu::results::{Provenance, RunResult, Verdict};
use strata_gpu::{RunError, RunRequest, SaveRequest, run, save};
use strata_workloads::HostProgram;
use strata_workloads::launch_file::{LaunchFile, Package, read_package};

use crate::support::{gtx480, module};

/// Of `index`, each thread executes a mov, a mad, a store and a ret; of `twice`, a load and a shift more.
const INDEX: u64 = 4;
const TWICE: u64 = 6;

const SMALL: &[&str] = &["gpu.sms=2", "gpu.channels=1", "gpu.memory_mib=16"];

fn small() -> Machine {
    gtx480(SMALL)
}

/// Three launches: `index` writes each CTA's number to its word of `a`, with 4 CTAs, then of `b`, with 8; `twice` doubles the
/// words of `b`. A CTA is one warp, all of whose threads write the same.
fn three() -> LaunchFile {
    let kernel = |name: &str, body: &str| {
        format!(
            ".visible .entry {name}(.param .u64 out) {{\n.reg .b32 %r<4>; .reg .b64 %rd<4>;\nld.param.u64 %rd0, [out];\n\
             mov.u32 %r0, %ctaid.x;\nmad.wide.u32 %rd1, %r0, 4, %rd0;\n{body}\nret;\n}}\n"
        )
    };
    let index = kernel("index", "st.global.u32 [%rd1], %r0;");
    let twice =
        kernel("twice", "ld.global.u32 %r1, [%rd1];\nshl.b32 %r2, %r1, 1;\nst.global.u32 [%rd1], %r2;");
    let launch = |kernel: &str, ctas: u32, buffer: &str| {
        format!(
            "[[launch]]\nkernel = \"{kernel}\"\ngrid = [{ctas}]\nblock = [32]\narguments = [{{ buffer = \"{buffer}\" }}]\n"
        )
    };
    let buffer =
        |name: &str, count: u32| format!("[[buffer]]\nname = \"{name}\"\ntype = \"u32\"\ncount = {count}\n");
    let check = |name: &str, step: u32| {
        format!("[[check]]\nbuffer = \"{name}\"\nexpected = {{ ramp = {{ start = 0, step = {step} }} }}\n")
    };
    let text = [
        "name = \"three\"\nmodule = \"three.ptx\"\n".to_owned(),
        buffer("a", 4),
        buffer("b", 8),
        launch("index", 4, "a"),
        launch("index", 8, "b"),
        launch("twice", 8, "b"),
        check("a", 1),
        check("b", 2),
    ];
    let files = BTreeMap::from([("three.ptx".to_owned(), module(&format!("{index}{twice}")).into_bytes())]);
    read_package(&Package { path: "three.toml".into(), text: text.concat(), files })
        .unwrap_or_else(|error| panic!("{error}"))
}

fn from(launch: u64, cta: u64) -> Region {
    Region { from: Some(launch), from_cta: (cta > 0).then_some(cta), ..Region::default() }
}

fn for_ctas(ctas: u64) -> Most {
    Most { ctas: Some(ctas), ..Most::default() }
}

/// How a part of a program is run.
struct Part<'a> {
    program: &'a dyn HostProgram,
    machine: &'a Machine,
    region: Region,
    start: Option<Arc<Checkpoint>>,
    threads: usize,
    check: bool,
}

impl<'a> Part<'a> {
    fn of(program: &'a dyn HostProgram, machine: &'a Machine, region: Region) -> Part<'a> {
        Part { program, machine, region, start: None, threads: 1, check: false }
    }

    fn run(self) -> Result<RunResult, RunError> {
        run(RunRequest {
            region: self.region,
            start: self.start,
            threads: self.threads,
            check: self.check,
            provenance: Provenance { ptx: "ptx".into(), inputs: "inputs".into(), ..Provenance::default() },
            ..RunRequest::plain(self.program, self.machine, &mut |_| (), &mut |_| ())
        })
    }

    /// The result, which must be verified.
    fn verified(self) -> RunResult {
        let region = self.region.clone();
        let result = self.run().unwrap_or_else(|error| panic!("{region:?}: {error}"));
        assert_eq!(result.verdict, Verdict::Verified, "{region:?}");
        result
    }

    fn refused(self) -> String {
        self.run().map(|result| result.verdict).unwrap_err().to_string()
    }

    /// A checkpoint where the region begins.
    fn save(self) -> Result<Checkpoint, String> {
        save(SaveRequest {
            program: self.program,
            of: Identity {
                program: self.program.name().to_owned(),
                size: None,
                ptx: "ptx".into(),
                inputs: "inputs".into(),
            },
            machine: self.machine,
            region: &self.region,
            start: self.start,
            interrupt: None,
            progress: &mut |_| (),
        })
    }

    fn saved(self) -> Arc<Checkpoint> {
        Arc::new(self.save().unwrap_or_else(|error| panic!("{error}")))
    }
}

/// Thread instructions of `index` and `twice` in so many CTAs.
fn instructions(index: u64, twice: u64) -> u64 {
    32 * (index * INDEX + twice * TWICE)
}
