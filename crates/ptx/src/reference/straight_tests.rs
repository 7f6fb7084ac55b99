//! Random programs, run at a stretch and one instruction at a time: the same memory, counts and faults.

use std::fmt::Write;

use proptest::prelude::*;

use super::testing::Session;
use super::{Executor, GlobalMemory, LaunchConfig, Options, Summary, pack_arguments};

/// Where an access goes.
#[derive(Clone, Copy, Debug)]
enum Base {
    /// An allocation that others touch, behind which one crosses 4 GiB.
    Buffer,
    /// The end of an allocation, at a boundary of 4 GiB.
    Boundary,
    Shared,
    /// Shared memory by a generic address.
    Generic,
    /// The thread's local memory.
    Local,
}

/// How far from there each thread's address is.
#[derive(Clone, Copy, Debug)]
enum Spread {
    /// So many of its size a thread.
    Stride(u32),
    /// One address.
    Together,
    /// Anywhere.
    Hashed(u32),
    /// Consecutive, but some threads are elsewhere by so many bytes.
    Bent(u32),
}

#[derive(Clone, Debug)]
enum Step {
    /// An instruction on 32-bit registers with so many sources.
    Compute { op: &'static str, dst: u32, src: [u32; 3], guard: u32 },
    /// Whether it loads, with elements of a type and a vector of so many.
    Access { loads: bool, ty: usize, base: Base, spread: Spread, offset: i32, register: u32, guard: u32 },
    /// Threads whose predicate holds leave out the next steps, at most so many.
    Skip { steps: usize, guard: u32 },
}

/// Type, bytes, elements, and the class of registers.
const TYPES: [(&str, u32, u32, &str); 11] = [
    ("u8", 1, 1, "r"),
    ("s8", 1, 1, "r"),
    ("u16", 2, 1, "h"),
    ("s16", 2, 1, "h"),
    ("u32", 4, 1, "r"),
    ("f32", 4, 1, "f"),
    ("u64", 8, 1, "rd"),
    ("v2.u32", 4, 2, "r"),
    ("v4.u32", 4, 4, "r"),
    ("v2.u64", 8, 2, "rd"),
    ("v2.u8", 1, 2, "r"),
];

const OPS: [(&str, usize); 12] = [
    ("add.u32", 2),
    ("sub.u32", 2),
    ("mul.lo.u32", 2),
    ("mad.lo.u32", 3),
    ("and.b32", 2),
    ("xor.b32", 2),
    ("shl.b32", 2),
    ("min.s32", 2),
    ("mov.u32", 1),
    ("popc.b32", 1),
    ("shfl.sync.bfly.b32", 1),
    ("clock", 0),
];

/// Bytes of shared memory.
const SHARED: u32 = 2048;
/// Bytes of local memory a thread.
const LOCAL: u32 = 64;

fn step() -> impl Strategy<Value = Step> {
    let base = prop::sample::select(vec![
        Base::Buffer,
        Base::Buffer,
        Base::Boundary,
        Base::Shared,
        Base::Shared,
        Base::Generic,
        Base::Local,
    ]);
    let spread = prop_oneof![
        8 => Just(Spread::Stride(1)),
        2 => (0u32..5).prop_map(Spread::Stride),
        4 => Just(Spread::Together),
        4 => any::<u32>().prop_map(Spread::Hashed),
        1 => prop::sample::select(vec![1, 2, 4, 8, 1 << 20, 1 << 31]).prop_map(Spread::Bent),
    ];
    let offset = prop::sample::select(vec![0, 0, 0, 0, 0, 16, -16, 32, 4, -4, 1]);
    prop_oneof![
        4 => (0..OPS.len(), 0u32..8, [0u32..8, 0u32..8, 0u32..8], 0u32..9)
            .prop_map(|(op, dst, src, guard)| Step::Compute { op: OPS[op].0, dst, src, guard }),
        6 => (any::<bool>(), 0..TYPES.len(), base, spread, offset, 0u32..4, 0u32..9).prop_map(
            |(loads, ty, base, spread, offset, register, guard)| Step::Access {
                loads, ty, base, spread, offset, register, guard
            }
        ),
        1 => (1usize..5, 0u32..3).prop_map(|(steps, guard)| Step::Skip { steps, guard }),
    ]
}

/// Most are for all threads.
fn guard(text: &mut String, guard: u32) {
    let _ = match guard {
        0..3 => write!(text, "@%p{guard} "),
        3 => write!(text, "@!%p0 "),
        _ => Ok(()),
    };
}

impl Step {
    fn text(&self, text: &mut String, number: usize) {
        match self {
            Step::Compute { op, dst, src, guard: by } => {
                let sources = OPS.iter().find(|(name, _)| name == op).map_or(0, |(_, sources)| *sources);
                guard(text, *by);
                let _ = match (*op, sources) {
                    ("clock", _) => write!(text, "mov.u32 %r{dst}, %clock"),
                    ("shfl.sync.bfly.b32", _) => {
                        write!(text, "{op} %r{dst}, %r{}, {}, 31, -1", src[0], src[1])
                    }
                    _ => write!(text, "{op} %r{dst}"),
                };
                if !matches!(*op, "clock" | "shfl.sync.bfly.b32") {
                    src[..sources].iter().for_each(|register| _ = write!(text, ", %r{register}"));
                }
                text.push_str(";\n");
            }
            Step::Access { loads, ty, base, spread, offset, register, guard: by } => {
                let (ty, bytes, elements, class) = TYPES[*ty];
                let size = bytes * elements;
                let room = match base {
                    Base::Buffer | Base::Boundary => 4096,
                    Base::Shared | Base::Generic => SHARED,
                    Base::Local => LOCAL,
                };
                // The distance of the thread's address, in %r9.
                let _ = match spread {
                    Spread::Stride(stride) => write!(text, "mul.lo.u32 %r9, %r8, {};", stride * size),
                    Spread::Together => write!(text, "mov.u32 %r9, {};", 3 * size),
                    Spread::Hashed(factor) => {
                        let mask = (room - 1) & !(size - 1);
                        write!(text, "mul.lo.u32 %r9, %r8, {factor}; and.b32 %r9, %r9, {mask};")
                    }
                    Spread::Bent(by) => write!(
                        text,
                        "mul.lo.u32 %r9, %r8, {size}; add.u32 %r10, %r9, {by}; selp.u32 %r9, %r10, %r9, %p2;"
                    ),
                };
                if matches!(base, Base::Local) {
                    let _ = write!(text, "and.b32 %r9, %r9, {};", LOCAL - 1);
                }
                let (space, address) = match base {
                    Base::Buffer => ("global", "add.u64 %rd9, %rd9, %out;".to_owned()),
                    Base::Boundary => ("global", "add.u64 %rd9, %rd9, %rd8;".to_owned()),
                    Base::Shared => ("shared", "mov.u64 %rd7, scratch; add.u64 %rd9, %rd9, %rd7; add.u64 %rd9, %rd9, 64;".to_owned()),
                    Base::Generic => (
                        "",
                        "mov.u64 %rd7, scratch; cvta.shared.u64 %rd7, %rd7; add.u64 %rd9, %rd9, %rd7; add.u64 %rd9, %rd9, 64;"
                            .to_owned(),
                    ),
                    Base::Local => ("local", "mov.u64 %rd7, own; add.u64 %rd9, %rd9, %rd7;".to_owned()),
                };
                let _ = writeln!(text, "cvt.u64.u32 %rd9, %r9; {address}");
                guard(text, *by);
                let names: Vec<String> = (0..elements).map(|n| format!("%{class}{}", register + n)).collect();
                let names = if elements > 1 { format!("{{{}}}", names.join(", ")) } else { names.join("") };
                let point = if space.is_empty() { "" } else { "." };
                let _ = if *loads {
                    writeln!(text, "ld{point}{space}.{ty} {names}, [%rd9+{offset}];")
                } else {
                    writeln!(text, "st{point}{space}.{ty} [%rd9+{offset}], {names};")
                };
            }
            Step::Skip { guard, .. } => _ = writeln!(text, "@%p{guard} bra over_{number};"),
        }
    }
}

/// A kernel that takes the steps and writes what its registers hold in the end.
fn program(steps: &[Step]) -> String {
    let mut text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n
         .visible .entry test(.param .u64 out, .param .u64 boundary, .param .u64 results) {{
         .reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %rd<12>; .reg .f32 %f<8>; .reg .b64 %out;
         .shared .align 16 .b8 scratch[{SHARED}]; .local .align 16 .b8 own[{LOCAL}];
         ld.param.u64 %out, [out]; ld.param.u64 %rd8, [boundary]; ld.param.u64 %rd10, [results];
         mov.u32 %r8, %tid.x; mov.u32 %r11, %ctaid.x; mad.lo.u32 %r12, %r11, 80, %r8;\n"
    );
    for n in 0..8 {
        let _ = writeln!(text, "mad.lo.u32 %r{n}, %r12, {}, {n}; cvt.u16.u32 %h{n}, %r{n};", 77 + 3 * n);
        let _ = writeln!(text, "mov.b32 %f{n}, %r{n};");
    }
    for n in 0..7 {
        let _ = writeln!(text, "mul.wide.u32 %rd{n}, %r{n}, 12345678;");
    }
    text.push_str(
        "setp.lt.u32 %p0, %r8, 40; and.b32 %r9, %r8, 5; setp.eq.u32 %p1, %r9, 1; setp.eq.u32 %p2, %r9, 4;\n",
    );
    let mut ends: Vec<(usize, usize)> = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        step.text(&mut text, number);
        if let Step::Skip { steps, .. } = step {
            ends.push((number + steps, number));
        }
        for (_, label) in ends.extract_if(.., |(end, _)| *end == number) {
            let _ = writeln!(text, "over_{label}:");
        }
    }
    ends.iter().for_each(|(_, label)| _ = writeln!(text, "over_{label}:"));
    text.push_str("mul.wide.u32 %rd9, %r12, 128; add.u64 %rd10, %rd10, %rd9;\n");
    for n in 0..8 {
        let _ = writeln!(text, "st.global.u32 [%rd10+{}], %r{n};", 4 * n);
        let _ = writeln!(text, "st.global.u16 [%rd10+{}], %h{n};", 32 + 2 * n);
        let _ = writeln!(text, "st.global.f32 [%rd10+{}], %f{n};", 48 + 4 * n);
    }
    for n in 0..5 {
        let _ = writeln!(text, "st.global.u64 [%rd10+{}], %rd{n};", 80 + 8 * n);
    }
    text.push_str("ret;\n}\n");
    text
}

/// Runs a program of two CTAs of 80 threads; what came of it.
fn run(text: &str, at_a_stretch: bool, limit: u64) -> (Result<Summary, String>, GlobalMemory) {
    let mut session = Session::new(text);
    let bytes = |count: usize| (0..count).map(|n| ((n * 31) >> 2) as u8).collect::<Vec<u8>>();
    let memory = &mut session.memory;
    let out = 0x10_0000;
    let boundary = (1 << 32) - 4096;
    assert!(memory.insert(out, bytes(1024)), "the rest of the buffer is a second allocation");
    assert!(memory.insert(out + 1024, bytes(4096)));
    assert!(memory.insert(boundary + 64, bytes(8192)));
    let results = 0x20_0000;
    assert!(memory.insert(results, vec![0; 160 * 128]));
    let kernel = session.module.kernel("test").expect("the text has it");
    let params = pack_arguments(kernel, &[out + 64, boundary + 128, results]).expect("three arguments");
    let config =
        LaunchConfig { grid: [2, 1, 1], block: [80, 1, 1], cluster: None, dynamic_shared: 0, params };
    let options = Options { instruction_limit: Some(limit), ..Options::default() };
    let mut executor =
        Executor::new(kernel, config, &session.variables, &mut session.memory).with_options(options);
    if !at_a_stretch {
        executor.launch.steps.clear();
    }
    let done = executor.run().map_err(|fault| fault.to_string());
    (done, session.memory)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_stretch_does_what_its_instructions_do_one_by_one(
        steps in prop::collection::vec(step(), 1..14),
        limit in prop_oneof![3 => Just(u64::MAX), 1 => 1u64..400],
    ) {
        let text = program(&steps);
        prop_assert_eq!(run(&text, true, limit), run(&text, false, limit), "{}", text);
    }
}
