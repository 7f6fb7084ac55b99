//! Tensor maps: descriptions of tensors that kernels take as parameters and bulk copies read.

use strata_ptx::tensor::{Element, Fill, MAP_BYTES, MapError, Swizzle, TensorMap};

use crate::api::api;
use crate::client::{Bytes, In, Out};
use crate::log;
use crate::status::{Answer, Status};

/// A map as the client holds it.
type Map = [u8; MAP_BYTES];

/// Maps lie at multiples of this (CUDA driver API, `CUtensorMap`).
const MAP_ALIGNMENT: u64 = 64;

/// The client's numbers, before they are a map.
struct Tiled {
    element: u32,
    rank: u32,
    address: u64,
    sizes: In<u64>,
    strides: In<u64>,
    extent: In<u32>,
    steps: In<u32>,
    interleave: u32,
    swizzle: u32,
    fill: u32,
}

impl Tiled {
    fn map(&self) -> Answer<TensorMap> {
        let rank = self.rank as usize;
        if !(1..=5).contains(&rank) {
            return Err(invalid(&MapError(format!("the rank is {rank}, expected 1 to 5"))));
        }
        let element = Element::numbered(self.element).ok_or_else(|| not_supported("type", self.element))?;
        let swizzle =
            Swizzle::numbered(self.swizzle).ok_or_else(|| not_supported("swizzle", self.swizzle))?;
        if self.interleave != 0 {
            return Err(not_supported("interleave", self.interleave));
        }
        let fill = match self.fill {
            0 => Fill::Zero,
            1 => Fill::Nan,
            _ => return Err(Status::InvalidValue),
        };
        let mut map = TensorMap {
            element,
            rank: self.rank,
            base: self.address,
            sizes: [1; 5],
            strides: [0; 5],
            extent: [1; 5],
            steps: [1; 5],
            swizzle,
            fill,
        };
        for n in 0..rank {
            map.sizes[n] = self.sizes.at(n)?;
            map.extent[n] = self.extent.at(n)?;
            map.steps[n] = self.steps.at(n)?;
            if n > 0 {
                map.strides[n] = self.strides.at(n - 1)?;
            }
        }
        map.check().map_err(|error| invalid(&error))?;
        Ok(map)
    }
}

fn invalid(error: &MapError) -> Status {
    log::once(format!("a tensor map cannot be: {}", error.0));
    Status::InvalidValue
}

fn not_supported(what: &str, number: u32) -> Status {
    log::once(format!("a tensor map with {what} {number} is not supported"));
    Status::NotSupported
}

fn check_place(to: Out<Map>, address: u64) -> Answer {
    to.place()?;
    if address.is_multiple_of(MAP_ALIGNMENT) { Ok(()) } else { Err(Status::InvalidValue) }
}

api! {
    /// Writes a map that describes a tensor and the box that one copy moves. Interleaved layouts are refused.
    cuTensorMapEncodeTiled = "cuTensorMapEncodeTiled" 12000 (
        to: Bytes, element: u32, rank: u32, address: u64, sizes: In<u64>, strides: In<u64>, extent: In<u32>,
        steps: In<u32>, interleave: u32, swizzle: u32, _promotion: u32, fill: u32,
    ) {
        check_place(to.out(), to.address())?;
        let tiled = Tiled { element, rank, address, sizes, strides, extent, steps, interleave, swizzle, fill };
        to.out().put(tiled.map()?.encode())
    }

    /// Gives a map's tensor another address.
    cuTensorMapReplaceAddress = "cuTensorMapReplaceAddress" 12000 (to: Bytes, address: u64) {
        check_place(to.out(), to.address())?;
        let bytes: Map = to.values().get()?;
        let map = TensorMap::decode(&bytes).map_err(|error| invalid(&error))?;
        let map = TensorMap { base: address, ..map };
        map.check().map_err(|error| invalid(&error))?;
        to.out().put(map.encode())
    }
}
