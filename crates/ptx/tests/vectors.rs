//! What instructions compute, against values found without Strata: `vendor.txt` holds the constants to which the vendor's
//! assembler folds them, `exact.txt` what the PTX ISA's text gives in numbers without bounds, `hardware.txt` and
//! `hardware_matrices.txt` what a GPU computed. `scripts/ptx-values` writes all of them.
//!
//! A line is `instructions : sources = destinations | values = values | ...`. The sources come from memory, a vector a lane, so
//! nothing is folded here; the instructions go all the way from text to physical registers. They may use 64 bytes of each lane in
//! global memory, at `%gm`, and in shared memory, at `%sm`.

use strata_ptx::reference::testing::Session;

/// Lines in one kernel.
const LINES: usize = 60;
/// Registers of an instruction, at most: sources or destinations.
const SLOTS: usize = 16;
/// Words of a line in input and output: two for each lane and slot.
const LINE_WORDS: usize = 64 * SLOTS;
/// Words of the memory that the lanes of a kernel may use.
const SCRATCH_WORDS: usize = 16 * 32;

struct Line<'a> {
    code: &'a str,
    sources: Vec<&'a str>,
    destinations: Vec<&'a str>,
    vectors: Vec<(Vec<u64>, Vec<Option<u64>>)>,
}

/// The lines of a file.
fn lines(data: &str) -> Vec<Line<'_>> {
    let text = data.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    text.map(|text| line(text).unwrap_or_else(|| panic!("not a line of vectors: {text}"))).collect()
}

fn line(text: &str) -> Option<Line<'_>> {
    let mut parts = text.split(" | ");
    let (code, registers) = parts.next()?.split_once(" : ")?;
    let (sources, destinations) = registers.split_once(" = ")?;
    let number = |word: &str| u64::from_str_radix(word, 16).ok();
    let vector = |part: &str| {
        let (inputs, outputs) = part.split_once(" = ")?;
        let inputs = inputs.split(' ').map(number).collect::<Option<Vec<_>>>()?;
        let output = |word| if word == "nan" { Some(None) } else { number(word).map(Some) };
        Some((inputs, outputs.split(' ').map(output).collect::<Option<Vec<_>>>()?))
    };
    Some(Line {
        code,
        sources: sources.split(' ').collect(),
        destinations: destinations.split(' ').collect(),
        vectors: parts.map(vector).collect::<Option<Vec<_>>>()?,
    })
}

