//! docs/ptx.md: what is executed of PTX and what is refused, kept true.
//!
//! `forms.txt` holds the forms, family by family. A form is an instruction whose opcode may have alternatives:
//! `(.a,.b)` is one of them, `[.a]` one or none. Every instruction that it stands for is parsed and lowered; one
//! behind `!` must be refused as unsupported. Behind `@` stand the oracles that say what it computes; each must cover it.
//! The page is written from the same lines: `UPDATE_EXPECT=1` writes it.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use strata_ptx::front::{lower, parse_module};

mod support;
use support::forms::{Form, families, kernel};
use support::oracles::{ORACLES, Oracle};

/// What is wrong with an instruction in a kernel that has registers of all kinds: nothing, that it is not
/// executed, or something else.
fn verdict(instruction: &str) -> Result<(), (bool, String)> {
    let text = kernel(instruction);
    match parse_module("form.ptx", &text).and_then(|module| lower(&module, None)) {
        Ok(_) => Ok(()),
        Err(diagnostics) => Err((diagnostics.only_unsupported(), diagnostics.to_string())),
    }
}

/// Opcodes between quotes in a piece of source.
fn quoted(source: &str) -> BTreeSet<&str> {
    let words = source.split('"').skip(1).step_by(2);
    words.filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase())).collect()
}

/// What the page says of large kernels; `crates/ptx/tests/large_ptx.rs` holds it to that.
const LIMITS: &str = "\n\
    A register that is read before it is written holds what earlier values left in the row that it was allocated: in the \
    reference executor, where all are zero when a CTA begins, values of its own thread; on a machine, values of any thread that \
    had the row before. Both are the same in every run, but need not be alike. [Results](results.md#programs-that-go-wrong) \
    says how such reads are told.\n\n\
    Time and memory to compile a kernel follow its size: hundreds of thousands of instructions, or tens of thousands of values \
    live at once, compile in seconds. A kernel is refused before it takes the memory when it has more than 65,535 constant \
    words, or more than 65,535 values that find no register (they would exceed the local memory of a thread); more than \
    33,554,432 values that live from block to block, summed over the blocks; more than 67,108,864 pairs of an instruction's \
    result and another value that is live then; more than 4,194,304 targets of indexed branches, calls and returns; or more than \
    1,048,576 values to save around recursive calls.\n";

/// What the page says of operations with `.sync` and of special registers.
const WARPS: &str = "\n\
    Operations with `.sync` join the threads that execute them together with the same membermask. Threads that branch \
    apart execute apart: one side does not wait for the other, as the ISA asks of targets before `sm_70`; they meet again \
    where their paths do. A thread whose own bit is missing from its mask (undefined in PTX) gives nothing to its group and \
    gets the group's result, 0 from `match.any`. `shfl.sync` reads its source lane whether or not that thread takes part.\n\n\
    No graph runs: `%current_graph_exec` is 0. A launch is \
    complete when the next one begins, so `griddepcontrol` has no effect; it takes an \
    issue slot (ASSUMED). `%pm0` to `%pm7` and `%reserved_smem_offset_*` are refused. A kernel that holds anything \
    refused cannot be launched, by name and line; the module's other kernels can.\n";

/// What the page says of hints; `crates/gpu/tests/machine/golden_cycles/prefetches.rs` holds it to that.
const HINTS: &str = "\n\
    ## Prefetches and other hints\n\n\
    Hints change no value. These move lines on a timed machine:\n\n\
    | instruction | brings |\n\
    |---|---|\n\
    | `prefetch.L1`, `prefetchu.L1` | the lines that lanes name to the L1D |\n\
    | `prefetch.L2`, with `::evict_last` and `::evict_normal` too; `applypriority` | the lines that lanes name to the L2 |\n\
    | `cp.async.bulk.prefetch.L2`, `cp.async.bulk.prefetch.tensor.L2` | the sectors of a block or box to the L2 |\n\n\
    The warp does not wait for them. [Policies](policies.md#prefetch-instructions) says how they compete with other requests, which \
    designs have a place for them, and what is counted. A lane wishes for nothing whose address lies in shared, constant or parameter memory, \
    or beyond every allocation, or whose map describes no tensor; `prefetchu` passes over local memory too. The ISA says nothing of \
    an address without memory: here a hint does not fault (ASSUMED).\n\n\
    Read over: eviction priorities, `createpolicy` and cache policies; the size of an L2 prefetch of loads and copies (`.L2::64B`, \
    `.L2::128B`, `.L2::256B`); `prefetch.tensormap`, since maps come with the launch. Hints on CPU cores take an \
    instruction's time and do nothing.\n";

