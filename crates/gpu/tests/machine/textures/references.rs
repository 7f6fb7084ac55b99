//! References of a module: `.texref` and `.surfref`, bound by the host.

use strata_gpu::device::Backend;
use strata_ptx::ir::Opaque;
use strata_ptx::isa::Geometry;
use strata_ptx::texture::{Channel, Format, Header, Texture};
use strata_workloads::{DeviceError, Failure};

use super::bench::{Bench, Spec, THREADS, functional, kernel, machine, modelled};
use super::fetches::texels;
use crate::support::PLAIN;

const FORMAT: Format = Format { channel: Channel::S32, channels: 1 };

fn linear() -> Spec {
    Spec { array: false, format: FORMAT, ..Spec::new(Geometry::D1, [100, 1, 1]) }
}

/// Fetches by name and through a register that holds the reference; stores to a surface by name.
fn text() -> String {
    kernel(
        ".global .texref numbers; .tex .u64 older; .global .surfref marks;",
        "tex.1d.v4.s32.s32 {%r4, _, _, _}, [numbers, {%r0}]; mov.u64 %rd4, numbers; \
         tex.1d.v4.s32.s32 {%r5, %r12, %r13, %r14}, [%rd4, {%r1}]; \
         tex.1d.v4.s32.s32 {%r6, %r12, %r13, %r14}, [older, {%r2}]; \
         shl.b32 %r15, %r11, 2; sust.b.1d.b32.zero [marks, {%r15}], %r11;",
    )
}

/// Nothing is bound yet: the first fetch fails, and says so.
fn unbound<B: Backend>(backend: B) {
    let machine = machine();
    let spec = linear();
    let (bytes, _) = texels(&spec);
    let mut bench = Bench::new(backend, &machine, &text(), &spec, &bytes);
    let (card, module) = (&bench.card, bench.module);
    assert!(card.reference(module, "marks", Opaque::Surface).is_some());
    assert_eq!(card.reference(module, "marks", Opaque::Texture), None, "a surface is no texture");
    assert!(card.variable(module, "numbers").is_err(), "a reference is no variable");
    let error = bench.run(0, &[[0; 4]; THREADS as usize]).unwrap_err();
    assert!(matches!(&error, DeviceError::Failed { failure: Failure::Other, .. }), "{error}");
    assert!(error.to_string().contains("no live texture"), "{error}");
}

fn bound<B: Backend>(backend: B) -> (Vec<[u32; 4]>, Vec<u8>) {
    let machine = machine();
    let spec = linear();
    let (bytes, plain) = texels(&spec);
    let mut bench = Bench::new(backend, &machine, &text(), &spec, &bytes);
    let module = bench.module;
    let reference = |bench: &Bench<B>, name, kind| bench.card.reference(module, name, kind).unwrap();
    for name in ["numbers", "older"] {
        let handle = reference(&bench, name, Opaque::Texture);
        let texture: Texture = spec.texture(bench.image);
        bench.card.bind_texture(handle, texture).unwrap();
    }
    let surface = Spec { format: FORMAT, ..Spec::new(Geometry::D1, [150, 1, 1]) };
    let marks = surface.image(&mut bench.card, &vec![0; 600]);
    let handle = reference(&bench, "marks", Opaque::Surface);
    bench.card.bind_surface(handle, marks).unwrap();
    let words: Vec<[u32; 4]> = (0..THREADS).map(|n| [n % 100, (n + 7) % 100, (n + 31) % 110, 0]).collect();
    let results = bench.run(0, &words).unwrap();
    for (found, word) in results.iter().zip(&words) {
        for n in 0..3 {
            let expected = plain.at_integers(None, [word[n] as i32, 0, 0])[0];
            assert_eq!(f64::from(found[n] as i32), expected, "{word:?}");
        }
    }
    let mut marked = vec![0; 600];
    bench.card.read_row(&marks, (0, 0, 0), &mut marked).unwrap();
    for (n, mark) in marked.chunks(4).enumerate() {
        assert_eq!(u32::from_le_bytes(mark.try_into().unwrap()), n as u32);
    }
    // Bound anew, the same kernel reads the other texels.
    let mirrored: Vec<u8> = bytes.chunks(4).rev().flatten().copied().collect();
    let other = spec.image(&mut bench.card, &mirrored);
    let handle = reference(&bench, "numbers", Opaque::Texture);
    bench.card.bind_texture(handle, spec.texture(other)).unwrap();
    let again = bench.run(0, &words).unwrap();
    for (found, word) in again.iter().zip(&words) {
        let expected = plain.at_integers(None, [99 - word[0] as i32, 0, 0])[0];
        assert_eq!(f64::from(found[0] as i32), expected);
    }
    assert!(bench.card.unload(module));
    assert_eq!(bench.card.header(handle), None, "a reference goes with its module");
    (again, marked)
}

#[test]
fn references_are_bound_and_bound_again() {
    let machine = machine();
    assert_eq!(bound(functional()), bound(modelled(&machine, PLAIN)));
}

#[test]
fn an_unbound_reference_is_a_fault() {
    let machine = machine();
    unbound(functional());
    unbound(modelled(&machine, PLAIN));
}

#[test]
fn headers_are_checked_when_they_are_made() {
    let machine = machine();
    let spec = linear();
    let (bytes, _) = texels(&spec);
    let mut bench = Bench::new(functional(), &machine, &text(), &spec, &bytes);
    let good = spec.texture(bench.image);
    let wrong = |change: &dyn Fn(&mut Texture)| {
        let mut texture = good;
        change(&mut texture);
        texture
    };
    for (texture, expected) in [
        (wrong(&|t| t.image.base += 8), "expected a multiple of 16"),
        (wrong(&|t| t.image.width = 1 << 20), "do not lie in one buffer"),
        (wrong(&|t| t.filter = strata_ptx::texture::Filter::Linear), "linear filter"),
        (wrong(&|t| t.read = strata_ptx::texture::Read::Normalized), "8 or 16 bits"),
        (wrong(&|t| t.image.format.channels = 3), "channels: found 3"),
        (wrong(&|t| t.image.geometry = Geometry::D2), "linear memory"),
    ] {
        let error = bench.card.create_texture(texture).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let handle = bench.card.create_texture(good).unwrap();
    assert!(matches!(bench.card.header(handle), Some(Header::Texture(found)) if *found == good));
    assert!(bench.card.destroy_header(handle) && !bench.card.destroy_header(handle));
    assert_ne!(bench.card.create_texture(good).unwrap(), handle, "a handle is never used again");
}
