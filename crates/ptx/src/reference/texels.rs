//! Texture fetches, and accesses to surfaces, of one warp.

use super::fault::FaultKind;
use super::observer::{Access, AccessKind, Issuer};
use super::part::LaneFault;
use super::world::World;
use crate::exec::memory::{Image as Words, gather, scatter};
use crate::exec::{Operands, atomic};
use crate::isa::{AtomicOp, Op, Space, SurfaceMode, TextureFetch};
use crate::lanes::{LaneMask, Row, WARP_LANES, lanes_of};
use crate::texture::filter::resolve;
use crate::texture::{
    Beyond, Footprint, Header, MAX_TEXEL_BYTES, MAX_TEXELS, coordinates, details, footprint, handle, level,
    place,
};

/// Executes a texture or surface instruction.
pub(super) fn execute<O: Operands>(
    by: Issuer<'_>,
    operands: &mut O,
    lanes: LaneMask,
    world: &mut World<'_>,
) -> Result<(), LaneFault> {
    match by.instruction.op {
        Op::Texture(fetch) => self::fetch(by, &fetch, operands, lanes, world),
        Op::TextureQuery(query) => {
            let mut answers = Row::ZERO;
            for lane in lanes_of(lanes) {
                let place =
                    world.headers.any(handle(operands, lane)).map_err(|reason| no_header(lane, reason))?;
                answers.0[lane] = world.headers.at(place).answer(query, level(operands, query, lane));
            }
            operands.write(0, 0, lanes, &answers);
            Ok(())
        }
        Op::SurfaceLoad(mode) => load(by, &mode, operands, lanes, world),
        Op::SurfaceStore(mode) => store(by, &mode, operands, lanes, world),
        Op::SurfaceReduce { op, mode } => reduce(by, (op, &mode), operands, lanes, world),
        op => unreachable!("{op:?} is not a texture instruction"),
    }
}

fn no_header(lane: usize, reason: String) -> LaneFault {
    (lane, FaultKind::Texture { reason })
}

fn fetch<O: Operands>(
    by: Issuer<'_>,
    fetch: &TextureFetch,
    operands: &mut O,
    lanes: LaneMask,
    world: &mut World<'_>,
) -> Result<(), LaneFault> {
    let mut rows = [Row::ZERO; 4];
    let mut footprints = [Footprint::EMPTY; WARP_LANES];
    for lane in lanes_of(lanes) {
        let headers = world.headers;
        let place = headers
            .texture(handle(operands, lane), fetch.geometry)
            .map_err(|reason| no_header(lane, reason))?;
        let Header::Texture(texture) = headers.at(place) else { unreachable!("a texture was asked for") };
        let at = coordinates(operands, fetch.geometry.coordinates(), lane);
        let footprint = footprint(texture, fetch, at, details(operands, fetch, lane));
        let mut texels = [[0; MAX_TEXEL_BYTES]; MAX_TEXELS];
        for (texel, bytes) in texels.iter_mut().enumerate() {
            if footprint.inside >> texel & 1 == 1 {
                let (address, length) = (footprint.addresses[texel], usize::from(footprint.bytes));
                let found = world
                    .global
                    .bytes(address, length)
                    .ok_or((lane, FaultKind::OutOfBounds { space: Space::Global, address, bytes: length }))?;
                bytes[..length].copy_from_slice(found);
            }
        }
        for (row, result) in rows.iter_mut().zip(resolve(texture, fetch, &footprint, &texels)) {
            row.0[lane] = result;
        }
        footprints[lane] = footprint;
    }
    show_footprints(by, &footprints, lanes, world);
    for (slot, row) in rows.iter().enumerate().take(fetch.results()) {
        operands.write(slot, 0, lanes, row);
    }
    Ok(())
}

/// Shows an access for each texel of the lanes' footprints.
fn show_footprints(
    by: Issuer<'_>,
    footprints: &[Footprint; WARP_LANES],
    lanes: LaneMask,
    world: &mut World<'_>,
) {
    let Some(observer) = &mut world.observer else { return };
    for texel in 0..MAX_TEXELS {
        for bytes in [1, 2, 4, 8, 16] {
            let reads = |lane: &usize| {
                footprints[*lane].inside >> texel & 1 == 1 && usize::from(footprints[*lane].bytes) == bytes
            };
            let lanes = lanes_of(lanes).filter(reads).fold(0, |mask, lane| mask | 1 << lane);
            if lanes != 0 {
                let addresses = std::array::from_fn(|lane| footprints[lane].addresses[texel]);
                let (kind, space) = (AccessKind::Load, Space::Global);
                observer.access(&Access {
                    by,
                    kind,
                    space,
                    lanes,
                    addresses: &addresses,
                    bytes,
                    written: None,
                });
            }
        }
    }
}

