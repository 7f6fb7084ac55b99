//! Attributes of streams. They are kept and shown; what they ask for has no modelled effect.

use crate::api::api;
use crate::api::handles::{check_stream, is_default, named};
use crate::client::{In, Out};
use crate::objects::{Attributes, Stream};
use crate::state::{self, State};
use crate::status::{Answer, Status};
use crate::table::Handle;

/// Attributes that streams have, by number: `CUstreamAttrID`.
mod number {
    pub const ACCESS_POLICY: u32 = 1;
    pub const SYNCHRONIZATION: u32 = 3;
    pub const PRIORITY: u32 = 8;
    pub const MEMORY_DOMAINS: u32 = 9;
    pub const MEMORY_DOMAIN: u32 = 10;
}

/// Value of an attribute.
type Value = [u8; 64];

/// A value that begins with a number.
fn begins_with(number: u32) -> Value {
    let mut value = [0; 64];
    value[..4].copy_from_slice(&number.to_le_bytes());
    value
}

/// The attributes that a client set.
fn set(state: &mut State, stream: Handle<Stream>) -> Answer<&mut Attributes> {
    check_stream(state, stream)?;
    if is_default(stream) {
        return Ok(state.default_attributes.entry(named(stream)).or_default());
    }
    Ok(&mut state.streams.get_mut(stream)?.attributes)
}

/// An attribute as it was set, or its default.
fn get(state: &mut State, stream: Handle<Stream>, number: u32) -> Answer<Value> {
    let priority = state.streams.get(stream).map_or(0, |stream| stream.priority);
    let default = match number {
        number::ACCESS_POLICY | number::MEMORY_DOMAIN => [0; 64],
        // Spinning, yielding and blocking are the client's choice; 1 is the driver's.
        number::SYNCHRONIZATION => begins_with(1),
        number::PRIORITY => begins_with(priority as u32),
        // Launches of the default domain use domain 0, of the remote one domain 1.
        number::MEMORY_DOMAINS => begins_with(1 << 8),
        _ => return Err(Status::InvalidValue),
    };
    Ok(set(state, stream)?.get(&number).copied().unwrap_or(default))
}

fn check(number: u32, value: &Value) -> Answer {
    let first = u32::from_le_bytes([value[0], value[1], value[2], value[3]]);
    let is_valid = match number {
        number::ACCESS_POLICY | number::PRIORITY => true,
        number::SYNCHRONIZATION => (1..=4).contains(&first),
        number::MEMORY_DOMAINS => value[0] < 1 << 4 && value[1] < 1 << 4,
        number::MEMORY_DOMAIN => first <= 1,
        _ => false,
    };
    if is_valid { Ok(()) } else { Err(Status::InvalidValue) }
}

api! {
    /// Writes an attribute: as it was set, or its default.
    cuStreamGetAttribute | cuStreamGetAttribute_ptsz = "cuStreamGetAttribute" 11000 (
        stream: Handle<Stream>, number: u32, value: Out<[u8; 64]>,
    ) {
        state::with_current(|state, _| {
            let place = value.place()?;
            place.put(get(state, stream, number)?);
            Ok(())
        })
    }

    /// Sets an attribute. A priority is clamped, as when the stream is created.
    cuStreamSetAttribute | cuStreamSetAttribute_ptsz = "cuStreamSetAttribute" 11000 (
        stream: Handle<Stream>, number: u32, value: In<[u8; 64]>,
    ) {
        state::with_current(|state, _| {
            let mut value = value.get()?;
            check_stream(state, stream)?;
            check(number, &value)?;
            if number == number::PRIORITY {
                let [a, b, c, d, ..] = value;
                let priority = i32::from_le_bytes([a, b, c, d]).clamp(crate::api::stream::HIGHEST_PRIORITY, 0);
                value = begins_with(priority as u32);
                if let Ok(stream) = state.streams.get_mut(stream) {
                    stream.priority = priority;
                }
            }
            set(state, stream)?.insert(number, value);
            Ok(())
        })
    }

    /// Copies the attributes that were set to another stream.
    cuStreamCopyAttributes | cuStreamCopyAttributes_ptsz = "cuStreamCopyAttributes" 11000 (
        to: Handle<Stream>, from: Handle<Stream>,
    ) {
        state::with_current(|state, _| {
            let from = set(state, from)?.clone();
            let to = set(state, to)?;
            to.extend(from);
            Ok(())
        })
    }
}
