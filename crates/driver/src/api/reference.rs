//! Texture and surface references of modules. Every change to a reference immediately updates its header.
//! While the settings do not form a valid texture, nothing is bound, and a kernel that fetches fails.

use strata_abi::driver::{ArrayDescriptor, TextureDescriptor, array};
use strata_ptx::ir::Opaque;

use crate::api::api;
use crate::client::{In, Out, Text};
use crate::log;
use crate::objects::{Array, MipmappedArray, Module, SurfaceReference, Target, TextureReference};
use crate::resource::{self, rows, side};
use crate::state::{self, State};
use crate::status::{Answer, Status};
use crate::table::Handle;

/// Alignment of bound linear memory, as the device attribute says.
pub const ALIGN: u64 = 256;

/// The handle of a module's texture reference; the same handle every time.
fn texture(state: &mut State, module: Handle<Module>, name: &str) -> Answer<Handle<TextureReference>> {
    let id = state.modules.get(module)?.id;
    let header = state.card()?.reference(id, name, Opaque::Texture).ok_or(Status::NotFound)?;
    let known = state.texture_references.iter().find(|(_, reference)| reference.header == header);
    if let Some((handle, _)) = known {
        return Ok(handle);
    }
    Ok(state.texture_references.insert(TextureReference {
        module,
        header,
        format: None,
        description: TextureDescriptor::default(),
        target: None,
    }))
}

fn surface(state: &mut State, module: Handle<Module>, name: &str) -> Answer<Handle<SurfaceReference>> {
    let id = state.modules.get(module)?.id;
    let header = state.card()?.reference(id, name, Opaque::Surface).ok_or(Status::NotFound)?;
    let known = state.surface_references.iter().find(|(_, reference)| reference.header == header);
    if let Some((handle, _)) = known {
        return Ok(handle);
    }
    Ok(state.surface_references.insert(SurfaceReference { module, header, array: None }))
}

/// Changes a reference and updates its header.
fn change(of: Handle<TextureReference>, body: impl FnOnce(&mut TextureReference) -> Answer) -> Answer {
    state::with_current(|state, _| {
        body(state.texture_references.get_mut(of)?)?;
        renew(state, of)
    })
}

fn renew(state: &mut State, of: Handle<TextureReference>) -> Answer {
    let TextureReference { header, format, description, target, .. } = *state.texture_references.get(of)?;
    let image = match (target, format) {
        (None, _) => None,
        (Some(Target::Array(array)), _) => state.arrays.get(array).ok().map(|array| array.image),
        (Some(Target::Mipmapped(array)), _) => state.levels_of(array).ok().map(|(image, _)| image),
        (Some(Target::Pitched { address, format, sides, pitch }), _) => {
            Some(rows(address, format, sides, Some(pitch)))
        }
        (Some(Target::Linear { .. }), None) => None,
        (Some(Target::Linear { address, bytes }), Some(format)) => {
            let texels = u32::try_from(bytes / format.bytes() as u64).map_err(|_| Status::InvalidValue)?;
            Some(rows(address, format, [texels, 1], None))
        }
    };
    state.card()?.destroy_header(header);
    let Some(image) = image else { return Ok(()) };
    let count = match target {
        Some(Target::Mipmapped(array)) => state.levels_of(array)?.1,
        _ => 1,
    };
    let texture = resource::texture(&description, (image, count))?;
    // The next settings may make the texture valid.
    let unbound =
        |why: &dyn std::fmt::Display| log::once(format!("a texture reference is bound to nothing: {why}"));
    if state.on_device(image.base, image.bytes()).is_err() {
        unbound(&"its texels lie in no buffer");
    } else if let Err(error) = state.card()?.bind_texture(header, texture) {
        unbound(&error);
    }
    Ok(())
}

/// Reads something from a reference.
fn ask<T>(
    of: Handle<TextureReference>,
    to: Out<T>,
    what: impl FnOnce(&TextureReference) -> Answer<T>,
) -> Answer {
    state::with_current(|state, _| {
        let place = to.place()?;
        place.put(what(state.texture_references.get(of)?)?);
        Ok(())
    })
}

