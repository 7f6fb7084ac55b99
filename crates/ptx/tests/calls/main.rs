//! Calls of functions with code of their own: recursion, calls through addresses, stacks, assertions.

mod programs;
mod random;

use programs::{
    ACKERMANN, ASSERTION, FIBONACCI, LOCALS, MUTUAL, QUICKSORT, SHAPES, VARIABLE_STACK, VECTORS, module,
};
use proptest::prelude::*;
use strata_ptx::back::Options;
use strata_ptx::load::load;
use strata_ptx::reference::testing::Session;

/// The message of a text that does not load.
fn refusal(text: &str) -> String {
    load("test.ptx", text, &Options::default()).map(|_| ()).unwrap_err().to_string()
}

/// Runs kernel `k` of a program with one CTA on a buffer of words.
fn run(text: &str, threads: u32, words: &[u32]) -> Vec<u32> {
    let mut session = Session::new(&module(text));
    let out = session.buffer(words);
    session.launch("k", 1, threads, &[out]).unwrap_or_else(|fault| panic!("{fault}"));
    session.words(out, words.len())
}

fn fibonacci(n: u32) -> u32 {
    (0..n).fold((0_u32, 1_u32), |(a, b), _| (b, a.wrapping_add(b))).0
}

#[test]
fn every_thread_computes_its_own_fibonacci_number() {
    let out = run(FIBONACCI, 64, &[0; 64]);
    let wanted: Vec<u32> = (0..64).map(|thread| fibonacci(thread % 12)).collect();
    assert_eq!(out, wanted);
}

#[test]
fn recursion_takes_a_stack_and_plain_calls_do_not() {
    let kernel = |text: &str| {
        let module = load("test.ptx", &module(text), &Options::default()).unwrap_or_else(|e| panic!("{e}"));
        module.kernel("k").cloned().unwrap()
    };
    let recursive = kernel(FIBONACCI);
    assert_eq!((recursive.stack_bytes, recursive.local_bytes), (1024, 1024));
    let larger = recursive.with_stack(4096);
    assert_eq!((larger.stack_bytes, larger.local_bytes), (4096, 4096));
    assert_eq!(kernel(SHAPES).stack_bytes, 0);
}

#[test]
fn threads_sort_their_parts_recursively() {
    let words: Vec<u32> = (0..32 * 16_u32).map(|n| n.wrapping_mul(2_654_435_761) >> 20).collect();
    let out = run(QUICKSORT, 32, &words);
    let mut wanted = words;
    wanted.chunks_mut(16).for_each(<[u32]>::sort_unstable);
    assert_eq!(out, wanted);
}

#[test]
fn vectors_of_registers_are_passed_and_returned() {
    let divisor = |mut a: u32, mut b: u32| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let wanted: Vec<u32> = (0..64)
        .flat_map(|thread| {
            let found = if thread % 2 == 0 { 36 } else { divisor(thread + 1, 36) };
            [divisor(thread + 1, 36), 36 + thread + 1, found, 4 * (2 * thread + 3)]
        })
        .collect();
    assert_eq!(run(VECTORS, 64, &[0; 256]), wanted);
    let wrong = VECTORS.replace("({%r1, %r2})", "({%r1, %r2, %r3})");
    assert!(
        refusal(&module(&wrong))
            .contains("vector of the wrong length: found 3 elements, expected 2 elements")
    );
}

#[test]
fn functions_call_each_other_in_turn() {
    let out = run(MUTUAL, 32, &[0; 32]);
    assert_eq!(out, (0..32).map(|thread| u32::from(thread % 2 == 0)).collect::<Vec<_>>());
}

#[test]
fn a_stack_that_is_full_is_a_fault_with_its_place() {
    let text = module(ACKERMANN);
    let mut session = Session::new(&text);
    let out = session.buffer(&[0; 6]);
    session.launch("k", 1, 6, &[out, 1]).unwrap_or_else(|fault| panic!("{fault}"));
    // A(1, n) = n + 2
    assert_eq!(session.words(out, 6), [2, 3, 4, 5, 6, 7]);
    let fault = session.launch("k", 1, 6, &[out, 3]).unwrap_err().to_string();
    assert!(
        fault.contains("stack overflow: a thread has 1024 bytes") && fault.contains("thread ("),
        "{fault}"
    );
    let calls: Vec<String> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| line.contains("call (b), ackermann"))
        .map(|(n, _)| format!("line {},", n + 1))
        .collect();
    assert!(calls.iter().any(|line| fault.contains(line)), "{fault}");
    // With more stack it goes on: A(3, n) = 2^(n + 3) - 3.
    session.module.kernels[0] = session.module.kernels[0].clone().with_stack(64 << 10);
    session.launch("k", 1, 6, &[out, 3]).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(session.words(out, 6), [5, 13, 29, 61, 125, 253]);
}