/// What the page says of a GPU: what was found by running `scripts/ptx-values/hardware` on one.
const GPU: &str = "\n\
    ## Beside a GPU\n\n\
    Some 1,200 kernels ran on an NVIDIA H200, an H100 (driver 580.159.04, CUDA 13.0, 2026-11-26) and the reference executor; the \
    two cards gave the same. \
    `scripts/ptx-values/hardware/run.py` runs them on whatever `libcuda.so.1` there is, `compare.py` says where two runs \
    differ, `keep.py` writes the vectors. Integers, exact floating-point arithmetic, conversions, comparisons, memory, atomics, \
    warps, products of exact numbers, sparse ones and their metadata, `ldmatrix`, `stmatrix`, `wmma`, `wgmma` and its layouts, \
    bulk reductions, barriers in memory and clusters agree. What the ISA leaves open is here as on the GPU:\n\n\
    - The last NaN operand of an f64 operation is passed on, quiet. A conversion from or to f64 keeps the sign of a NaN and what \
    there is room for of its payload.\n\
    - A row of a box that is shorter than its swizzle has a line of 32, 64 or 128 bytes of its own. What a box fills with NaN \
    is 0x7ff7 in every 16 bits, whatever the type.\n\
    - Products of f16, bf16 and tf32 are lined up with the largest by the sums of their factors' exponents, cut 25 bits below it, added \
    exactly, and cut to an f32.\n\
    - Channels that a texture's format lacks are 0, the fourth too. A border's colour is rounded to the format. Integer \
    coordinates beyond the edge give 0, and so do layers that are not there. Of equal coordinates of a cube the last decides \
    the face. The weights of a filter are products rounded to 256ths.\n\n\
    Refused as there: a box whose innermost coordinate is no multiple of 16 bytes, in either direction; a plain store of a box \
    that begins before its tensor; sums and logic of boxes of signed 64-bit elements; a copy from `shared::cta` to \
    `shared::cluster` in a launch without clusters. A GPU's driver refuses, and Strata answers: `txq` and `suq` of the channels' \
    type and order, of the array's size, of levels and of the kind of coordinates.\n\n\
    Strata keeps to the ISA's text where the GPU departs from it:\n\n\
    - Video instructions are a sequence of others there. With `.sat` and operands of both signs, with `.min` or `.max` of an \
    unsigned result below zero, and in `vmad` with `.sat`, `.po` or a shift they give other results than the text.\n\
    - `bfe` and `bfi` of 64 bits take all of the position and length in, not their low 8 bits. `cvt.rm.ftz.f16.f32` and \
    `cvt.rp.ftz.f16.f32` flush no operand. `tex.1d` of an array with integer coordinates gives 0.\n\n\
    Where both allow more than one result, results differ:\n\n\
    - The GPU flushes subnormal operands and results of `atom.add.f32` and `red.add.f32` in global memory, and passes a NaN of \
    f64 sums in memory on; Strata flushes none, and its NaN there is canonical.\n\
    - Sums of inexact products of 8-bit floating-point numbers (`mma`, `wgmma`): Strata rounds each to nearest. Those of \
    `m8n8k4` of f16 it adds as those of other shapes.\n\
    - Linear filters round the last bit otherwise, and normalized coordinates on the border between two texels fall to either.\n\n\
    The approximate functions are rounded to nearest here. Their distance from the GPU's results, in units of the last place (of \
    the upper half where only that is computed) or, where results come near zero, absolute:\n\n\
    | function | operands | number | the same | most | most, absolute |\n\
    |---|---|---|---|---|---|\n\
    | `ex2.approx.ftz.f32` | all | 16,382 | 73.2 % | 2 | - |\n\
    | `rcp.approx.ftz.f32` | all | 16,382 | 86.3 % | 1 | - |\n\
    | `rsqrt.approx.ftz.f32` | all | 8,210 | 77.8 % | 1 | - |\n\
    | `sqrt.approx.ftz.f32` | all | 8,210 | 83.8 % | 1 | - |\n\
    | `lg2.approx.ftz.f32` | outside 0.5 to 2 | 7,851 | 60.1 % | 2 | - |\n\
    | `lg2.approx.ftz.f32` | 0.5 to 2 | 359 | 20.9 % | - | 1.8e-07 |\n\
    | `sin.approx.ftz.f32` | -π to π | 5,438 | 6.8 % | - | 3.0e-07 |\n\
    | `cos.approx.ftz.f32` | -π to π | 5,438 | 70.5 % | - | 3.9e-07 |\n\
    | `tanh.approx.f32` | all | 16,382 | 77.7 % | - | 7.3e-06 |\n\
    | `div.approx.ftz.f32` | divisors of 2^-126 to 2^126 | 16,269 | 74.2 % | 2 | - |\n\
    | `div.full.ftz.f32` | all | 16,374 | 74.3 % | 2 | - |\n\
    | `rcp.approx.ftz.f64` | all | 16,381 | 92.9 % | 1 | - |\n\
    | `rsqrt.approx.ftz.f64` | all | 8,190 | 94.5 % | 1 | - |\n\
    | `rsqrt.approx.f64` | all | 8,189 | 73.5 % | 1 | - |\n\
    | `ex2.approx.f16` | all | 63,490 | 69.4 % | 1 | - |\n\
    | `ex2.approx.ftz.bf16` | all | 65,282 | 94.6 % | 1 | - |\n\
    | `tanh.approx.f16` | all | 63,490 | 76.8 % | 1 | - |\n\
    | `tanh.approx.bf16` | all | 65,282 | 96.8 % | 1 | - |\n";

