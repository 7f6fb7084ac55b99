//! Kernels as a compiler writes them (`rotate.cu`), on both executors, against results computed here.

use strata_gpu::device::{Backend, Card};
use strata_gpu::program::Program;
use strata_ptx::ir::Opaque;
use strata_ptx::isa::Geometry;
use strata_ptx::texture::{Addressing, Channel, Filter, Format, Image, Layout};
use strata_workloads::{DevicePtr, Module, Shape};

use super::bench::{Spec, functional, machine, modelled};
use super::fetches::{close, texels};
use crate::support::PLAIN;

const PTX: &str = include_str!("rotate.ptx");

fn card<B: Backend>(backend: B) -> (Card<B>, strata_gpu::device::ModuleId) {
    let module = Module { name: "rotate.ptx", text: PTX };
    let program =
        Program::parse(module, machine().compile_options()).unwrap_or_else(|error| panic!("{error}"));
    let mut card = Card::new(backend);
    let module = card.load(program).unwrap();
    (card, module)
}

fn launch<B: Backend>(
    card: &mut Card<B>,
    module: strata_gpu::device::ModuleId,
    name: &str,
    shape: Shape,
    params: &[u8],
) {
    let entry = card.kernel(module, name).unwrap_or_else(|error| panic!("{error}"));
    card.launch(&entry, shape, params, &mut |_| {}).unwrap();
}

const SIDES: [u32; 2] = [61, 45];

fn rotated<B: Backend>(backend: B) -> Vec<u8> {
    let (mut card, module) = card(backend);
    let spec = Spec {
        addressing: Addressing::Border,
        filter: Filter::Linear,
        normalized: true,
        ..Spec::new(Geometry::D2, [SIDES[0], SIDES[1], 1])
    };
    let (bytes, plain) = texels(&spec);
    let from = spec.image(&mut card, &bytes);
    let to = spec.image(&mut card, &vec![0; bytes.len()]);
    let texture = card.create_texture(spec.texture(from)).unwrap();
    let surface = card.create_surface(to).unwrap();
    let angle = 0.4_f32;
    let mut params = [surface, texture].map(u64::to_le_bytes).concat();
    params.extend(SIDES.map(u32::to_le_bytes).concat());
    params.extend([angle.cos(), angle.sin()].map(f32::to_le_bytes).concat());
    launch(&mut card, module, "rotate", Shape::new([4, 6, 1], [16, 8, 1]), &params);
    let mut rows = Vec::new();
    for y in 0..SIDES[1] {
        let mut row = vec![0; to.row_bytes() as usize];
        card.read_row(&to, (0, y, 0), &mut row).unwrap();
        for (x, texel) in row.chunks(16).enumerate() {
            let u = (x as f32 + 0.5) / SIDES[0] as f32 - 0.5;
            let v = (y as f32 + 0.5) / SIDES[1] as f32 - 0.5;
            let at = [u * angle.cos() - v * angle.sin() + 0.5, u * angle.sin() + v * angle.cos() + 0.5, 0.0];
            for (n, expected) in plain.at(None, at).into_iter().enumerate() {
                let found = u32::from_le_bytes(texel[4 * n..4 * n + 4].try_into().unwrap());
                assert!(close(found, expected), "({x}, {y}): {} for {expected}", f32::from_bits(found));
            }
        }
        rows.extend(row);
    }
    rows
}

#[test]
fn an_image_is_turned() {
    assert!(rotated(functional()) == rotated(modelled(&machine(), PLAIN)));
}

/// A buffer as a texture of linear memory.
fn linear<B: Backend, T: Copy>(
    card: &mut Card<B>,
    channel: Channel,
    values: &[T],
    bytes: impl Fn(T) -> [u8; 4],
) -> Image {
    let at = card.alloc("values", 4 * values.len() as u64).unwrap();
    let data: Vec<u8> = values.iter().flat_map(|value| bytes(*value)).collect();
    card.write(at, &data).unwrap();
    let (format, geometry) = (Format { channel, channels: 1 }, Geometry::D1);
    Image {
        base: at.0,
        format,
        geometry,
        width: values.len() as u32,
        height: 1,
        depth: 1,
        layout: Layout::Linear,
    }
}

fn multiplied<B: Backend>(backend: B) -> Vec<u8> {
    let (mut card, module) = card(backend);
    let count = 300_usize;
    let lengths = (0..count).map(|row| row * row % 23);
    let mut rows = vec![0_i32];
    lengths.for_each(|length| rows.push(rows.last().unwrap() + length as i32));
    let entries = *rows.last().unwrap() as usize;
    let columns: Vec<i32> = (0..entries).map(|n| (n * 7919 % count) as i32).collect();
    let values: Vec<f32> = (0..entries).map(|n| (n % 17) as f32 * 0.25 - 2.0).collect();
    let vector: Vec<f32> = (0..count).map(|n| (n % 31) as f32 * 0.5 - 7.0).collect();
    let spec = Spec { array: false, ..Spec::new(Geometry::D1, [1, 1, 1]) };
    for (name, image) in [
        ("columns", linear(&mut card, Channel::S32, &columns, i32::to_le_bytes)),
        ("values", linear(&mut card, Channel::F32, &values, f32::to_le_bytes)),
    ] {
        let reference = card.reference(module, name, Opaque::Texture).unwrap();
        card.bind_texture(reference, spec.texture(image)).unwrap();
    }
    let x = linear(&mut card, Channel::F32, &vector, f32::to_le_bytes);
    let x = card.create_texture(spec.texture(x)).unwrap();
    let starts = linear(&mut card, Channel::S32, &rows, i32::to_le_bytes).base;
    let y = card.alloc("y", 4 * count as u64).unwrap();
    // The count is an int, padded to the alignment of what follows.
    let params = [y.0, starts, count as u64, x].map(u64::to_le_bytes).concat();
    launch(&mut card, module, "spmv", Shape::new([3, 1, 1], [128, 1, 1]), &params);
    let mut found = vec![0; 4 * count];
    card.read(DevicePtr(y.0), &mut found).unwrap();
    for (row, bytes) in found.chunks(4).enumerate() {
        let mut sum = 0.0_f32;
        for n in rows[row] as usize..rows[row + 1] as usize {
            sum += values[n] * vector[columns[n] as usize];
        }
        assert_eq!(f32::from_le_bytes(bytes.try_into().unwrap()), sum, "row {row}");
    }
    found
}

#[test]
fn a_sparse_matrix_is_multiplied() {
    assert!(multiplied(functional()) == multiplied(modelled(&machine(), PLAIN)));
}
