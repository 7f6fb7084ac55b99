//! Compressed sets (4.3.1): as plain ones while all their registers are uncompressed; the same bytes, whatever the levels are;
//! as deep as they say; classes as the base-delta library has them; and more blocks than registers.

use strata_engine::seed::Stream;
use strata_gpu::extended_llc::{ENTRY, Indirection, Kernel, Levels, Requests, result};
use strata_memory::atomic::AtomicType;
use strata_memory::base_delta::{DeltaWidth, narrowest};

use super::bench::{Outcome, Sets};
use super::model::{Action, Answer, Bytes, Request, Set};
use super::{Case, INDIRECTIONS, in_registers, rtx3080};

/// An epoch that never ends.
const NEVER: u32 = u32::MAX;

fn compressed(indirection: Indirection, warps: u32, ways: u32, epoch: u32) -> Sets {
    with(Levels::History, indirection, (warps, ways, epoch))
}

fn with(levels: Levels, indirection: Indirection, (warps, ways, epoch): (u32, u32, u32)) -> Sets {
    let plain = in_registers(indirection, warps, ways);
    Sets { kernel: Kernel { compression: Some(levels), ..plain.kernel }, epoch, ..plain }
}

/// A block whose words differ from the first by so many bits with their sign; anything with 32.
fn block(stream: &mut Stream, bits: u32) -> Bytes {
    let base = stream.below(1 << 32) as u32;
    let mut bytes = [0; 128];
    for (at, word) in bytes.chunks_mut(4).enumerate() {
        let delta = stream.below(1 << bits) as u32;
        let delta = (delta << (32 - bits)) as i32 >> (32 - bits);
        let value = base.wrapping_add(if at == 0 { 0 } else { delta as u32 });
        word.copy_from_slice(&value.to_le_bytes());
    }
    bytes
}

/// Any kind of block; the edges of the classes often.
fn any_block(stream: &mut Stream) -> Bytes {
    const BITS: [u32; 8] = [1, 7, 8, 8, 9, 16, 17, 32];
    let bits = BITS[stream.below(8) as usize];
    let mut bytes = block(stream, bits);
    if matches!(bits, 8 | 16) && stream.below(4) == 0 {
        // One word is just too far away.
        let base = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let (half, at) = (1 << (bits - 1), 4 * (1 + stream.below(31) as usize));
        let far = [base.wrapping_add(half), base.wrapping_sub(half + 1)][stream.below(2) as usize];
        bytes[at..at + 4].copy_from_slice(&far.to_le_bytes());
    }
    bytes
}

/// Random requests over blocks of every kind. Nothing clean is inserted, since it would have to be what memory has; at the end all
/// is flushed.
fn varied(sets: Sets, count: usize, seed: u64) -> Case {
    let mut stream = Stream::new(seed, "compressed");
    let (pool, number) = (sets.ways as usize * 3 + 2, sets.count());
    let memory = (0..pool * number).map(|_| any_block(&mut stream)).collect();
    let mut list = |set: usize| {
        let mut list = super::requests::requests(&mut stream, count, pool, |block| block * number + set);
        for request in &mut list {
            request.payload = any_block(&mut stream);
            let is_whole = stream.below(4) != 0;
            match &mut request.action {
                Action::Insert { dirty } => *dirty = true,
                // What changes a few words leaves little that can be compressed.
                Action::Write(bytes) if is_whole => *bytes = u128::MAX,
                Action::Atomic(..) if is_whole => request.action = Action::Read,
                Action::Atomic(_, AtomicType::F64, _) => request.action = Action::Read,
                _ => {}
            }
        }
        list.push(Request { action: Action::Flush, ..list[0].clone() });
        list
    };
    Case { sets, requests: (0..number).map(&mut list).collect(), memory }
}