/// What the page says of the one instruction that PTX does not have; `tests/indirect_mov.rs` holds it to that.
const EXTENSION: &str = "\n\
    ## An extension: moves by a computed register number\n\n\
    The Indirect-MOV of Morpheus (Darabi et al., MICRO 2022, 4.3.2) reads or writes the register whose number another \
    register holds. PTX has nothing like it, so a text asks for it in its target, and a machine must have it \
    (`sm.indirect_mov`); otherwise it is refused by name and place.\n\n\
    ```text\n\
    .target sm_86, indirect_mov\n\
    .reg .b32 %a[32];                  // an array of 1 to 128 registers, side by side\n\
    mov.indirect.b32 %value, %a[%i];   // %value = register %i of the array\n\
    mov.indirect.b32 %a[%i], %value;   // and the other way round\n\
    ```\n\n\
    The type may be `.b32`, `.u32`, `.s32` or `.f32`. A warp has one register of a number, so the index is one for all \
    lanes: the low 8 bits that the lowest executing lane holds, modulo the length of the array. A guard leaves lanes out as \
    in any move. A read takes two reads of the register file, one after the other: the operand collector asks for the \
    register when its number has arrived. Later instructions wait as if every register of the array were read or written. A \
    number that the text gives makes an ordinary `mov`.\n";

