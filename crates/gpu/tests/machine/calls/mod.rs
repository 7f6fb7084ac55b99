//! Device function calls on the modelled GPU give the reference executor's values, with any number of
//! threads.

#[path = "../../../../ptx/tests/calls/programs.rs"]
mod programs;
#[path = "../../../../ptx/tests/calls/random.rs"]
mod random;
use crate::support::{PLAIN, counter, gtx480, on_device};
use proptest::prelude::*;
use strata_gpu::device::{Lockstep, ReferenceDevice};
use strata_gpu::gpu::GpuOptions;
use strata_workloads::{Arg, Device, DeviceError, Module};

/// Runs kernel `k` with one CTA on a buffer of words. Returns the buffer as both devices leave it, and the
/// cycles.
fn run(
    text: &str,
    threads: u32,
    words: &[u32],
    more: &[Arg],
    options: GpuOptions,
) -> Result<(Vec<u32>, u64), String> {
    let machine = gtx480(&[]);
    let module = Module { name: "test.ptx", text };
    let mut reference =
        ReferenceDevice::new(module, machine.compile_options(), 1 << 30, Default::default()).unwrap();
    on_device(&machine, options, text, |timed| {
        let mut both = Lockstep::new(timed, &mut reference);
        let out = both.alloc("out", 4 * words.len() as u64).unwrap();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        both.upload(out, &bytes).unwrap();
        let arguments: Vec<Arg> = [Arg::Ptr(out)].into_iter().chain(more.iter().copied()).collect();
        match both.launch("k", strata_workloads::Shape::new([1; 3], [threads, 1, 1]), &arguments) {
            Ok(()) => {}
            Err(DeviceError::Failed { reason, .. }) => return Err(reason),
            Err(other) => panic!("{other}"),
        }
        let mut bytes = bytes;
        both.download(out, &mut bytes).unwrap();
        assert_eq!(both.finish().1, Vec::<String>::new());
        let words = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap()));
        Ok((words.collect(), counter(timed, "sm", "cycles")))
    })
}

#[test]
fn programs_with_calls_leave_what_the_reference_executor_leaves() {
    let unsorted: Vec<u32> = (0..32 * 16_u32).map(|n| n.wrapping_mul(2_654_435_761) >> 20).collect();
    let table: [(&str, &str, Vec<u32>); 6] = [
        ("fibonacci", programs::FIBONACCI, vec![0; 64]),
        ("quicksort", programs::QUICKSORT, unsorted),
        ("mutual", programs::MUTUAL, vec![0; 64]),
        ("shapes", programs::SHAPES, vec![0; 64]),
        ("locals", programs::LOCALS, vec![0; 64]),
        ("stack", programs::VARIABLE_STACK, vec![0; 64]),
    ];
    for (name, text, words) in table {
        let text = programs::module(text);
        let first = run(&text, 32, &words, &[], PLAIN).unwrap_or_else(|reason| panic!("{name}: {reason}"));
        assert_ne!(first.0, words, "{name} does something");
        let second = run(&text, 32, &words, &[], GpuOptions { threads: 2, ..PLAIN }).unwrap();
        assert_eq!(first, second, "{name} on two threads");
    }
}

#[test]
fn a_full_stack_and_a_broken_assertion_stop_the_machine_with_their_place() {
    let text = programs::module(programs::ACKERMANN);
    let (small, _) = run(&text, 6, &[0; 6], &[Arg::U32(1)], PLAIN).unwrap();
    assert_eq!(small, [2, 3, 4, 5, 6, 7]);
    let reason = run(&text, 6, &[0; 6], &[Arg::U32(3)], PLAIN).unwrap_err();
    assert!(
        reason.contains("stack overflow: a thread has 1024 bytes") && reason.contains("kernel k, line "),
        "{reason}"
    );
    let text = programs::module(&programs::ASSERTION.replace("k()", "k(.param .u64 out)"));
    let reason = run(&text, 64, &[0; 1], &[], PLAIN).unwrap_err();
    assert!(
        reason.ends_with("thread [37, 0, 0]: assertion `n != 37` failed: list.cu:12, in visit"),
        "{reason}"
    );
}

#[test]
fn lists_on_the_heap() {
    let text = programs::module(programs::LISTS);
    let mut cycles = None;
    for threads in [1, 2] {
        let (words, took) = run(&text, 64, &[0; 64], &[], GpuOptions { threads, ..PLAIN }).unwrap();
        let sum = |n: u32| (0..n % 8).map(|k| n * 100 + k).sum::<u32>();
        assert_eq!(words, (0..64).map(sum).collect::<Vec<_>>());
        assert_eq!(*cycles.get_or_insert(took), took);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn random_call_graphs(functions in random::functions()) {
        let expected = random::expected(&functions);
        let (words, _) = run(&random::text(&functions), random::THREADS, &vec![0; expected.len()], &[], PLAIN).unwrap();
        prop_assert_eq!(words, expected);
    }
}