/// The bytes that come back and stay in memory are those of memory alone. A block that is there was used among the last, by the
/// depth told before.
fn check(case: &Case, outcome: &Outcome) -> Result<(), String> {
    let mut memory = case.memory.clone();
    for (set, (requests, answers)) in case.requests.iter().zip(&outcome.answers).enumerate() {
        let (mut model, mut recent, mut depth) = (Set::through(), Vec::new(), 0);
        for (at, (request, found)) in requests.iter().zip(answers).enumerate() {
            let place = format!("set {set}, request {at}, {:?} of block {}", request.action, request.block);
            let told = result::told(found.result);
            let expected = model.serve(request, &mut memory);
            if found.payload != expected.payload || !matches!(told.result, result::HIT | result::MISSED) {
                return Err(format!("{place}: found {found:?}, expected {expected:?}"));
            }
            if request.action == Action::Flush {
                continue;
            }
            let used = recent.iter().rev().position(|block| *block == request.block);
            if told.result == result::HIT && used.is_none_or(|used| used >= depth as usize) {
                return Err(format!("{place}: a hit at {used:?} of a set {depth} deep"));
            }
            recent.retain(|block| *block != request.block);
            recent.push(request.block);
            depth = told.depth;
            if depth == 0 || depth > 127 {
                return Err(format!("{place}: {depth} deep"));
            }
        }
    }
    match outcome.memory.iter().zip(&memory).position(|(found, expected)| found != expected) {
        Some(block) => Err(format!("block {block} of memory differs at the end")),
        None => Ok(()),
    }
}

#[test]
fn thirty_two_registers_of_blocks_fit_those_of_32_warps() {
    for (&indirection, requests) in
        INDIRECTIONS.iter().flat_map(|way| [(way, Requests::Held), (way, Requests::Polled)])
    {
        let text = Kernel {
            warps: 32,
            ctas: 1,
            ways: 32,
            shared_ways: 50,
            indirection,
            requests,
            fetches: requests == Requests::Polled,
            compression: Some(Levels::History),
        }
        .text();
        let module = strata_workloads::Module { name: "extended_llc.ptx", text: &text };
        let mut program =
            strata_gpu::program::Program::parse(module, rtx3080(&[]).compile_options()).unwrap();
        let kernel = program.kernel(ENTRY).unwrap();
        println!("{indirection:?}: {} registers, {} instructions", kernel.registers, kernel.code.len());
        // 48 warps would have 40.
        assert!((41..=64).contains(&kernel.registers), "{indirection:?}: {} registers", kernel.registers);
        assert_eq!(kernel.spill_bytes, 0, "{indirection:?}");
        assert_eq!(rtx3080(&[]).resident_ctas(&kernel, 32 * 32, 0), 1);
    }
}

/// Random requests that a plain set answers in the same way.
fn plain(sets: Sets, seed: u64) -> Case {
    let mut case = Case::random(sets, 400, seed);
    // A plain set brings the block of an atomic that it refuses, a compressed one does not.
    for request in case.requests.iter_mut().flatten() {
        if matches!(request.action, Action::Atomic(_, AtomicType::F64, _)) {
            request.action = Action::Read;
        }
    }
    case
}

#[test]
fn with_all_registers_uncompressed_a_set_is_a_plain_one() {
    for &indirection in INDIRECTIONS {
        for (seed, ways) in [4, 7, 32].into_iter().enumerate() {
            plain(compressed(indirection, 2, ways, NEVER), seed as u64)
                .on_reference(|text| text)
                .unwrap_or_else(|error| panic!("{indirection:?}, {ways} ways: {error}"));
        }
    }
}

#[test]
fn bytes_are_right_whatever_the_levels() {
    for &indirection in INDIRECTIONS {
        for (seed, (ways, epoch)) in
            [(4, 900), (4, 10_000), (9, 60_000), (32, 100_000)].into_iter().enumerate()
        {
            let case = varied(compressed(indirection, 2, ways, epoch), 500, seed as u64);
            let outcome = case.on_reference_with(&case.sets.text()).expect("it runs");
            check(&case, &outcome).unwrap_or_else(|error| panic!("{indirection:?}, {ways} ways: {error}"));
        }
        for levels in [Levels::History, Levels::Epoch] {
            let case = varied(with(levels, indirection, (2, 6, 10_000)), 300, 77);
            let outcome = case.on_machine_unchecked(&rtx3080(&[]), &case.sets.text()).expect("it runs");
            check(&case, &outcome)
                .unwrap_or_else(|error| panic!("{indirection:?}, {levels:?}, modelled: {error}"));
        }
    }
}