/// What the page says of mapped shared memory; `src/reference/mapping_tests.rs` holds it to that.
const TILES: &str = "\n\
    ## Functions of the device: tiles of global memory\n\n\
    Stash (Komuravelli et al., ISCA 2015) maps shared memory to global memory (3.1), and compares that with a DMA engine \
    between the two (5.3). Programs call functions that the device provides, declared as here:\n\n\
    ```text\n\
    .extern .func stash_add_map(.param .b32 stash_base, .param .b64 global_base, .param .b32 field_size,\n\
    \u{20}   .param .b32 object_size, .param .b32 row_size, .param .b32 stride_size, .param .b32 num_strides,\n\
    \u{20}   .param .b32 is_coherent);\n\
    .extern .func stash_chg_map(.param .b32 index, /* the same eight */);\n\
    .extern .func dma_load(.param .b32 shared_base, .param .b64 global_base, .param .b32 field_size,\n\
    \u{20}   .param .b32 object_size, .param .b32 row_size, .param .b32 stride_size, .param .b32 num_strides);\n\
    .extern .func dma_store(/* the same seven */);\n\
    ```\n\n\
    The tile is `num_strides` rows, `stride_size` bytes apart, of `row_size` objects of `object_size` bytes, whose field of \
    `field_size` bytes begins at `global_base` in the first. In shared memory the fields follow each other from \
    `stash_base` or `shared_base` on, an address as `ld.shared` takes it. Sizes are numbers of words of 4 bytes; an array of \
    smaller scalars (`field_size` = `object_size`) is mapped as words if its rows are. `stride_size` means nothing for a \
    single row.\n\n\
    A call is an operation of the CTA: each warp that executes it does it once, with the operands of its first active \
    thread. A `bar.sync` behind it orders it before what the CTA's other warps do.\n\n\
    **Mappings.** The n-th `stash_add_map` of a CTA makes mapping n, counted from 0; there are at most 4 (4.1.2). \
    `ld.shared` and `st.shared` name theirs in bits 31 to 28 of the address, as 1 + n; 0 names none (3.2). A word of a \
    coherent mapping is the global word. A word of a non-coherent one is a copy of the CTA's own: its first read takes the \
    global word, and writes to it stay here. `stash_chg_map` gives mapping `index` another tile or mode. For the same tile, \
    a mapping that becomes coherent writes its copies' written words to global memory; one that becomes non-coherent \
    starts with no copies that the program can tell from global words. All mappings end with the CTA. What shared memory \
    holds where a mapping was is undefined.\n\n\
    Refused, with kernel, line, thread and values: a fifth mapping; `stash_base` not on a chunk of 64 bytes; two mappings \
    of a CTA in one chunk, or (by the reference executor) a global word coherent in both; tiles outside memory or shared memory; accesses that name a \
    mapping and are not in it, are no whole words (footnote 5), or are anything but `ld` and `st`; accesses without a mapping \
    to words that one has.\n\n\
    **Copies.** `dma_load` copies the tile to shared memory, `dma_store` back. The warp goes on when \
    they are done. Until then no memory operation of the SM begins or, with `scratchpad.dma.blocks = \"warp\"`, none of that \
    warp: the rest of its CTA needs a barrier.\n\n\
    A machine without a stash or DMA engine refuses the call when it is executed. The reference executor has both.\n";

