//! What goes wrong in a host phase: refusals, faults with their place, and phases that do not end.

use strata_engine::Cycle;
use strata_gpu::gpu::GpuOptions;
use strata_gpu::machine::Machine;
use strata_gpu::{RunError, RunRequest, run};
use strata_workloads::{Arg, Device, DeviceError, Failure, HostProgram, Module, Outcome};

use super::{CROSSBAR, with_cores};
use crate::support::{PLAIN, gtx480, module, on_device};

fn machines() -> [Machine; 2] {
    [gtx480(&["gpu.sms=2"]), with_cores(&[], &[CROSSBAR, "gpu.sms=2", "cpu.cores=3"])]
}

/// How three threads of a kernel with this body end, on a machine without CPU cores and on one with.
fn ends(head: &str, body: &str) -> [Result<Vec<u8>, DeviceError>; 2] {
    let text = module(&format!(
        "{head}.visible .entry k(.param .u64 out) {{\n.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<8>;\n\
         ld.param.u64 %d0, [out];\nmov.u32 %r0, %ctaid.x;\nmul.wide.u32 %d1, %r0, 4;\nadd.u64 %d1, %d0, %d1;\n{body}\n}}\n"
    ));
    machines().map(|machine| {
        let options = GpuOptions { limit: Cycle(200_000), ..PLAIN };
        on_device(&machine, options, &text, |device| {
            let out = device.alloc("out", 12)?;
            device.on_cpu("k", 3, &[Arg::Ptr(out)])?;
            let mut bytes = vec![0; 12];
            device.download(out, &mut bytes)?;
            Ok(bytes)
        })
    })
}

/// Both refuse the kernel, for this reason.
fn refused(head: &str, body: &str, why: &str) {
    for end in ends(head, body) {
        let Err(DeviceError::BadLaunch { kernel, reason }) = end else { panic!("{end:?}") };
        assert_eq!((kernel.as_str(), reason.as_str()), ("k", why));
    }
}

/// Both stop with this kind of failure, and say this.
fn fails(body: &str, with: Failure, what: &[&str]) {
    for end in ends("", body) {
        let Err(DeviceError::Failed { failure, reason, .. }) = end else { panic!("{end:?}") };
        assert_eq!(failure, with, "{reason}");
        for what in what {
            assert!(reason.contains(what), "{reason}");
        }
    }
}

#[test]
fn what_a_core_does_not_have_is_refused_by_name() {
    refused(
        "",
        ".shared .b32 s[4];\nst.shared.u32 [s], %r0;\nret;",
        "it has 16 bytes of shared memory, a CPU core has none",
    );
    refused(
        ".global .texref t;\n",
        ".reg .f32 %f<4>;\ntex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [t, {%r0}];\nst.global.f32 [%d1], %f0;\nret;",
        "line 12: a CPU core has no textures",
    );
    refused("", "cp.async.commit_group;\nret;", "line 10: a CPU core has no asynchronous copies");
}

#[test]
fn faults_name_line_and_thread() {
    fails("st.global.u32 [%d1+12], %r0;\nret;", Failure::Address, &["line 10", "`out` (12 bytes at"]);
    fails("st.global.u16 [%d1+1], %r0;\nret;", Failure::Misaligned, &["line 10"]);
    fails("setp.eq.u32 %p0, %r0, 2;\n@%p0 trap;\nret;", Failure::Trap, &["line 11", "2, 0, 0"]);
}

#[test]
fn a_phase_that_never_ends_is_bounded() {
    fails("L:\nadd.u32 %r0, %r0, 1;\nbra L;", Failure::Unfinished, &[]);
}

#[test]
fn barriers_votes_sleep_and_prints_work_with_one_thread() {
    let body = "setp.ne.u32 %p0, %r0, 1;\nbar.sync 0;\nbarrier.sync 3, 32;\nbar.red.popc.u32 %r1, 1, %p0;\n\
                bar.red.and.pred %p1, 2, %p0;\nselp.u32 %r2, 10, 20, %p1;\nadd.u32 %r1, %r1, %r2;\n\
                vote.sync.ballot.b32 %r3, %p0, 1;\nmad.lo.u32 %r1, %r3, 100, %r1;\nnanosleep.u32 500;\n\
                membar.gl;\nst.global.u32 [%d1], %r1;\nret;";
    for end in ends("", body) {
        let words = end.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(words, [111_u32, 20, 111].map(u32::to_le_bytes).concat());
    }
}

/// A kernel on the CPU that goes on for ever.
#[derive(Debug)]
struct Endless;

impl HostProgram for Endless {
    fn name(&self) -> &str {
        "endless"
    }

    fn module(&self) -> Module<'_> {
        let text = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry once()\n{\nret;\n}\n\
                    .visible .entry k()\n{\n.reg .b32 %r<2>;\nmov.u32 %r0, %tid.x;\nL:\nadd.u32 %r0, %r0, 1;\nbra L;\n}\n";
        Module { name: "k.ptx", text }
    }

    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        device.on_cpu("once", 2, &[])?;
        device.on_cpu("k", 1, &[])?;
        Ok(Outcome::default())
    }
}

#[test]
fn a_stopped_run_has_the_phase_until_then() {
    let [_, machine] = machines();
    let (mut progress, mut so_far) = (|_: &_| {}, |_: &mut dyn FnMut() -> _| {});
    let request = RunRequest::plain(&Endless, &machine, &mut progress, &mut so_far);
    let stopped = run(RunRequest { max_cycles: Some(10_000), ..request });
    let Err(RunError::Stopped(result, error)) = stopped else { panic!("{stopped:?}") };
    assert!(
        error.to_string().contains("reached the cycle limit (cycle 10000); 0 CTAs have ended"),
        "{error}"
    );
    assert_eq!(result.phases.len(), 2);
    assert!(result.phases[1].cycles > 9_000 && result.phases[1].instructions > 20_000);
    assert_eq!(result.cycles(), 10_000);
}

#[test]
fn numbers_that_no_machine_can_have_are_named() {
    let refusal = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        Machine::load_with("gtx480", &[super::CPU_CORES], &sets).map(|_| ()).unwrap_err().to_string()
    };
    for (set, what) in [
        ("cpu.cores=0", "cpu.cores: found 0, expected 1 to 1024"),
        ("cpu.clock_mhz=0", "cpu.clock_mhz: found 0, expected 1 to 100000"),
        ("cpu.store_buffer=300", "cpu.store_buffer: found 300, expected 1 to 256"),
        ("cpu.model=out-of-order", "unknown variant `out-of-order`, expected `in-order`"),
        ("cpu.l1d.ways=0", "cpu.l1d.sram: ways: must be 1 to 64, found 0"),
        ("cpu.core=3", "unknown key `cpu.core` (did you mean `cpu.cores`?)"),
    ] {
        let error = refusal(&[set]);
        assert!(error.contains(what), "{set}: {error}");
    }
}