/// The class that the kernel finds, in a row's last line, is that of the base-delta library: whatever is put in. Classes are
/// counted ten bits apart.
#[test]
fn classes_are_those_of_the_base_delta_library() {
    let sets = compressed(Indirection::Instruction, 1, 4, NEVER);
    let mut stream = Stream::new(5, "classes");
    let memory = vec![[0; 128]; 16];
    let insertion = |at: usize, stream: &mut Stream| Request {
        action: Action::Insert { dirty: true },
        block: at % 16,
        payload: any_block(stream),
        swap: [0; 128],
    };
    let list: Vec<Request> = (0..600).map(|at| insertion(at, &mut stream)).collect();
    let expected: Vec<u32> = list
        .iter()
        .map(|request| {
            let words: Vec<u32> =
                request.payload.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
            match narrowest(&words) {
                Some(DeltaWidth::Zero | DeltaWidth::One) => 0,
                Some(DeltaWidth::Two) => 10,
                None => 20,
            }
        })
        .collect();
    assert!([0, 10, 20].iter().all(|class| expected.iter().filter(|found| *found == class).count() > 50));
    let case = Case { sets, requests: vec![list], memory };
    let put = "\tadd.u32 %counts, %counts, %u;\n";
    let text = case.sets.text();
    assert!(text.contains(put));
    let telling = text.replace(put, &format!("{put}\tst.relaxed.gpu.global.u32 [%row+384], %t;\n"));
    let outcome = case.on_reference_with(&telling).expect("it runs");
    assert_eq!(outcome.served[0], expected);
}

/// Blocks in turn: after some epochs all of those are there that the levels have room for.
#[test]
fn a_set_of_alike_blocks_holds_up_to_four_times_as_many() {
    // Of 8 registers one stays uncompressed: 7 x 4 blocks and 7 x 2.
    for (bits, held) in [(8, 28), (16, 14), (32, 8)] {
        for count in [held, 2 * held] {
            let mut stream = Stream::new(bits.into(), "alike");
            let memory: Vec<Bytes> = (0..count).map(|_| block(&mut stream, bits)).collect();
            let read = |at: usize| Request {
                action: Action::Read,
                block: at % count,
                payload: [0; 128],
                swap: [0; 128],
            };
            let requests = vec![(0..60 * count).map(read).collect()];
            let sets = compressed(Indirection::Instruction, 1, 8, 20_000);
            let case = Case { sets, requests, memory };
            let outcome = case.on_reference_with(&case.sets.text()).expect("it runs");
            check(&case, &outcome).expect("bytes are right");
            let last = &outcome.answers[0][59 * count..];
            let hits =
                last.iter().filter(|answer: &&Answer| result::told(answer.result).result == result::HIT);
            let hits = hits.count();
            // One may still be in the register that stayed uncompressed.
            let expected = if count == held { count..=count } else { 0..=1 };
            assert!(expected.contains(&hits), "{hits} hits of {count} blocks of {bits} bits");
        }
    }
}

/// Counters of put blocks go on over epochs and do not run over: levels that suit the blocks stay as they are.
#[test]
fn levels_that_suit_stay() {
    let mut stream = Stream::new(8, "stay");
    let blocks: Vec<Bytes> = (0..28).map(|_| block(&mut stream, 8)).collect();
    let insertion = |at: usize| Request {
        action: Action::Insert { dirty: true },
        block: at % blocks.len(),
        payload: blocks[at % blocks.len()],
        swap: [0; 128],
    };
    let requests = vec![(0..2600).map(insertion).collect()];
    let sets = compressed(Indirection::Instruction, 1, 8, 20_000);
    let case = Case { sets, requests, memory: blocks.clone() };
    let misses = |text: &str| {
        let outcome = case.on_reference_with(text).expect("it runs");
        let late = outcome.answers[0][1000..].iter();
        late.filter(|answer| result::told(answer.result).result == result::MISSED).count()
    };
    let (text, halving) = (case.sets.text(), "\tand.b32 %index, %counts, 0x20080200;\n");
    assert!(text.contains(halving));
    assert_eq!(misses(&text), 0);
    assert!(misses(&text.replace(halving, "\tmov.b32 %index, 0;\n")) > 0);
}