fn page(families: &[(&str, Vec<Form<'_>>)], altogether: &BTreeSet<&str>) -> String {
    let mut page = String::from(
        "# PTX\n\n\
         The PTX that Strata executes, by family, and the PTX that it refuses by name and place. A test parses and \
         lowers every form below and writes this page (`crates/ptx/tests/forms.rs`). `(.a,.b)` stands for one of \
         the words, `[.a]` for one or none. The PTX ISA defines what a type means for an operand. The target does \
         not change what is executed.\n",
    );
    page.push_str(
        "\nThe second column names the checks of what a form computes. The executors share the code of an operation, so they \
         cannot check each other; each of these was made without it:\n\n",
    );
    for Oracle { name, what, .. } in ORACLES {
        writeln!(page, "- **{name}**: {what}").expect("a string");
    }
    page.push_str(WARPS);
    page.push_str(LIMITS);
    for (name, forms) in families {
        write!(page, "\n## {name}\n\n| executed | checked by |\n|---|---|\n").expect("a string");
        // Forms that differ in their operands have a row together.
        let mut rows: Vec<(&str, Vec<&str>)> = Vec::new();
        for form in forms.iter().filter(|form| !form.refused) {
            let at = rows.iter().position(|(words, _)| *words == form.words);
            let at = at.unwrap_or_else(|| {
                rows.push((form.words, Vec::new()));
                rows.len() - 1
            });
            let checks = &mut rows[at].1;
            checks.extend(
                form.oracles.iter().copied().filter(|name| !checks.contains(name)).collect::<Vec<_>>(),
            );
        }
        for (words, checks) in rows {
            writeln!(page, "| `{words}` | {} |", checks.join(", ")).expect("a string");
        }
        let refused: Vec<String> =
            forms.iter().filter(|form| form.refused).map(|form| format!("`{}`", form.words)).collect();
        if !refused.is_empty() {
            write!(page, "\nRefused: {}.\n", refused.join(", ")).expect("a string");
        }
    }
    page.push_str(HINTS);
    page.push_str(GPU);
    page.push_str(EXTENSION);
    page.push_str(TILES);
    let list: Vec<String> = altogether.iter().map(|opcode| format!("`{opcode}`")).collect();
    write!(page, "\n## Refused altogether\n\n{}.\n", list.join(", ")).expect("a string");
    page
}

#[test]
fn the_page_says_what_is_executed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let data = std::fs::read_to_string(root.join("tests/forms.txt")).expect("the forms lie beside the test");
    let families = families(&data);
    let mut wrong = Vec::new();
    for form in families.iter().flat_map(|(_, forms)| forms) {
        for words in form.expansions() {
            let instruction = format!("{words} {}", form.operands);
            match (verdict(&instruction), form.refused) {
                (Ok(()), false) | (Err((true, _)), true) => {}
                (Ok(()), true) => wrong.push(format!("{instruction}: accepted")),
                (Err((_, why)), _) => wrong.push(format!("{instruction}: {why}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{} instructions:\n{}", wrong.len(), wrong.join("\n"));

    // Every opcode that the front end knows is on the page, and no other.
    let source = include_str!("../src/front/lower/dispatch.rs");
    let (_, source) = source.split_once("const REFUSED").expect("the list of the refused opcodes");
    let (refused, source) = source.split_once("];").expect("its end");
    let (_, source) = source.split_once("match opcode {").expect("the families");
    let (executed, _) = source.split_once("_ if REFUSED").expect("their end");
    let refused = quoted(refused);
    let executed: BTreeSet<&str> = executed
        .lines()
        .filter_map(|line| line.split("=>").next())
        .map(|arm| arm.split(" if ").next().unwrap_or(arm))
        .flat_map(quoted)
        .collect();
    let shown: BTreeSet<&str> =
        families.iter().flat_map(|(_, forms)| forms).filter(|form| !form.refused).map(Form::opcode).collect();
    assert_eq!(shown, executed, "opcodes in forms.txt and in dispatch.rs");
    for opcode in &refused {
        let verdict = verdict(opcode);
        assert!(matches!(verdict, Err((true, _))), "`{opcode}` is refused by name: {verdict:?}");
    }

    let path = root.join("../../docs/ptx.md");
    let page = page(&families, &refused);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        return std::fs::write(path, page).expect("the page can be written");
    }
    assert!(
        std::fs::read_to_string(path).is_ok_and(|old| old == page),
        "docs/ptx.md is out of date: UPDATE_EXPECT=1 cargo test -p strata-ptx --test forms writes it"
    );
}

#[test]
fn every_form_has_an_oracle_that_covers_it() {
    let data = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/forms.txt"))
        .expect("the forms lie beside the test");
    let mut wrong = Vec::new();
    for form in families(&data).iter().flat_map(|(_, forms)| forms).filter(|form| !form.refused) {
        if form.oracles.is_empty() {
            wrong.push(format!("{} {}: nothing says what it computes", form.words, form.operands));
        }
        for name in &form.oracles {
            match Oracle::named(name) {
                None => wrong.push(format!("{}: no oracle `{name}`", form.words)),
                Some(oracle) if !oracle.covers(form) => {
                    wrong.push(format!("{} {}: `{name}` has nothing of it", form.words, form.operands));
                }
                Some(_) => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{} forms:\n{}", wrong.len(), wrong.join("\n"));
}
