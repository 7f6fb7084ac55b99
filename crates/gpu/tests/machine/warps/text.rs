//! The PTX of a case, and what it reads.

use std::fmt::Write;

use super::case::{Case, Draw, LANES, Partition, ROUNDS, Step, Way};
use super::oracle::OPERATIONS;

/// Words that a thread reads for a step.
const DRAW_WORDS: usize = 5 + ROUNDS;

/// Words that a thread writes.
pub fn output_words(case: &Case) -> usize {
    case.rounds().len() * OPERATIONS.len()
}

/// The input: by thread whether it leaves, then its draws.
pub fn input(case: &Case) -> Vec<u32> {
    let mut words = Vec::new();
    for warp in &case.warps {
        for lane in 0..LANES {
            words.push(warp.exited >> lane & 1);
            for draws in &warp.draws {
                let Draw { trips, label, aye, value, single, masks } = draws[lane];
                words.extend([trips, label, u32::from(aye), value, single]);
                words.extend(masks);
            }
        }
    }
    words
}

/// The kernel: one warp a CTA.
pub fn text(case: &Case) -> String {
    let mut text = format!(
        ".version 8.6\n.target sm_100a\n.address_size 64\n\
         .visible .entry warps(.param .u64 out, .param .u64 in) {{\n\
         .reg .pred %p<8>; .reg .b32 %r<24>; .reg .f32 %f<2>; .reg .b64 %rd<8>; .shared .b32 own[{LANES}];\n\
         mov.u32 %r1, %laneid; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r2, %r2, {LANES}, %r1;\n\
         ld.param.u64 %rd1, [out]; mad.wide.u32 %rd1, %r2, {}, %rd1;\n\
         ld.param.u64 %rd2, [in]; mad.wide.u32 %rd2, %r2, {}, %rd2;\n\
         mov.u32 %r3, own; mad.lo.u32 %r4, %r1, 4, %r3;\n\
         ld.global.u32 %r5, [%rd2]; setp.ne.u32 %p1, %r5, 0; @%p1 exit;\n",
        4 * output_words(case),
        4 * (1 + DRAW_WORDS * case.steps.len()),
    );
    let mut at = 0;
    for (n, step) in case.steps.iter().enumerate() {
        let from = 4 * (1 + DRAW_WORDS * n);
        let word = |k: usize| from + 4 * k;
        // %p1: takes part; %r10: label, %p2: aye, %r11: value, %f1: single, %rd3: label and value.
        writeln!(
            text,
            "ld.global.u32 %r6, [%rd2+{}]; ld.global.u32 %r10, [%rd2+{}]; ld.global.u32 %r7, [%rd2+{}];\n\
             ld.global.u32 %r11, [%rd2+{}]; ld.global.f32 %f1, [%rd2+{}];\n\
             setp.ne.u32 %p1, %r6, 0; setp.ne.u32 %p2, %r7, 0; mov.b64 %rd3, {{%r11, %r10}};",
            word(0),
            word(1),
            word(2),
            word(3),
            word(4),
        )
        .expect("a string");
        let mut body = |text: &mut String, guard: &str, round: usize| {
            execution(text, *step, guard, word(5 + round), 4 * OPERATIONS.len() * at);
            at += 1;
        };
        match step.way {
            Way::Guard => body(&mut text, "@%p1 ", 0),
            Way::Branch => {
                writeln!(text, "@!%p1 bra end{n};").expect("a string");
                body(&mut text, "", 0);
            }
            Way::Sides => {
                writeln!(text, "@!%p1 bra other{n};").expect("a string");
                body(&mut text, "", 0);
                writeln!(text, "bra end{n};\nother{n}:").expect("a string");
                body(&mut text, "", 1);
            }
            Way::Loop => {
                writeln!(
                    text,
                    "mov.u32 %r8, 0; mov.u64 %rd5, %rd1; mov.u64 %rd6, %rd2;\n\
                     again{n}: setp.ge.u32 %p3, %r8, %r6; @%p3 bra end{n};"
                )
                .expect("a string");
                body(&mut text, "", 0);
                at += ROUNDS - 1;
                writeln!(
                    text,
                    "add.u32 %r8, %r8, 1; add.u64 %rd1, %rd1, {}; add.u64 %rd2, %rd2, 4; bra again{n};\n\
                     end{n}: mov.u64 %rd1, %rd5; mov.u64 %rd2, %rd6;",
                    4 * OPERATIONS.len(),
                )
                .expect("a string");
            }
        }
        if matches!(step.way, Way::Branch | Way::Sides) {
            writeln!(text, "end{n}:").expect("a string");
        }
    }
    text.push_str("ret; }\n");
    text
}

