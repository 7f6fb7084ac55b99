//! What instructions compute, from their text to a value: each line of `values.txt` is a few instructions, the register
//! that holds the result, and what it holds in lane 3 and, when a second value stands there, in lane 20.
//!
//! Lines run one after the other in a warp of 32 threads, each in a scope of its own with registers `%p %h %r %rd %f %fd`.
//! There are `%l` (the lane), `%g` and `%s` (16 bytes of global and shared memory of the lane's own), `mine` (local) and
//! `numbers` (constants), and set are `%p8` true, `%p9` false, `%h9` 0, `%r5` 0x0000ff00, `%r6` 300, `%r7` 10,
//! `%r8` 0x01020304, `%r9` 0x04030201, `%rd7` = `%s`, `%rd9` 0x1122334455667788, `%f9` and `%fd9` 1.5.

use strata_ptx::reference::testing::Session;

/// The lanes that are looked at.
const LANES: [usize; 2] = [3, 20];

struct Line<'a> {
    text: &'a str,
    code: &'a str,
    register: &'a str,
    /// By the lanes of [`LANES`].
    values: [&'a str; 2],
}

fn lines(data: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    for text in data.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (code, result) = text.split_once(" -> ").unwrap_or_else(|| panic!("no result: {text}"));
        let (register, values) = result.split_once(" = ").unwrap_or_else(|| panic!("no value: {text}"));
        let (first, second) = values.split_once(", ").unwrap_or((values, values));
        lines.push(Line { text, code: code.trim_end_matches(';'), register, values: [first, second] });
    }
    lines
}

/// The instructions that turn a result into 64 bits.
fn widened(register: &str) -> String {
    match register.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "%r" => format!("cvt.u64.u32 %rd6, {register};"),
        "%rd" => format!("mov.u64 %rd6, {register};"),
        "%h" => format!("cvt.u64.u16 %rd6, {register};"),
        "%p" => format!("selp.u64 %rd6, 1, 0, {register};"),
        "%f" => format!("mov.b32 %r4, {register}; cvt.u64.u32 %rd6, %r4;"),
        "%fd" => format!("mov.b64 %rd6, {register};"),
        other => panic!("no register of class {other}"),
    }
}

/// The bits of a value in a register.
fn bits(register: &str, value: &str) -> u64 {
    let integer = || -> i128 {
        match value.strip_prefix("0x") {
            Some(digits) => i128::from_str_radix(digits, 16),
            None => value.parse(),
        }
        .unwrap_or_else(|error| panic!("{value}: {error}"))
    };
    match register.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "%f" => value.parse::<f32>().unwrap_or_else(|error| panic!("{value}: {error}")).to_bits().into(),
        "%fd" => value.parse::<f64>().unwrap_or_else(|error| panic!("{value}: {error}")).to_bits(),
        "%rd" => integer() as u64,
        _ => u64::from(integer() as u32),
    }
}

fn text(lines: &[Line<'_>]) -> String {
    let mut text = String::from(
        ".version 8.6\n.target sm_100\n.address_size 64\n.const .align 4 .b32 numbers[3] = {11, 22, 33};\n\
         .func (.reg .b32 out) twice(.reg .b32 in) { add.u32 out, in, in; ret; }\n\
         .visible .entry k(.param .u64 results, .param .u64 scratch) {\n\
         .reg .b64 %results, %g; .reg .b32 %l, %s; .shared .align 16 .b8 own[512];\n\
         mov.u32 %l, %laneid; ld.param.u64 %results, [results]; ld.param.u64 %g, [scratch];\n",
    );
    text.push_str(
        "{ .reg .b64 %rd<2>; .reg .b32 %r<2>; mul.wide.u32 %rd0, %l, 16; add.u64 %g, %g, %rd0; shl.b32 %r0, %l, 4;\n\
         mov.u32 %s, own; add.u32 %s, %s, %r0; mul.wide.u32 %rd0, %l, 8; add.u64 %results, %results, %rd0; }\n",
    );
    for (n, line) in lines.iter().enumerate() {
        text.push_str(&format!(
            "{{ .reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .f32 %f<10>; \
             .reg .f64 %fd<10>; .local .align 16 .b8 mine[16];\n\
             setp.eq.u32 %p8, 0, 0; setp.ne.u32 %p9, 0, 0; mov.u16 %h9, 0; mov.u32 %r0, 0; mov.u32 %r5, 0xff00; \
             mov.u32 %r6, 300; mov.u32 %r7, 10; mov.u32 %r8, 0x01020304; mov.u32 %r9, 0x04030201; \
             cvt.u64.u32 %rd7, %s; mov.u64 %rd9, 0x1122334455667788; mov.f32 %f9, 0f3fc00000; \
             mov.f64 %fd9, 0d3ff8000000000000;\n\
             {};\n{}\nst.global.u64 [%results+{}], %rd6; }}\n",
            line.code,
            widened(line.register),
            256 * n
        ));
    }
    text.push_str("ret; }\n");
    text
}

#[test]
fn instructions_compute_what_the_file_says() {
    let data = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/values.txt"))
        .expect("the values lie beside the test");
    let lines = lines(&data);
    assert!(lines.len() > 200, "{} lines", lines.len());
    let mut session = Session::new(&text(&lines));
    let results = session.buffer(&vec![0; 64 * lines.len()]);
    let scratch = session.buffer(&[0; 128]);
    session.launch("k", 1, 32, &[results, scratch]).unwrap_or_else(|fault| panic!("{fault}"));
    let found = session.words(results, 64 * lines.len());
    let mut wrong = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        for (lane, value) in LANES.iter().zip(line.values) {
            let at = 64 * n + 2 * lane;
            let found = u64::from(found[at + 1]) << 32 | u64::from(found[at]);
            let wanted = bits(line.register, value);
            // A register of 16 bits holds no more of a value.
            let wanted = if line.register.starts_with("%h") { wanted & 0xffff } else { wanted };
            if found != wanted {
                wrong.push(format!("lane {lane}: {found:#x} instead of {wanted:#x}: {}", line.text));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {} lines:\n{}", wrong.len(), lines.len(), wrong.join("\n"));
}