/// The index of an axis.
fn axis(dimension: i32) -> Answer<usize> {
    usize::try_from(dimension).ok().filter(|axis| *axis < 3).ok_or(Status::InvalidValue)
}

api! {
    /// Writes the handle of a texture reference.
    cuModuleGetTexRef = "cuModuleGetTexRef" 2000 (
        to: Out<Handle<TextureReference>>, module: Handle<Module>, name: Text,
    ) {
        state::with_current(|state, _| {
            let place = to.place()?;
            place.put(texture(state, module, name.get()?)?);
            Ok(())
        })
    }

    /// Writes the handle of a surface reference.
    cuModuleGetSurfRef = "cuModuleGetSurfRef" 3000 (
        to: Out<Handle<SurfaceReference>>, module: Handle<Module>, name: Text,
    ) {
        state::with_current(|state, _| {
            let place = to.place()?;
            place.put(surface(state, module, name.get()?)?);
            Ok(())
        })
    }

    /// Binds a reference to an array, whose own format applies.
    cuTexRefSetArray = "cuTexRefSetArray" 2000 (
        of: Handle<TextureReference>, array: Handle<Array>, flags: u32,
    ) {
        state::with_current(|state, _| {
            // The only flag, which says that the array's format applies, is mandatory.
            if flags != 1 {
                return Err(Status::InvalidValue);
            }
            let image = state.arrays.get(array)?.image;
            let reference = state.texture_references.get_mut(of)?;
            reference.format = Some(image.format);
            reference.target = Some(Target::Array(array));
            renew(state, of)
        })
    }

    /// Binds a reference to an array with levels of detail, whose own format applies.
    cuTexRefSetMipmappedArray = "cuTexRefSetMipmappedArray" 5000 (
        of: Handle<TextureReference>, array: Handle<MipmappedArray>, flags: u32,
    ) {
        state::with_current(|state, _| {
            if flags != 1 {
                return Err(Status::InvalidValue);
            }
            let (image, _) = state.levels_of(array)?;
            let reference = state.texture_references.get_mut(of)?;
            reference.format = Some(image.format);
            reference.target = Some(Target::Mipmapped(array));
            renew(state, of)
        })
    }

    /// Writes the array with levels of detail that a reference is bound to.
    cuTexRefGetMipmappedArray = "cuTexRefGetMipmappedArray" 5000 (
        to: Out<Handle<MipmappedArray>>, of: Handle<TextureReference>,
    ) {
        ask(of, to, |reference| match reference.target {
            Some(Target::Mipmapped(array)) => Ok(array),
            _ => Err(Status::InvalidValue),
        })
    }

    /// Binds a reference to linear memory. Writes the offset from the aligned address, which the client must
    /// add to its coordinates.
    cuTexRefSetAddress_v2 = "cuTexRefSetAddress" 3020 (
        offset: Out<usize>, of: Handle<TextureReference>, address: u64, bytes: usize,
    ) {
        state::with_current(|state, _| {
            state.texture_references.get(of)?;
            let between = address % ALIGN;
            match offset.place() {
                Ok(place) => place.put(between as usize),
                Err(_) if between == 0 => {}
                Err(status) => return Err(status),
            }
            let target = match bytes {
                0 => None,
                _ => {
                    state.on_device(address, bytes as u64)?;
                    Some(Target::Linear { address: address - between, bytes: bytes as u64 + between })
                }
            };
            state.texture_references.get_mut(of)?.target = target;
            renew(state, of)
        })
    }

    /// Binds a reference to rows of linear memory.
    cuTexRefSetAddress2D_v3 / cuTexRefSetAddress2D_v2 3020 = "cuTexRefSetAddress2D" 4010 (
        of: Handle<TextureReference>, shape: In<ArrayDescriptor>, address: u64, pitch: usize,
    ) {
        state::with_current(|state, _| {
            let ArrayDescriptor { width, height, format, channels } = shape.get()?;
            let format = resource::format(format, channels)?;
            if !address.is_multiple_of(ALIGN) {
                return Err(Status::InvalidValue);
            }
            let target = Target::Pitched { address, format, sides: [side(width)?, side(height)?], pitch: pitch as u64 };
            let reference = state.texture_references.get_mut(of)?;
            reference.target = Some(target);
            reference.format = Some(format);
            renew(state, of)
        })
    }

    /// Sets the texel format of linear memory.
    cuTexRefSetFormat = "cuTexRefSetFormat" 2000 (
        of: Handle<TextureReference>, format: u32, channels: i32,
    ) {
        let channels = u32::try_from(channels).map_err(|_| Status::InvalidValue)?;
        let format = resource::format(format, channels)?;
        change(of, |reference| {
            reference.format = Some(format);
            Ok(())
        })
    }

    /// Sets the addressing mode along one axis.
    cuTexRefSetAddressMode = "cuTexRefSetAddressMode" 2000 (
        of: Handle<TextureReference>, dimension: i32, mode: u32,
    ) {
        resource::addressing(mode)?;
        let axis = axis(dimension)?;
        change(of, |reference| {
            reference.description.addressing[axis] = mode;
            Ok(())
        })
    }

    /// Sets the filter mode: point or linear.
    cuTexRefSetFilterMode = "cuTexRefSetFilterMode" 2000 (of: Handle<TextureReference>, mode: u32) {
        resource::filter(mode)?;
        change(of, |reference| {
            reference.description.filter = mode;
            Ok(())
        })
    }

    /// Sets the filter mode between levels of detail.
    cuTexRefSetMipmapFilterMode = "cuTexRefSetMipmapFilterMode" 5000 (
        of: Handle<TextureReference>, mode: u32,
    ) {
        resource::filter(mode)?;
        change(of, |reference| {
            reference.description.level_filter = mode;
            Ok(())
        })
    }

    /// Sets what is added to the level of detail of a fetch.
    cuTexRefSetMipmapLevelBias = "cuTexRefSetMipmapLevelBias" 5000 (of: Handle<TextureReference>, bias: f32) {
        change(of, |reference| {
            reference.description.levels[0] = bias;
            Ok(())
        })
    }

    /// Sets the lowest and the highest level of detail that is read.
    cuTexRefSetMipmapLevelClamp = "cuTexRefSetMipmapLevelClamp" 5000 (
        of: Handle<TextureReference>, least: f32, most: f32,
    ) {
        change(of, |reference| {
            reference.description.levels[1..].copy_from_slice(&[least, most]);
            Ok(())
        })
    }

    /// Accepted without effect: fetches are isotropic.
    cuTexRefSetMaxAnisotropy = "cuTexRefSetMaxAnisotropy" 5000 (of: Handle<TextureReference>, most: u32) {
        change(of, |reference| {
            reference.description.anisotropy = most;
            Ok(())
        })
    }

    /// Sets the border colour, four numbers.
    cuTexRefSetBorderColor = "cuTexRefSetBorderColor" 8000 (of: Handle<TextureReference>, color: In<f32>) {
        let border = [color.at(0)?, color.at(1)?, color.at(2)?, color.at(3)?];
        change(of, |reference| {
            reference.description.border = border;
            Ok(())
        })
    }

    /// Sets whether values are read as integers and whether coordinates are normalised.
    cuTexRefSetFlags = "cuTexRefSetFlags" 2000 (of: Handle<TextureReference>, flags: u32) {
        change(of, |reference| {
            reference.description.flags = flags;
            Ok(())
        })
    }

    /// Writes the address of the bound linear memory.
    cuTexRefGetAddress_v2 = "cuTexRefGetAddress" 3020 (to: Out<u64>, of: Handle<TextureReference>) {
        ask(of, to, |reference| match reference.target {
            Some(Target::Linear { address, .. } | Target::Pitched { address, .. }) => Ok(address),
            _ => Err(Status::InvalidValue),
        })
    }

    /// Writes the bound array.
    cuTexRefGetArray = "cuTexRefGetArray" 2000 (to: Out<Handle<Array>>, of: Handle<TextureReference>) {
        ask(of, to, |reference| match reference.target {
            Some(Target::Array(array)) => Ok(array),
            _ => Err(Status::InvalidValue),
        })
    }

    /// Writes the addressing mode along one axis.
    cuTexRefGetAddressMode = "cuTexRefGetAddressMode" 2000 (
        to: Out<u32>, of: Handle<TextureReference>, dimension: i32,
    ) {
        let axis = axis(dimension)?;
        ask(of, to, |reference| Ok(reference.description.addressing[axis]))
    }

    /// Writes the filter mode: point or linear.
    cuTexRefGetFilterMode = "cuTexRefGetFilterMode" 2000 (to: Out<u32>, of: Handle<TextureReference>) {
        ask(of, to, |reference| Ok(reference.description.filter))
    }

    /// Writes the format and the number of channels.
    cuTexRefGetFormat = "cuTexRefGetFormat" 2000 (
        format: Out<u32>, channels: Out<i32>, of: Handle<TextureReference>,
    ) {
        state::with_current(|state, _| {
            let found = state.texture_references.get(of)?.format.ok_or(Status::InvalidValue)?;
            format.put_if_wanted(resource::format_number(found));
            channels.put_if_wanted(found.channels.into());
            Ok(())
        })
    }

    /// Writes the flags that were set.
    cuTexRefGetFlags = "cuTexRefGetFlags" 2000 (to: Out<u32>, of: Handle<TextureReference>) {
        ask(of, to, |reference| Ok(reference.description.flags))
    }

    /// Writes the border colour, four numbers.
    cuTexRefGetBorderColor = "cuTexRefGetBorderColor" 8000 (to: Out<f32>, of: Handle<TextureReference>) {
        state::with_current(|state, _| to.put_all(state.texture_references.get(of)?.description.border))
    }

    /// Writes the value that was set.
    cuTexRefGetMaxAnisotropy = "cuTexRefGetMaxAnisotropy" 5000 (to: Out<u32>, of: Handle<TextureReference>) {
        ask(of, to, |reference| Ok(reference.description.anisotropy))
    }

    /// Writes the value that was set.
    cuTexRefGetMipmapFilterMode = "cuTexRefGetMipmapFilterMode" 5000 (
        to: Out<u32>, of: Handle<TextureReference>,
    ) {
        ask(of, to, |reference| Ok(reference.description.level_filter))
    }

    /// Writes the value that was set.
    cuTexRefGetMipmapLevelBias = "cuTexRefGetMipmapLevelBias" 5000 (
        to: Out<f32>, of: Handle<TextureReference>,
    ) {
        ask(of, to, |reference| Ok(reference.description.levels[0]))
    }

    /// Writes the values that were set.
    cuTexRefGetMipmapLevelClamp = "cuTexRefGetMipmapLevelClamp" 5000 (
        least: Out<f32>, most: Out<f32>, of: Handle<TextureReference>,
    ) {
        state::with_current(|state, _| {
            let [_, from, to] = state.texture_references.get(of)?.description.levels;
            least.put_if_wanted(from);
            most.put_if_wanted(to);
            Ok(())
        })
    }

    /// Binds a surface reference to an array that was created for surfaces.
    cuSurfRefSetArray = "cuSurfRefSetArray" 3000 (
        of: Handle<SurfaceReference>, to: Handle<Array>, flags: u32,
    ) {
        state::with_current(|state, _| {
            let found = state.arrays.get(to)?;
            if flags != 0 || found.descriptor.flags & array::SURFACE == 0 {
                return Err(Status::InvalidValue);
            }
            let image = found.image;
            let reference = state.surface_references.get_mut(of)?;
            reference.array = Some(to);
            let header = reference.header;
            state.card()?.bind_surface(header, image).map_err(|error| resource::refused(&error))
        })
    }

    /// Writes the bound array.
    cuSurfRefGetArray = "cuSurfRefGetArray" 3000 (to: Out<Handle<Array>>, of: Handle<SurfaceReference>) {
        state::with_current(|state, _| {
            to.put(state.surface_references.get(of)?.array.ok_or(Status::InvalidValue)?)
        })
    }
}