fn class(register: &str) -> &str {
    register.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// Loads a register from its slot's 64 bits.
fn load(register: &str, at: usize) -> String {
    match class(register) {
        "%p" => format!("ld.global.u32 %t, [%in+{at}]; setp.ne.u32 {register}, %t, 0;"),
        "%h" => format!("ld.global.b16 {register}, [%in+{at}];"),
        "%r" | "%f" => format!("ld.global.b32 {register}, [%in+{at}];"),
        _ => format!("ld.global.b64 {register}, [%in+{at}];"),
    }
}

/// Stores a register into its slot.
fn store(register: &str, at: usize) -> String {
    match class(register) {
        "%p" => format!("selp.u32 %t, 1, 0, {register}; st.global.u32 [%out+{at}], %t;"),
        "%h" => format!("st.global.b16 [%out+{at}], {register};"),
        "%r" | "%f" => format!("st.global.b32 [%out+{at}], {register};"),
        _ => format!("st.global.b64 [%out+{at}], {register};"),
    }
}

fn text(lines: &[Line<'_>]) -> String {
    let mut text = String::from(
        ".version 8.8\n.target sm_100\n.address_size 64\n\
         .visible .entry k(.param .u64 out, .param .u64 in, .param .u64 scratch) {\n\
         .reg .b64 %in, %out, %gm, %sm; .reg .b32 %t; mov.u32 %t, %laneid; ld.param.u64 %in, [in];\n\
         ld.param.u64 %out, [out]; ld.param.u64 %gm, [scratch]; .shared .align 128 .b8 s[2048]; mov.u64 %sm, s;\n\
         mad.wide.u32 %in, %t, 8, %in; mad.wide.u32 %out, %t, 8, %out;\n\
         mad.wide.u32 %gm, %t, 64, %gm; mad.wide.u32 %sm, %t, 64, %sm;\n",
    );
    for (n, line) in lines.iter().enumerate() {
        text.push_str(
            "{ .reg .pred %p<16>; .reg .b16 %h<32>; .reg .b32 %r<64>; .reg .b64 %rd<32>; .reg .b128 %q<8>;\n\
             .reg .f32 %f<64>; .reg .f64 %d<32>;\n",
        );
        let place = |slot: usize| 4 * LINE_WORDS * n + 256 * slot;
        line.sources.iter().enumerate().for_each(|(slot, register)| text += &load(register, place(slot)));
        text += &format!("\n{};\n", line.code);
        line.destinations
            .iter()
            .enumerate()
            .for_each(|(slot, register)| text += &store(register, place(slot)));
        text += "}\n";
    }
    text + "ret; }\n"
}

/// Whether a register holds NaN of the type that an instruction gives.
fn is_nan(line: &Line<'_>, register: &str, bits: u64) -> bool {
    match class(register) {
        "%h" if line.code.contains("bf16") => half::bf16::from_bits(bits as u16).is_nan(),
        "%h" => half::f16::from_bits(bits as u16).is_nan(),
        "%d" => f64::from_bits(bits).is_nan(),
        _ => f32::from_bits(bits as u32).is_nan(),
    }
}

/// What is wrong in some lines.
fn wrong(lines: &[Line<'_>]) -> Vec<String> {
    let mut session = Session::new(&text(lines));
    let mut input = vec![0; LINE_WORDS * lines.len()];
    for (n, line) in lines.iter().enumerate() {
        for (lane, (values, _)) in line.vectors.iter().enumerate() {
            for (slot, value) in values.iter().enumerate() {
                let at = LINE_WORDS * n + 64 * slot + 2 * lane;
                (input[at], input[at + 1]) = (*value as u32, (*value >> 32) as u32);
            }
        }
    }
    let given = session.buffer(&input);
    let out = session.buffer(&vec![0; input.len()]);
    let scratch = session.buffer(&[0; SCRATCH_WORDS]);
    session.launch("k", 1, 32, &[out, given, scratch]).unwrap_or_else(|fault| panic!("{fault}"));
    let found = session.words(out, input.len());
    let mut wrong = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        for (lane, (values, wanted)) in line.vectors.iter().enumerate() {
            for (slot, (register, wanted)) in line.destinations.iter().zip(wanted).enumerate() {
                let at = LINE_WORDS * n + 64 * slot + 2 * lane;
                let found = u64::from(found[at + 1]) << 32 | u64::from(found[at]);
                let right = wanted.map_or_else(|| is_nan(line, register, found), |wanted| wanted == found);
                if !right {
                    let wanted = wanted.map_or("NaN".to_owned(), |wanted| format!("{wanted:#x}"));
                    wrong.push(format!(
                        "{} of {values:x?}: {register} is {found:#x}, not {wanted}",
                        line.code
                    ));
                }
            }
        }
    }
    wrong
}

fn check(file: &str, least: usize) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file);
    let data = std::fs::read_to_string(path).expect("the values lie beside the test");
    let lines = lines(&data);
    assert!(lines.len() > least, "{file}: {} lines", lines.len());
    let wrong: Vec<String> = lines.chunks(LINES).flat_map(wrong).collect();
    assert!(wrong.is_empty(), "{file}, {} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_the_vendor_folds() {
    check("vendor.txt", 500);
}

#[test]
fn what_the_text_of_the_isa_gives() {
    check("exact.txt", 1000);
}

#[test]
fn what_a_gpu_computed() {
    check("hardware.txt", 3000);
}

#[test]
fn what_a_gpu_computed_of_matrices() {
    check("hardware_matrices.txt", 150);
}
