//! Freed memory and unloaded modules can be used again, by several modules, and in the same way on both
//! backends.

use crate::support::{PLAIN, gtx480, module};
use strata_gpu::device::{Backend, Card, Functional, Modelled};
use strata_gpu::gpu::Gpu;
use strata_gpu::machine::Machine;
use strata_gpu::program::{KernelError, Program};
use strata_workloads::{DeviceError, DevicePtr, Failure, Module, Shape};

/// Adds a constant variable of the module to each word of a buffer.
fn adder(constant: u32) -> String {
    module(&format!(
        ".global .align 4 .u32 calls;\n.const .align 4 .u32 step = {constant};\n\
         .visible .entry add(.param .u64 words) {{\n.reg .b32 %r<6>; .reg .b64 %rd<6>;\n\
         ld.param.u64 %rd0, [words];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %rd1, %r0, 4;\nadd.u64 %rd2, %rd0, %rd1;\n\
         ld.global.u32 %r1, [%rd2];\nld.const.u32 %r2, [step];\nadd.u32 %r3, %r1, %r2;\n\
         st.global.u32 [%rd2], %r3;\nred.global.add.u32 [calls], 1;\nret;\n}}\n"
    ))
}

fn load<B: Backend>(card: &mut Card<B>, machine: &Machine, text: &str) -> strata_gpu::device::ModuleId {
    let module = Module { name: "adder.ptx", text };
    let program = Program::parse(module, machine.compile_options()).expect("the text is right");
    card.load(program).expect("there is room")
}

fn word<B: Backend>(card: &mut Card<B>, at: DevicePtr) -> u32 {
    let mut bytes = [0; 4];
    card.read(at, &mut bytes).unwrap();
    u32::from_le_bytes(bytes)
}

/// Exercises a card's operations and returns the addresses that it hands out.
fn exercise<B: Backend>(mut card: Card<B>, machine: &Machine) -> Vec<u64> {
    let free = card.free_bytes();
    let (first, second) = (load(&mut card, machine, &adder(1)), load(&mut card, machine, &adder(10)));
    let words = card.alloc("words", 128).unwrap();
    card.fill(words, 0, 128).unwrap();
    let shape = Shape::new([1; 3], [32, 1, 1]);
    let block = words.0.to_le_bytes();
    let launches = [first, second, first];
    for id in launches {
        let entry = card.kernel(id, "add").unwrap();
        assert_eq!((entry.kernel.params.len(), entry.kernel.param_bytes), (1, 8));
        card.launch(&entry, shape, &block, &mut |_| {}).unwrap();
    }
    assert_eq!(word(&mut card, words.offset(124)), 12);
    let (calls, bytes) = card.variable(first, "calls").unwrap();
    assert_eq!((word(&mut card, calls), bytes), (64, 4));

    let stale = card.kernel(second, "add").unwrap();
    let its_variable = card.variable(second, "calls").unwrap().0;
    assert!(card.unload(second) && !card.unload(second));
    let error = card.launch(&stale, shape, &block, &mut |_| {}).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("its module has been unloaded"), "{error}");
    assert!(matches!(card.kernel(second, "add"), Err(KernelError::Unknown(_))));
    assert!(card.read(its_variable, &mut [0; 4]).is_err());
    let third = load(&mut card, machine, &adder(100));
    assert_eq!(card.variable(third, "calls").unwrap().0, its_variable, "the room is used again");
    assert_eq!(word(&mut card, its_variable), 0, "and zero again");
    let entry = card.kernel(third, "add").unwrap();
    card.launch(&entry, shape, &block, &mut |_| {}).unwrap();
    assert_eq!(word(&mut card, words), 112);

    let copy = card.alloc("copy", 200 << 10).unwrap();
    card.copy(copy, words, 128).unwrap();
    assert_eq!(word(&mut card, copy.offset(124)), 112);
    let ramp: Vec<u8> = (0..200 << 10).map(|n: u32| (n % 251) as u8).collect();
    card.write(copy, &ramp).unwrap();
    card.copy(copy.offset(1000), copy, 190 << 10).unwrap();
    let mut moved = vec![0; 190 << 10];
    card.read(copy.offset(1000), &mut moved).unwrap();
    assert!(moved == ramp[..190 << 10], "ranges that overlap are copied as if they did not");
    card.copy(copy, copy.offset(1000), 190 << 10).unwrap();
    card.read(copy, &mut moved).unwrap();
    assert!(moved == ramp[..190 << 10]);
    assert!(matches!(card.copy(copy, words, 129), Err(DeviceError::OutOfBounds { .. })));

    card.free(words).unwrap();
    assert_eq!(card.free(words), Err(DeviceError::NoBuffer { ptr: words }));
    assert!(card.unload(first) && card.unload(third));
    let addresses = vec![words.0, calls.0, its_variable.0, copy.0];
    let error = card.launch(&entry, shape, &block, &mut |_| {});
    assert!(error.is_err());
    card.free(copy).unwrap();
    assert!(card.free_bytes() <= free, "the code of kernels that ran was never allocated from the heap");
    assert_eq!(card.buffers(), []);
    addresses
}

#[test]
fn both_backends_do_the_same_at_the_same_addresses() {
    let machine = gtx480(&["gpu.sms=2"]);
    let gpu = Gpu::new(&machine, PLAIN).unwrap();
    let modelled = exercise(Card::new(Modelled::new(gpu, &machine).unwrap()), &machine);
    let functional = exercise(Card::new(Functional::new(1 << 30, Default::default())), &machine);
    assert_eq!(modelled, functional);
}

#[test]
fn a_freed_buffer_is_not_there_for_a_kernel() {
    let machine = gtx480(&["gpu.sms=2"]);
    let mut card = Card::new(Functional::new(1 << 30, Default::default()));
    let id = load(&mut card, &machine, &adder(1));
    let words = card.alloc("words", 128).unwrap();
    card.free(words).unwrap();
    let entry = card.kernel(id, "add").unwrap();
    let shape = Shape::new([1; 3], [32, 1, 1]);
    let error = card.launch(&entry, shape, &words.0.to_le_bytes(), &mut |_| {}).map(|_| ()).unwrap_err();
    assert!(matches!(error, DeviceError::Failed { failure: Failure::Address, .. }), "{error}");
}

#[test]
fn instructions_stay_in_their_cache_until_code_is_unloaded() {
    let machine = gtx480(&["gpu.sms=1"]);
    let gpu = Gpu::new(&machine, PLAIN).unwrap();
    let mut card = Card::new(Modelled::new(gpu, &machine).unwrap());
    let (first, second) = (load(&mut card, &machine, &adder(1)), load(&mut card, &machine, &adder(10)));
    let words = card.alloc("words", 128).unwrap().0.to_le_bytes();
    let shape = Shape::new([1; 3], [32, 1, 1]);
    let misses = |card: &mut Card<Modelled>, id| {
        let entry = card.kernel(id, "add").unwrap();
        card.launch(&entry, shape, &words, &mut |_| {}).unwrap();
        let groups = card.backend_mut().statistics();
        groups.iter().find(|group| group.name == "instruction_cache").unwrap().get("misses").unwrap()
    };
    let cold = misses(&mut card, first);
    assert!(cold > 0);
    assert_eq!(misses(&mut card, first), cold, "the code is still there");
    let both = misses(&mut card, second);
    assert!(both > cold);
    assert_eq!(misses(&mut card, first), both, "loading another kernel's code leaves the first one's");
    card.unload(second);
    assert!(misses(&mut card, first) > both, "unloading code empties the cache");
}
