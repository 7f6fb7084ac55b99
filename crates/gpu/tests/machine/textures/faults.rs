//! What stops a kernel, and where.

use strata_ptx::isa::Geometry;
use strata_ptx::texture::Header;
use strata_workloads::DeviceError;

use super::bench::{Bench, Spec, THREADS, both, functional, kernel, machine, modelled};
use super::fetches::texels;
use crate::support::PLAIN;

const FETCH: &str = "tex.2d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%t, {%f0, %f1}];";

fn fails(
    body: &str,
    spec: &Spec,
    header: impl Fn(strata_ptx::texture::Image) -> Header,
    words: [u32; 4],
) -> String {
    let (bytes, _) = texels(spec);
    both(&kernel("", body), spec, &bytes, header, &[words; THREADS as usize]).unwrap_err()
}

#[test]
fn a_handle_must_be_of_what_the_instruction_wants() {
    let flat = Spec::new(Geometry::D2, [8, 8, 1]);
    let error = fails(FETCH, &flat, Header::Surface, [0; 4]);
    assert!(error.starts_with("Other") && error.contains("line 13"), "{error}");
    assert!(error.contains("is of a surface of geometry 2d, expected a texture of geometry 2d"), "{error}");
    let volume = Spec::new(Geometry::D3, [8, 8, 2]);
    let error = fails(FETCH, &volume, |image| Header::Texture(volume.texture(image)), [0; 4]);
    assert!(error.contains("is of a texture of geometry 3d, expected a texture of geometry 2d"), "{error}");
    let load = "suld.b.2d.b32.trap %r4, [%t, {%r0, %r1}];";
    let error = fails(load, &flat, |image| Header::Texture(flat.texture(image)), [0; 4]);
    assert!(error.contains("is of a texture of geometry 2d, expected a surface of geometry 2d"), "{error}");
}

#[test]
fn surfaces_trap_beyond_their_edge_and_at_odd_bytes() {
    let flat = Spec::new(Geometry::D2, [8, 8, 1]);
    let load = "suld.b.2d.b32.trap %r4, [%t, {%r0, %r1}];";
    for place in [[128, 0, 0, 0], [0, 8, 0, 0], [-4i32 as u32, 0, 0, 0], [0, u32::MAX, 0, 0]] {
        let error = fails(load, &flat, Header::Surface, place);
        assert!(error.starts_with("Other") && error.contains("beyond the edge"), "{error}");
    }
    let error = fails(load, &flat, Header::Surface, [6, 0, 0, 0]);
    assert!(error.starts_with("Misaligned"), "{error}");
}

#[test]
fn a_destroyed_texture_and_freed_memory_are_gone() {
    let machine = machine();
    let spec = Spec::new(Geometry::D2, [8, 8, 1]);
    let (bytes, _) = texels(&spec);
    let text = kernel("", FETCH);
    let words = [[0; 4]; THREADS as usize];
    let check = |error: DeviceError, what: &str| assert!(error.to_string().contains(what), "{error}");
    macro_rules! both_cards {
        ($do:expr, $what:expr) => {
            let mut bench = Bench::new(functional(), &machine, &text, &spec, &bytes);
            check($do(&mut bench), $what.0);
            let mut bench = Bench::new(modelled(&machine, PLAIN), &machine, &text, &spec, &bytes);
            check($do(&mut bench), $what.1);
        };
    }
    both_cards!(
        |bench: &mut Bench<_>| {
            let texture = spec.texture(bench.image);
            let handle = bench.card.create_texture(texture).unwrap();
            bench.run(handle, &words).unwrap();
            bench.card.destroy_header(handle);
            bench.run(handle, &words).unwrap_err()
        },
        ("is of no live texture", "is of no live texture")
    );
    both_cards!(
        |bench: &mut Bench<_>| {
            let texture = spec.texture(bench.image);
            let handle = bench.card.create_texture(texture).unwrap();
            bench.card.free(strata_workloads::DevicePtr(bench.image.base)).unwrap();
            bench.run(handle, &words).unwrap_err()
        },
        ("which holds no memory", "which lies in no allocation")
    );
}
