//! Arrays with levels of detail. A level is an array that clients copy to and from, and that goes with all the others.

use strata_abi::driver::Array3dDescriptor;

use crate::api::api;
use crate::api::array::shape;
use crate::client::{Bytes, In, Out};
use crate::objects::{Array, Context, MipmappedArray};
use crate::resource::refused;
use crate::state::{self, State};
use crate::status::{Answer, Status};
use crate::table::Handle;

fn create(
    state: &mut State,
    context: Handle<Context>,
    descriptor: Array3dDescriptor,
    levels: u32,
) -> Answer<Handle<MipmappedArray>> {
    let shape = shape(&descriptor)?;
    let number = state.number();
    let card = state.card()?;
    // The number of levels is clamped (CUDA Driver API, `cuMipmappedArrayCreate`).
    let levels = levels.clamp(1, shape.most_levels());
    let image = card
        .alloc_levels(&format!("mipmapped array {number}"), shape, levels)
        .map_err(|error| refused(&error))?;
    let mut arrays = Vec::new();
    for level in 0..levels {
        let image = image.level(level);
        // A side that the whole has not, a level has not either.
        let side = |whole: u64, of_level: u32| if whole == 0 { 0 } else { u64::from(of_level) };
        let descriptor = Array3dDescriptor {
            width: u64::from(image.width),
            height: side(descriptor.height, image.height),
            depth: side(descriptor.depth, image.depth),
            ..descriptor
        };
        arrays.push(state.arrays.insert(Array { context, image, descriptor, is_level: true }));
    }
    Ok(state.mipmapped.insert(MipmappedArray { context, image, levels: arrays }))
}

/// The answer for what only arrays of kinds that cannot be created have.
fn has_none(of: Handle<MipmappedArray>) -> Answer {
    state::with_current(|state, _| {
        state.mipmapped.get(of)?;
        Err(Status::InvalidValue)
    })
}

api! {
    /// Creates an array with levels of detail.
    cuMipmappedArrayCreate = "cuMipmappedArrayCreate" 5000 (
        to: Out<Handle<MipmappedArray>>, of: In<Array3dDescriptor>, levels: u32,
    ) {
        state::with_current(|state, context| {
            let place = to.place()?;
            place.put(create(state, context, of.get()?, levels)?);
            Ok(())
        })
    }

    /// Writes a level, as an array.
    cuMipmappedArrayGetLevel = "cuMipmappedArrayGetLevel" 5000 (
        to: Out<Handle<Array>>, of: Handle<MipmappedArray>, level: u32,
    ) {
        state::with_current(|state, _| {
            let place = to.place()?;
            let found = state.mipmapped.get(of)?.levels.get(level as usize).ok_or(Status::InvalidValue)?;
            place.put(*found);
            Ok(())
        })
    }

    /// Fails: every array has its memory from the beginning, and only those that get it later may be asked.
    cuMipmappedArrayGetMemoryRequirements = "cuMipmappedArrayGetMemoryRequirements" 11060 (
        _to: Bytes, of: Handle<MipmappedArray>, _device: i32,
    ) {
        has_none(of)
    }

    /// Fails: no array is sparse.
    cuMipmappedArrayGetSparseProperties = "cuMipmappedArrayGetSparseProperties" 11010 (
        _to: Bytes, of: Handle<MipmappedArray>,
    ) {
        has_none(of)
    }

    /// Destroys an array with all its levels. Textures and surfaces on it then refer to freed memory.
    cuMipmappedArrayDestroy = "cuMipmappedArrayDestroy" 5000 (of: Handle<MipmappedArray>) {
        state::with_current(|state, _| state.destroy_mipmapped(of))
    }
}
