//! Sparse products on whole machines, against sums written here: A's elements are put where the metadata says by hand.

use half::f16;
use strata_gpu::device::ReferenceDevice;
use strata_gpu::machine::Machine;
use strata_workloads::{Arg, Device, Module, Shape};

use super::{number, upload, words};
use crate::support::{PLAIN, module, on_device};

/// A warp multiplies once: lane l has words 4 l of A, of B and of C, and word l of the metadata.
const TEXT: &str = ".visible .entry product(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 e)\n{\n\
    .reg .b64 %p, %q, %n, %m;\n.reg .b32 %t, %e, %a<4>, %b<4>;\n.reg .f32 %c<4>;\n\
    mov.u32 %t, %tid.x;\nmul.wide.u32 %n, %t, 16;\nmul.wide.u32 %m, %t, 4;\n\
    ld.param.u64 %p, [a];\nadd.u64 %p, %p, %n;\nld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%p];\n\
    ld.param.u64 %p, [b];\nadd.u64 %p, %p, %n;\nld.global.v4.b32 {%b0, %b1, %b2, %b3}, [%p];\n\
    ld.param.u64 %p, [e];\nadd.u64 %p, %p, %m;\nld.global.b32 %e, [%p];\n\
    ld.param.u64 %q, [c];\nadd.u64 %q, %q, %n;\nld.global.v4.f32 {%c0, %c1, %c2, %c3}, [%q];\n\
    mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%c0, %c1, %c2, %c3}, \
    {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3}, %e, 1;\n\
    st.global.v4.f32 [%q], {%c0, %c1, %c2, %c3};\nret;\n}\n";

/// The places of two elements among four, and their metadata.
const PAIRS: [([usize; 2], u32); 6] = [
    ([0, 1], 0b0100),
    ([0, 2], 0b1000),
    ([0, 3], 0b1100),
    ([1, 2], 0b1001),
    ([1, 3], 0b1101),
    ([2, 3], 0b1110),
];

/// Which pair chunk `n` of a row of A has.
fn pair(row: usize, n: usize) -> ([usize; 2], u32) {
    PAIRS[(row * 5 + n * 7) % 6]
}

fn a(row: usize, at: usize) -> f32 {
    number(row * 16 + at + 3)
}

fn b(k: usize, column: usize) -> f32 {
    number(k * 8 + column + 900)
}

fn c(row: usize, column: usize) -> f32 {
    number(row * 8 + column + 4000)
}

/// Two halves in a word.
fn word(low: f32, high: f32) -> [u8; 4] {
    let bits = [low, high].map(|value| u32::from(f16::from_f32(value).to_bits()));
    (bits[1] << 16 | bits[0]).to_le_bytes()
}

fn check(device: &mut dyn Device) {
    let (mut of_a, mut of_b, mut of_c, mut of_e) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (group, place) in (0..8).flat_map(|group| (0..4).map(move |place| (group, place))) {
        for register in 0..4 {
            let (row, at) = (group + register % 2 * 8, register / 2 * 8 + 2 * place);
            of_a.extend(word(a(row, at), a(row, at + 1)));
            let k = register * 8 + 2 * place;
            of_b.extend(word(b(k, group), b(k + 1, group)));
            let (row, column) = (group + register / 2 * 8, 2 * place + register % 2);
            of_c.extend(c(row, column).to_le_bytes());
        }
        // Places 2 and 3 of the group, as the selector says: four chunks of its row and of the one eight further.
        let chunk = |row: usize, n: usize| pair(row, n).1 << (4 * (n % 4));
        let metadata = |first: usize| -> u32 {
            (first..first + 4).map(|n| chunk(group, n) | chunk(group + 8, n) << 16).sum()
        };
        of_e.extend(if place < 2 { 0x1234_5678 } else { metadata(4 * (place - 2)) }.to_le_bytes());
    }
    let buffers = [("a", of_a), ("b", of_b), ("c", of_c), ("e", of_e)];
    let buffers = buffers.map(|(name, bytes)| upload(device, name, &bytes).unwrap());
    device.launch("product", Shape::new([1, 1, 1], [32, 1, 1]), &buffers.map(Arg::Ptr)).unwrap();
    let found = words(device, buffers[2], 128).unwrap();
    for (at, found) in found.into_iter().enumerate() {
        let (group, place, register) = (at / 16, at / 4 % 4, at % 4);
        let (row, column) = (group + register / 2 * 8, 2 * place + register % 2);
        let products = (0..16).map(|at| {
            let (chunk, which) = (at / 2, at % 2);
            a(row, at) * b(4 * chunk + pair(row, chunk).0[which], column)
        });
        assert_eq!(f32::from_bits(found), c(row, column) + products.sum::<f32>(), "D[{row}][{column}]");
    }
}

#[test]
fn sparse_products_take_the_elements_that_the_metadata_names() {
    let text = module(TEXT);
    for name in ["gtx480", "rtx3080"] {
        let machine = Machine::load(name, &[]).unwrap_or_else(|error| panic!("{error}"));
        let given = Module { name: "sparse", text: &text };
        let mut reference =
            ReferenceDevice::new(given, machine.compile_options(), 1 << 26, Default::default())
                .unwrap_or_else(|error| panic!("{error}"));
        check(&mut reference);
        on_device(&machine, PLAIN, &text, |device| check(device));
    }
}