#[test]
fn lanes_call_several_functions_and_meet_again() {
    // Area of a square, a rectangle or a triangle by a table of functions in global memory; then who is together.
    let out = run(SHAPES, 32, &[0; 64]);
    for thread in 0..32_u32 {
        let n = thread + 1;
        let wanted = [n * n, n * (n + 1), n * (n + 1) / 2][thread as usize % 3];
        assert_eq!(out[thread as usize], wanted, "thread {thread}");
        assert_eq!(out[32 + thread as usize], u32::MAX, "thread {thread} has met the others");
    }
}

#[test]
fn an_address_that_is_no_function_is_a_fault() {
    let body = "
        ld.param.u64 %rd0, [out];
        proto: .callprototype (.param .b32 _) _ (.param .b32 _);
        { .param .b32 a; .param .b32 r;
        st.param.b32 [a], 1;
        mov.u64 %rd1, 0x1234;
        call (r), %rd1, (a), proto; }
        ret;";
    let text = module(&format!(".visible .entry k(.param .u64 out) {{ .reg .b64 %rd<4>;\n{body}\n}}"));
    let mut session = Session::new(&text);
    let fault = session.launch("k", 1, 1, &[0]).unwrap_err().to_string();
    assert!(fault.contains("call of address 0x1234, where no function of this prototype is"), "{fault}");
}

#[test]
fn every_activation_has_its_own_variables() {
    let out = run(LOCALS, 32, &[0; 32]);
    // Sum over the depths of what each wrote into its own array before it went deeper.
    let wanted = |depth: u32| (1..=depth).map(|d| d * 10 + d * 20).sum::<u32>();
    assert_eq!(out, (0..32).map(|thread| wanted(thread % 7)).collect::<Vec<_>>());
}

#[test]
fn stack_is_allocated_at_run_time_and_given_back() {
    let out = run(VARIABLE_STACK, 32, &[0; 32]);
    // 40 rounds of up to 31 words would not fit if a call's share did not end with it.
    let sum = |n: u32| n * (n + 1) / 2;
    assert_eq!(out, (0..32).map(|thread| 40 * sum(thread)).collect::<Vec<_>>());
}

#[test]
fn an_assertion_says_what_did_not_hold() {
    let mut session = Session::new(&module(ASSERTION));
    let fault = session.launch("k", 1, 64, &[]).unwrap_err().to_string();
    let wanted = "thread (37, 0, 0): assertion `n != 37` failed: list.cu:12, in visit";
    assert!(fault.contains(wanted), "{fault}");
}

#[test]
fn what_cannot_be_called_is_refused_by_name() {
    let table = [
        ("call (r), %rd1, (a);", "indirect call without a prototype"),
        ("call (r), %rd1, (a), a;", "indirect call without a prototype"),
        ("mov.u64 %rd1, k;", "address of a kernel or of a function without a body: found `k`"),
        ("call (r), elsewhere, (a);", "call of a function without a body: found `elsewhere`"),
    ];
    for (body, wanted) in table {
        let text = module(&format!(
            ".extern .func (.param .b32 r) elsewhere(.param .b32 a);\n\
             .visible .entry k(.param .u64 out) {{ .reg .b64 %rd<4>; .param .b32 a; .param .b32 r;\n{body}\nret; }}"
        ));
        let message = refusal(&text);
        assert!(message.contains(wanted), "{body}\n{message}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Functions that call each other at random compute what they should, and their warps meet again.
    #[test]
    fn random_call_graphs(functions in random::functions()) {
        let mut session = Session::new(&random::text(&functions));
        let expected = random::expected(&functions);
        let out = session.buffer(&vec![0; expected.len()]);
        session.launch("k", 1, random::THREADS, &[out]).unwrap_or_else(|fault| panic!("{fault}"));
        prop_assert_eq!(session.words(out, expected.len()), expected);
    }
}
