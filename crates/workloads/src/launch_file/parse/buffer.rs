//! `[[buffer]]` tables, and contents wherever they are written.

use std::ops::RangeInclusive;

use super::super::folder::Folder;
use super::super::node::{Fields, Node, shorten};
use super::super::number::{Number, Type};
use super::super::{Buffer, Contents, Place, limits};
use super::Result;

pub(super) fn buffer(
    node: &Node<'_>,
    others: &[Buffer],
    total: &mut u64,
    folder: &Folder<'_>,
) -> Result<Buffer> {
    let fields = node.table(&["name", "variable", "unordered", "type", "count", "contents"])?;
    let name_node = fields.required("name", "a name")?;
    let name = name_node.name("a name")?;
    if others.iter().any(|other| other.name == name) {
        return Err(name_node.error(format!("\"{name}\" again"), "a name that no other buffer has"));
    }
    let flag = |key| fields.optional(key).map_or(Ok(false), |node| node.boolean());
    let place = if flag("variable")? { Place::Variable } else { Place::Allocated };
    let unordered = flag("unordered")?;
    let ty = element_type(&fields.required("type", &format!("one of {}", Type::names()))?)?;

    let count = count(&fields, ty, total)?;
    let contents = match fields.optional("contents") {
        Some(node) => contents(&node, ty, count, folder)?,
        None => Contents::Zeros,
    };
    Ok(Buffer { name: name.into(), place, unordered, ty, count, contents })
}

/// The number of elements: as many as there are values where it is left out. Adds their bytes to `total`.
fn count(fields: &Fields<'_>, ty: Type, total: &mut u64) -> Result<usize> {
    let (node, count) = match (fields.optional("count"), fields.optional("contents")) {
        (None, Some(contents)) if contents.has("values") => {
            let (_, values) = contents.choice(CONTENTS)?;
            let values = values.expect("a table with one key has a value");
            let count = values.elements(VALUES, "values")?.len() as u64;
            (values, count)
        }
        (count, _) => {
            let node = count.ok_or_else(|| fields.missing("count", "a number of elements"))?;
            let count = node.integer(1..=limits::BUFFER_BYTES / ty.bytes() as u64)?;
            (node, count)
        }
    };
    *total += count * ty.bytes() as u64;
    if *total > limits::TOTAL_BYTES {
        return Err(node.error(
            format!("{} bytes in the buffers so far", *total),
            format!("at most {} in all", limits::TOTAL_BYTES),
        ));
    }
    Ok(usize::try_from(count).expect("a buffer's limit fits a usize"))
}

pub(super) fn element_type(node: &Node<'_>) -> Result<Type> {
    let expected = || format!("one of {}", Type::names());
    Type::from_name(node.string(&expected())?).ok_or_else(|| node.error(node.found(), expected()))
}

const CONTENTS: &str = "\"zeros\" or a table with one of constant, ramp, uniform, values, file";
const VALUES: RangeInclusive<usize> = 1..=limits::VALUES;

pub(super) fn contents(node: &Node<'_>, ty: Type, count: usize, folder: &Folder<'_>) -> Result<Contents> {
    match node.choice(CONTENTS)? {
        ("zeros", None) => Ok(Contents::Zeros),
        ("constant", Some(value)) => Ok(Contents::Constant(number(&value, ty)?)),
        ("ramp", Some(ramp)) => {
            let fields = ramp.table(&["start", "step"])?;
            let start = number(&fields.required("start", &ty.values())?, ty)?;
            // A step may be negative where elements are not, so only its range is checked, by the last element.
            let step_node = fields.required("step", "a number")?;
            let step = step_node.number("a number")?;
            let fits = |number| match number {
                Number::Int(value) => value.unsigned_abs() < 1 << 64,
                Number::Float(value) => value.is_finite() && ty.is_float(),
            };
            if !fits(step) {
                let kind = if ty.is_float() { "a finite number" } else { "an integer of at most 64 bits" };
                return Err(step_node.error(step_node.found(), kind));
            }
            let last = Contents::ramp(start, step, count - 1);
            if !ty.holds(last) || !last.as_f64().is_finite() {
                return Err(ramp.error(format!("a last element of {last}"), ty.values()));
            }
            Ok(Contents::Ramp { start, step })
        }
        ("uniform", Some(uniform)) => {
            let fields = uniform.table(&["seed", "low", "high"])?;
            let seed = fields.required("seed", "an integer")?.integer(0..=u64::MAX)?;
            let low_node = fields.required("low", &ty.values())?;
            let high_node = fields.required("high", &ty.values())?;
            let (low, high) = (number(&low_node, ty)?, number(&high_node, ty)?);
            for (node, bound) in [(&low_node, low), (&high_node, high)] {
                if !bound.as_f64().is_finite() {
                    return Err(node.error(bound.to_string(), "a finite number"));
                }
            }
            let ordered = match (low, high) {
                (Number::Int(low), Number::Int(high)) => low <= high,
                _ => low.as_f64() <= high.as_f64(),
            };
            if !ordered {
                return Err(high_node.error(high.to_string(), format!("at least `low`, which is {low}")));
            }
            Ok(Contents::Uniform { seed, low, high })
        }
        ("values", Some(values)) => {
            let nodes = values.elements(VALUES, "values")?;
            if nodes.len() != count {
                let expected = format!("{count}: elements of {}", ty.name());
                return Err(values.error(format!("{} values", nodes.len()), expected));
            }
            let mut bytes = vec![0; count * ty.bytes()];
            for (node, place) in nodes.zip(bytes.chunks_exact_mut(ty.bytes())) {
                ty.put(number(&node, ty)?, place);
            }
            Ok(Contents::Bytes(bytes))
        }
        ("file", Some(file)) => {
            let bytes = (count * ty.bytes()) as u64;
            let expected = || format!("{bytes} bytes: {count} elements of {}", ty.name());
            Ok(Contents::Bytes(folder.read(&file, |found| found == bytes, expected)?))
        }
        (name, _) => Err(node.error(format!("\"{}\"", shorten(name)), CONTENTS)),
    }
}

pub(super) fn number(node: &Node<'_>, ty: Type) -> Result<Number> {
    let number = node.number(&ty.values())?;
    if ty.holds(number) { Ok(number) } else { Err(node.error(node.found(), ty.values())) }
}