/// Where only blocks of the epoch count, levels follow what comes at once; where all do, only once it outweighs what came before.
#[test]
fn levels_follow_the_epoch_or_the_history() {
    let mut stream = Stream::new(9, "turn");
    let narrow: Vec<Bytes> = (0..28).map(|_| block(&mut stream, 8)).collect();
    let wide: Vec<Bytes> = (0..8).map(|_| block(&mut stream, 32)).collect();
    let memory: Vec<Bytes> = narrow.iter().chain(&wide).copied().collect();
    let insertion = |block: usize| Request {
        action: Action::Insert { dirty: true },
        block,
        payload: memory[block],
        swap: [0; 128],
    };
    // Narrow blocks fill the set; wide ones come for a while; which narrow ones are left? Those used last are asked for first, so that
    // what is brought drives out none that is still to be asked for.
    let before = 20 * narrow.len();
    let list: Vec<Request> =
        (0..before).map(|at| at % narrow.len()).chain((0..40).map(|at| 28 + at % 8)).map(insertion).collect();
    let read = |block: usize| Request { action: Action::Read, ..insertion(block) };
    let list: Vec<Request> = list.into_iter().chain((0..28).rev().map(read)).collect();
    let left = |levels| {
        let sets = with(levels, Indirection::Instruction, (1, 8, 5_000));
        let case = Case { sets, requests: vec![list.clone()], memory: memory.clone() };
        let outcome = case.on_reference_with(&case.sets.text()).expect("it runs");
        check(&case, &outcome).expect("bytes are right");
        let reads = &outcome.answers[0][before + 40..];
        reads.iter().filter(|answer| result::told(answer.result).result == result::HIT).count()
    };
    let (history, epoch) = (left(Levels::History), left(Levels::Epoch));
    assert!(history > 7 && epoch == 0, "{history} and {epoch} narrow blocks are left");
}

/// Mistakes that only a compressed set can make.
const MISTAKES: &[(&str, &str, &str)] = &[
    ("a base is lost", "\t@%in mov.u32 %b2, %base;\n", ""),
    (
        "a delta without its sign",
        "\tbfe.s32 %value, %value, %info, %u;\n",
        "\tbfe.u32 %value, %value, %info, %u;\n",
    ),
    ("a class too narrow", "\tsetp.lt.s32 %p, %t, 7;\n", "\tsetp.lt.s32 %p, %t, 8;\n"),
    ("a level that shrinks loses its blocks", "\tor.b32 %slot, %slot, 0x200;\n\tbra.uni R_SAVE;\n", ""),
    ("a dirty victim is dropped", "\tor.b32 %slot, %slot, 0x100;\n\tbra.uni R_LEAVE;\n", ""),
    ("a depth one too small", "0xffffff00, 0x8001;\n", "0xffffff00, 0x7f01;\n"),
    ("a level that is gone still takes blocks", "\tor.b32 %map, %map, %k;\n", "\tor.b32 %map, %map, 8;\n"),
];

#[test]
fn mistakes_are_found() {
    let case = varied(compressed(Indirection::Instruction, 2, 12, 50_000), 900, 9);
    let run = |text: &str| case.on_reference_with(text).and_then(|outcome| check(&case, &outcome));
    let text = case.sets.text();
    run(&text).expect("the kernel is right");
    let mut missed = Vec::new();
    for (what, right, wrong) in MISTAKES {
        assert!(text.contains(right), "{what}: the text has changed");
        if run(&text.replace(right, wrong)).is_ok() {
            missed.push(what);
        }
    }
    assert!(missed.is_empty(), "not found: {missed:?}");
}

/// Mistakes with a block that comes while no register is compressed.
const MISTAKES_OF_PLAIN_SETS: &[(&str, &str, &str)] = &[
    ("a dirty victim is dropped", "\tst.relaxed.gpu.global.u32 [%at], %old;\nR_VACANT:\n", "R_VACANT:\n"),
    ("a new block counts as free", "\t@%in bfi.b32 %rank, 127, %rank, 0, 8;\n", ""),
    (
        "a dirty block is clean",
        "\tselp.b32 %entry, 1, 0, %p;\n\tld.relaxed",
        "\tmov.u32 %entry, 0;\n\tld.relaxed",
    ),
    ("others do not age", "\tsub.u32 %rank, %rank, %t;\n\t@%in bfi", "\t@%in bfi"),
];

#[test]
fn mistakes_of_plain_sets_are_found() {
    let case = plain(compressed(Indirection::Instruction, 2, 6, NEVER), 9);
    case.on_reference(|text| text).expect("the kernel is right");
    for (what, right, wrong) in MISTAKES_OF_PLAIN_SETS {
        let change = |text: String| {
            assert!(text.contains(right), "{what}: the text has changed");
            text.replace(right, wrong)
        };
        assert!(case.on_reference(change).is_err(), "not found: {what}");
    }
}