/// Where the lanes' surface accesses go, and which go anywhere.
fn places(
    by: Issuer<'_>,
    mode: &SurfaceMode,
    kind: AccessKind,
    operands: &impl Operands,
    lanes: LaneMask,
    world: &mut World<'_>,
) -> Result<([u64; WARP_LANES], LaneMask), LaneFault> {
    let mut addresses = [0; WARP_LANES];
    let mut inside = 0;
    for lane in lanes_of(lanes) {
        let handle = handle(operands, lane);
        let found = world.headers.surface(handle, mode.geometry).map_err(|reason| no_header(lane, reason))?;
        let at = coordinates(operands, mode.geometry.coordinates(), lane);
        let bytes = mode.bytes();
        let address = place(world.headers.at(found).image(), mode, at).map_err(|beyond| match beyond {
            Beyond::Trap => {
                let reason = format!("access beyond the edge of the surface of handle {handle:#x}");
                (lane, FaultKind::Texture { reason })
            }
            Beyond::Misaligned { byte } => {
                (lane, FaultKind::Misaligned { space: Space::Global, address: byte, bytes })
            }
        })?;
        if let Some(address) = address {
            if world.global.bytes(address, bytes).is_none() {
                return Err((lane, FaultKind::OutOfBounds { space: Space::Global, address, bytes }));
            }
            addresses[lane] = address;
            inside |= 1 << lane;
        }
    }
    if let Some(observer) = &mut world.observer
        && inside != 0
    {
        let (space, bytes) = (Space::Global, mode.bytes());
        observer.access(&Access {
            by,
            kind,
            space,
            lanes: inside,
            addresses: &addresses,
            bytes,
            written: None,
        });
    }
    Ok((addresses, inside))
}

fn load<O: Operands>(
    by: Issuer<'_>,
    mode: &SurfaceMode,
    operands: &mut O,
    lanes: LaneMask,
    world: &mut World<'_>,
) -> Result<(), LaneFault> {
    let (addresses, inside) = places(by, mode, AccessKind::Load, operands, lanes, world)?;
    let mut words = Words::ZERO;
    for lane in lanes_of(inside) {
        let bytes = world.global.bytes(addresses[lane], mode.bytes()).expect("checked");
        for (row, word) in words.words.iter_mut().zip(bytes.chunks(4)) {
            let mut whole = [0; 4];
            whole[..word.len()].copy_from_slice(word);
            row.0[lane] = u32::from_le_bytes(whole);
        }
    }
    scatter(operands, mode.ty, mode.vector.into(), lanes, &words);
    Ok(())
}

fn store<O: Operands>(
    by: Issuer<'_>,
    mode: &SurfaceMode,
    operands: &O,
    lanes: LaneMask,
    world: &mut World<'_>,
) -> Result<(), LaneFault> {
    let (addresses, inside) = places(by, mode, AccessKind::Store, operands, lanes, world)?;
    let mut words = Words::ZERO;
    gather(operands, mode.ty, 1 + mode.geometry.coordinates(), mode.vector.into(), &mut words);
    for lane in lanes_of(inside) {
        let bytes = world.global.bytes_mut(addresses[lane], mode.bytes()).expect("checked");
        for (word, row) in bytes.chunks_mut(4).zip(&words.words) {
            word.copy_from_slice(&row.0[lane].to_le_bytes()[..word.len()]);
        }
    }
    Ok(())
}

fn reduce<O: Operands>(
    by: Issuer<'_>,
    (op, mode): (AtomicOp, &SurfaceMode),
    operands: &O,
    lanes: LaneMask,
    world: &mut World<'_>,
) -> Result<(), LaneFault> {
    let (addresses, inside) = places(by, mode, AccessKind::Atomic, operands, lanes, world)?;
    let slot = 1 + mode.geometry.coordinates();
    for lane in lanes_of(inside) {
        let high = if mode.ty.rows() == 2 { operands.source(slot, 1).0[lane] } else { 0 };
        let operand = u64::from(high) << 32 | u64::from(operands.source(slot, 0).0[lane]);
        let cell = world.global.bytes_mut(addresses[lane], mode.bytes()).expect("checked");
        let mut old = [0; 8];
        old[..cell.len()].copy_from_slice(cell);
        let new = atomic::apply(op, mode.ty, u64::from_le_bytes(old), operand, 0);
        cell.copy_from_slice(&new.to_le_bytes()[..mode.bytes()]);
    }
    Ok(())
}
