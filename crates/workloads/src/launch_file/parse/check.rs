//! `[[check]]` tables.

use super::super::folder::Folder;
use super::super::node::{Fields, Node};
use super::super::number::Type;
use super::super::{Buffer, Check, Tolerance};
use super::buffer::{contents, element_type};
use super::{Result, find};
use crate::element::from_bytes;

pub(super) fn check(node: &Node<'_>, buffers: &[Buffer], folder: &Folder<'_>) -> Result<Check> {
    let known =
        ["buffer", "name", "type", "byte_offset", "count", "expected", "absolute", "relative", "bounds"];
    let fields = node.table(&known)?;
    let index = find(&fields.required("buffer", "the name of a buffer")?, buffers)?;
    let buffer = &buffers[index];
    let name = match fields.optional("name") {
        Some(node) => node.name("a name")?,
        None => &buffer.name,
    };
    let (ty, byte_offset, count) = part(&fields, buffer)?;
    let expected = match fields.optional("expected") {
        Some(node) => Some(contents(&node, ty, count, folder)?),
        None => None,
    };
    let tolerance = match fields.optional("bounds") {
        Some(node) => {
            if ["absolute", "relative"].iter().any(|key| fields.optional(key).is_some()) {
                return Err(node.error("both it and `absolute` or `relative`", "one of them"));
            }
            Some(Tolerance::Each(bounds(&node, count, folder)?))
        }
        None => everywhere(&fields, ty)?,
    };
    if let (None, Some(key)) =
        (&expected, ["bounds", "absolute", "relative"].into_iter().find_map(|key| fields.optional(key)))
    {
        return Err(key.error("a tolerance without `expected`", "something to compare with"));
    }
    Ok(Check { buffer: index, name: name.into(), ty, byte_offset, count, expected, tolerance })
}

/// The part of a buffer that is compared: type, first byte and number of elements; the whole buffer by default.
fn part(fields: &Fields<'_>, buffer: &Buffer) -> Result<(Type, u64, usize)> {
    let ty = fields.optional("type").map_or(Ok(buffer.ty), |node| element_type(&node))?;
    let size = buffer.bytes() as u64;
    let byte_offset = fields.optional("byte_offset").map_or(Ok(0), |node| node.integer(0..=size))?;
    let room = (size - byte_offset) / ty.bytes() as u64;
    let count = fields.optional("count").map_or(Ok(room), |node| node.integer(1..=room.max(1)))?;
    if count == 0 || count > room {
        return Err(fields.missing("count", "a part of the buffer with at least one element"));
    }
    Ok((ty, byte_offset, usize::try_from(count).expect("a buffer's limit fits a usize")))
}

/// A bound for each element, f64.
fn bounds(node: &Node<'_>, count: usize, folder: &Folder<'_>) -> Result<Vec<f64>> {
    let bytes = 8 * count as u64;
    let bytes =
        folder.read(node, |found| found == bytes, || format!("{bytes} bytes: {count} elements of f64"))?;
    let bounds: Vec<f64> = from_bytes(&bytes);
    match bounds.iter().position(|bound| bound.is_nan() || *bound < 0.0) {
        None => Ok(bounds),
        Some(index) => Err(node.error(format!("{} at index {index}", bounds[index]), "bounds of at least 0")),
    }
}

/// One tolerance for all elements.
fn everywhere(fields: &Fields<'_>, ty: Type) -> Result<Option<Tolerance>> {
    let mut parts = [None; 2];
    for (part, key) in parts.iter_mut().zip(["absolute", "relative"]) {
        let Some(node) = fields.optional(key) else { continue };
        if !ty.is_float() {
            let found = format!("a tolerance for elements of {}", ty.name());
            return Err(node.error(found, "none: they are exact"));
        }
        let value = node.number("a number that is not negative")?.as_f64();
        if !(value >= 0.0 && value.is_finite()) {
            return Err(node.error(node.found(), "a number that is not negative"));
        }
        *part = Some(value);
    }
    Ok(match parts {
        [None, None] => None,
        [absolute, relative] => Some(Tolerance::Everywhere {
            absolute: absolute.unwrap_or(0.0),
            relative: relative.unwrap_or(0.0),
        }),
    })
}
