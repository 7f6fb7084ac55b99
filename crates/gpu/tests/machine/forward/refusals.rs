//! Places that cannot be reached.

use strata_gpu::region::{Most, Region};
use strata_gpu::{RunError, RunRequest, run};
use strata_workloads::{Arg, Device, DeviceError, HostProgram, Module, Outcome, Shape};

use super::{Part, for_ctas, from, small, three};
use crate::support::module;

/// One launch of a kernel `k` with a pointer to 64 words.
#[derive(Debug)]
struct One {
    text: String,
    shape: Shape,
}

impl HostProgram for One {
    fn name(&self) -> &str {
        "one"
    }

    fn module(&self) -> Module<'_> {
        Module { name: "one.ptx", text: &self.text }
    }

    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        let out = device.alloc("out", 256)?;
        device.launch("k", self.shape, &[Arg::Ptr(out)])?;
        Ok(Outcome::default())
    }
}

fn one(body: &str, shape: Shape) -> One {
    let text = module(&format!(
        ".visible .entry k(.param .u64 out) {{\n.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;\n\
         ld.param.u64 %rd0, [out];\nmov.u32 %r0, %ctaid.x;\nmad.wide.u32 %rd1, %r0, 4, %rd0;\n{body}\nret;\n}}\n"
    ));
    One { text: text.replace("sm_70", "sm_90").replace(".version 7.0", ".version 8.0"), shape }
}

#[test]
fn a_place_that_the_program_does_not_have_is_refused() {
    let (program, machine) = (three(), small());
    let refused = |region| Part::of(&program, &machine, region).refused();
    assert_eq!(refused(from(1, 8)), "cannot launch `index`: CTA 8: launch 1 has 8, counted from 0");
    assert_eq!(
        refused(Region { warm: true, ..from(1, 9) }),
        "cannot launch `index`: CTA 9: launch 1 has 8, counted from 0"
    );
    assert_eq!(refused(from(3, 0)), "--from-launch 3: the program makes 3 launches, counted from 0");
    assert_eq!(
        refused(Region { from_instruction: Some(1_000_000), ..Region::default() }),
        "--from-instruction 1000000: the program ends with its launch before that, after 3072 thread instructions"
    );
    assert_eq!(
        refused(Region { most: Most { cycles: Some(0), ..Most::default() }, ..Region::default() }),
        "--for-cycles 0: expected at least 1"
    );
    let save = |region| Part::of(&program, &machine, region).save().unwrap_err();
    assert_eq!(
        save(Region::default()),
        "a checkpoint: expected --from-launch, --from-cta or --from-instruction with it"
    );
    assert_eq!(save(from(1, 8)), "cannot launch `index`: CTA 8: launch 1 has 8, counted from 0");
    assert!(save(Region { warm_ctas: 1, ..from(1, 4) }).starts_with("a checkpoint holds no caches"));
    assert!(
        save(Region { from_instruction: Some(1_000_000), ..Region::default() })
            .contains("after 3072 thread instructions")
    );
}

#[test]
fn clusters_are_entered_and_left_as_a_whole() {
    let shape = Shape::new([12, 1, 1], [32, 1, 1]).with_cluster([4, 1, 1]);
    let (program, machine) = (one("st.global.u32 [%rd1], %r0;", shape), small());
    assert_eq!(
        Part::of(&program, &machine, from(0, 6)).refused(),
        "cannot launch `k`: CTA 6: launch 0 has clusters of 4 CTAs, expected the first of one"
    );
    let result = Part::of(&program, &machine, Region { warm_ctas: 1, ..from(0, 8) }).run().unwrap();
    assert_eq!(result.began.map(|began| began.warm_ctas), Some(4));
    let result =
        Part::of(&program, &machine, Region { most: for_ctas(5), ..Region::default() }).run().unwrap();
    assert_eq!(result.ended.map(|ended| ended.cta), Some(8));
}

#[test]
fn ctas_that_wait_for_others_end_the_run_and_do_not_hang() {
    // CTA n waits for the flag of CTA 3 - n.
    let wait = "mov.u32 %r1, 1;\nst.volatile.global.u32 [%rd1], %r1;\nsub.u32 %r2, 3, %r0;\nmad.wide.u32 %rd2, %r2, 4, %rd0;\n\
                L: ld.volatile.global.u32 %r3, [%rd2];\nsetp.eq.u32 %p0, %r3, 0;\n@%p0 bra L;";
    let (program, machine) = (one(wait, Shape::new([4, 1, 1], [32, 1, 1])), small());
    assert!(Part::of(&program, &machine, Region::default()).run().is_ok(), "together they end");
    let before = Part::of(&program, &machine, from(0, 2)).refused();
    assert!(before.starts_with("`k` failed: without the others, CTAs 0 to 1 do not end: "), "{before}");
    let region = Region { most: for_ctas(2), ..Region::default() };
    let Err(RunError::Stopped(_, error)) = Part::of(&program, &machine, region).run() else {
        panic!("it ended")
    };
    assert!(error.to_string().contains("livelock"), "{error}");
}

#[test]
fn ctas_that_warm_caches_are_not_seen_over_time() {
    let (program, machine) = (three(), small());
    let error = run(RunRequest {
        region: Region { warm_ctas: 1, ..from(1, 4) },
        sample_cycles: Some(100),
        ..RunRequest::plain(&program, &machine, &mut |_| (), &mut |_| ())
    });
    let error = error.unwrap_err().to_string();
    assert!(error.starts_with("CTAs that warm caches would be seen over time, too"), "{error}");
}