/// One execution of all operations: %r20 is the membermask.
fn execution(text: &mut String, step: Step, guard: &str, mask: usize, out: usize) {
    let mut code = vec!["activemask.b32 %r21".to_string()];
    match step.partition {
        Partition::Given => code.push(format!("ld.global.u32 %r20, [%rd2+{mask}]")),
        Partition::Tiles(size) => code.extend([
            format!("and.b32 %r20, %r1, {}", 32 - size),
            format!("shl.b32 %r20, {}, %r20", u32::MAX >> (32 - size)),
        ]),
        Partition::Labels => code.push("match.any.sync.b32 %r20, %r10, %r21".into()),
        Partition::Binary => code.extend([
            "vote.sync.ballot.b32 %r20, %p2, %r21".into(),
            "not.b32 %r22, %r20".into(),
            "and.b32 %r22, %r22, %r21".into(),
            "selp.b32 %r20, %r20, %r22, %p2".into(),
        ]),
    }
    let width = if let Partition::Tiles(size) = step.partition { size } else { 32 };
    let segments = (32 - width) << 8;
    let mut place = out;
    let mut store = |code: &mut Vec<String>, register: &str| {
        code.push(format!("st.global.u32 [%rd1+{place}], {register}"));
        place += 4;
    };
    store(&mut code, "%r20");
    store(&mut code, "%r21");
    let predicate = "selp.u32 %r23, 1, 0, %p4";
    for vote in ["all", "any", "uni"] {
        code.extend([format!("vote.sync.{vote}.pred %p4, %p2, %r20"), predicate.into()]);
        store(&mut code, "%r23");
    }
    let one = [
        "vote.sync.ballot.b32 %r22, %p2, %r20",
        "match.any.sync.b32 %r22, %r11, %r20",
        "match.any.sync.b64 %r22, %rd3, %r20",
    ];
    for instruction in one {
        code.push(instruction.into());
        store(&mut code, "%r22");
    }
    let with_predicate = |code: &mut Vec<String>, instruction: String| {
        code.extend([instruction, predicate.into()]);
    };
    with_predicate(&mut code, "match.all.sync.b32 %r22|%p4, %r11, %r20".into());
    store(&mut code, "%r22");
    store(&mut code, "%r23");
    for op in ["add.u32", "min.u32", "max.u32", "min.s32", "max.s32", "and.b32", "or.b32", "xor.b32"] {
        code.push(format!("redux.sync.{op} %r22, %r11, %r20"));
        store(&mut code, "%r22");
    }
    for op in ["min", "max.abs.NaN"] {
        code.extend([format!("redux.sync.{op}.f32 %f0, %f1, %r20"), "mov.b32 %r22, %f0".into()]);
        store(&mut code, "%r22");
    }
    with_predicate(&mut code, "elect.sync %r12|%p4, %r20".into());
    store(&mut code, "%r12");
    store(&mut code, "%r23");
    code.extend(
        [
            "st.shared.u32 [%r4], %r11",
            "bar.warp.sync %r20",
            "mad.lo.u32 %r22, %r12, 4, %r3",
            "ld.shared.u32 %r22, [%r22]",
            "bar.warp.sync %r20",
        ]
        .map(String::from),
    );
    store(&mut code, "%r22");
    code.push("shfl.sync.idx.b32 %r22, %r11, %r12, 31, %r20".into());
    store(&mut code, "%r22");
    for (mode, clamp) in [("up", 0), ("down", 31)] {
        let control = segments | clamp;
        with_predicate(&mut code, format!("shfl.sync.{mode}.b32 %r22|%p4, %r11, %r10, {control}, %r20"));
        store(&mut code, "%r22");
        store(&mut code, "%r23");
    }
    for mode in ["bfly", "idx"] {
        code.push(format!("shfl.sync.{mode}.b32 %r22, %r11, %r10, {}, %r20", segments | 31));
        store(&mut code, "%r22");
    }
    assert_eq!(place, out + 4 * OPERATIONS.len(), "a result for each operation");
    for instruction in code {
        writeln!(text, "{guard}{instruction};").expect("a string");
    }
}
