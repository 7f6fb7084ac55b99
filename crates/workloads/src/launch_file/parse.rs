//! The file's tables.

use std::path::Path;

use super::node::{Fields, Node, Source};
use super::number::{Number, Type};
use super::{Argument, Buffer, Check, Contents, Launch, LaunchFile, LaunchFileError, Tolerance, limits};

type Result<T> = std::result::Result<T, LaunchFileError>;

/// Reads the text of a launch file; `base` is the folder that its paths begin from.
pub(super) fn parse(file: &str, text: &str, default_name: &str, base: &Path) -> Result<LaunchFile> {
    let source = Source { file, text };
    let document = source.parse()?;
    let root = Fields::root(source, &document, &["name", "module", "buffer", "launch", "check"])?;

    let name = match root.optional("name") {
        Some(node) => node.name("a name")?,
        None => default_name,
    };
    let module = root.required("module", "the path of a PTX file")?;
    let module_name = module.name("the path of a PTX file")?;
    let ptx = read_file(
        &module,
        base,
        |bytes| bytes <= limits::MODULE_BYTES,
        || format!("at most {} bytes", limits::MODULE_BYTES),
    )?;
    let ptx = String::from_utf8(ptx).map_err(|_| module.error("a file that is not text", "a PTX file"))?;
    let kernels = kernels(&ptx);
    if kernels.is_empty() {
        return Err(module.error("a file without a kernel", "a PTX file with at least one `.entry`"));
    }

    let mut this = LaunchFile {
        name: name.into(),
        module_name: module_name.into(),
        ptx: String::new(),
        buffers: vec![],
        launches: vec![],
        checks: vec![],
    };
    let mut total = 0;
    for node in root.tables("buffer", limits::BUFFERS)? {
        let buffer = buffer(&node, &this.buffers, &mut total, base)?;
        this.buffers.push(buffer);
    }
    for node in root.tables("launch", limits::LAUNCHES)? {
        this.launches.push(launch(&node, &this.buffers, &kernels)?);
    }
    if this.launches.is_empty() {
        return Err(root.missing("launch", "at least one [[launch]] table"));
    }
    for node in root.tables("check", limits::CHECKS)? {
        this.checks.push(check(&node, &this.buffers, base)?);
    }
    this.ptx = ptx;
    Ok(this)
}

/// The names that follow `.entry` in a module. Good enough to catch a misspelt name early; whoever loads the
/// module parses it for real.
fn kernels(ptx: &str) -> Vec<&str> {
    let ends = |c: char| c.is_whitespace() || "({;".contains(c);
    ptx.split(".entry").skip(1).filter_map(|rest| rest.trim_start().split(ends).next()).collect()
}

fn buffer(node: &Node<'_>, others: &[Buffer], total: &mut u64, base: &Path) -> Result<Buffer> {
    let fields = node.table(&["name", "type", "count", "contents"])?;
    let name_node = fields.required("name", "a name")?;
    let name = name_node.name("a name")?;
    if others.iter().any(|other| other.name == name) {
        return Err(name_node.error(format!("\"{name}\" again"), "a name that no other buffer has"));
    }
    let ty_node = fields.required("type", &format!("one of {}", Type::names()))?;
    let ty = Type::from_name(ty_node.string(&format!("one of {}", Type::names()))?)
        .ok_or_else(|| ty_node.error(ty_node.found(), format!("one of {}", Type::names())))?;

    let count_node = fields.required("count", "a number of elements")?;
    let count = count_node.integer(1..=limits::BUFFER_BYTES / ty.bytes() as u64)?;
    *total += count * ty.bytes() as u64;
    if *total > limits::TOTAL_BYTES {
        return Err(count_node.error(
            format!("{} bytes in the buffers so far", *total),
            format!("at most {} in all", limits::TOTAL_BYTES),
        ));
    }
    let count = usize::try_from(count).expect("a buffer's limit fits a usize");
    let contents = match fields.optional("contents") {
        Some(node) => contents(&node, ty, count, base)?,
        None => Contents::Zeros,
    };
    Ok(Buffer { name: name.into(), ty, count, contents })
}

const CONTENTS: &str = "\"zeros\" or a table with one of constant, ramp, uniform, file";

fn contents(node: &Node<'_>, ty: Type, count: usize, base: &Path) -> Result<Contents> {
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
        ("file", Some(file)) => {
            let bytes = (count * ty.bytes()) as u64;
            let expected = || format!("{bytes} bytes: {count} elements of {}", ty.name());
            Ok(Contents::Bytes(read_file(&file, base, |found| found == bytes, expected)?))
        }
        (name, _) => Err(node.error(format!("\"{}\"", name.escape_debug()), CONTENTS)),
    }
}

fn number(node: &Node<'_>, ty: Type) -> Result<Number> {
    let number = node.number(&ty.values())?;
    if ty.holds(number) { Ok(number) } else { Err(node.error(node.found(), ty.values())) }
}

fn launch(node: &Node<'_>, buffers: &[Buffer], kernels: &[&str]) -> Result<Launch> {
    let fields = node.table(&["kernel", "grid", "block", "dynamic_shared_bytes", "repeat", "arguments"])?;
    let expected = || format!("a kernel of the module: {}", kernels.join(", "));
    let kernel_node = fields.required("kernel", &expected())?;
    let kernel = kernel_node.string(&expected())?;
    if !kernels.contains(&kernel) {
        return Err(kernel_node.error(kernel_node.found(), expected()));
    }

    let grid =
        extent(&fields.required("grid", "an array of 1 to 3 CTA counts")?, limits::GRID, "CTA counts")?;
    let block_node = fields.required("block", "an array of 1 to 3 thread counts")?;
    let block = extent(&block_node, limits::BLOCK, "thread counts")?;
    let threads: u64 = block.iter().map(|&n| u64::from(n)).product();
    if threads > limits::BLOCK_THREADS {
        let expected = format!("at most {} threads", limits::BLOCK_THREADS);
        return Err(block_node.error(format!("{threads} threads"), expected));
    }
    let dynamic_shared = match fields.optional("dynamic_shared_bytes") {
        Some(node) => node.integer(0..=limits::DYNAMIC_SHARED_BYTES)?,
        None => 0,
    };
    let repeat = match fields.optional("repeat") {
        Some(node) => node.integer(1..=limits::REPEAT)?,
        None => 1,
    };
    let arguments = match fields.optional("arguments") {
        Some(node) => node.array(0..=limits::ARGUMENTS, "arguments")?,
        None => vec![],
    };
    Ok(Launch {
        kernel: kernel.into(),
        grid,
        block,
        dynamic_shared: u32::try_from(dynamic_shared).expect("the limit fits"),
        repeat,
        arguments: arguments.iter().map(|node| argument(node, buffers)).collect::<Result<_>>()?,
    })
}

/// One to three sizes, each from 1 to its limit; those left out are 1.
fn extent(node: &Node<'_>, limits: [u64; 3], what: &str) -> Result<[u32; 3]> {
    let mut extent = [1; 3];
    for ((place, limit), node) in extent.iter_mut().zip(limits).zip(node.array(1..=3, what)?) {
        *place = u32::try_from(node.integer(1..=limit)?).expect("the limit fits");
    }
    Ok(extent)
}

/// `{ u32 = 5 }`, `{ buffer = "a" }` or `{ buffer = "a", byte_offset = 16 }`.
fn argument(node: &Node<'_>, buffers: &[Buffer]) -> Result<Argument> {
    let expected = || format!("a table with one of buffer, {}", Type::names());
    if node.has("buffer") {
        let fields = node.table(&["buffer", "byte_offset"])?;
        let index = find(&fields.required("buffer", "the name of a buffer")?, buffers)?;
        let byte_offset = match fields.optional("byte_offset") {
            Some(offset) => offset.integer(0..=buffers[index].bytes() as u64)?,
            None => 0,
        };
        return Ok(Argument::Buffer { index, byte_offset });
    }
    match node.choice(&expected())? {
        (name, Some(value)) => match Type::from_name(name) {
            Some(ty) => Ok(Argument::Scalar(ty.arg(number(&value, ty)?))),
            None => Err(node.error(format!("\"{}\"", name.escape_debug()), expected())),
        },
        _ => Err(node.error(node.found(), expected())),
    }
}

fn find(node: &Node<'_>, buffers: &[Buffer]) -> Result<usize> {
    let names = || buffers.iter().map(|buffer| buffer.name.as_str()).collect::<Vec<_>>().join(", ");
    let expected = || format!("the name of a buffer: {}", names());
    let name = node.string(&expected())?;
    let index = buffers.iter().position(|buffer| buffer.name == name);
    index.ok_or_else(|| node.error(node.found(), expected()))
}

fn check(node: &Node<'_>, buffers: &[Buffer], base: &Path) -> Result<Check> {
    let fields = node.table(&["buffer", "expected", "absolute", "relative"])?;
    let index = find(&fields.required("buffer", "the name of a buffer")?, buffers)?;
    let Buffer { ty, count, .. } = buffers[index];
    let expected = match fields.optional("expected") {
        Some(node) => Some(contents(&node, ty, count, base)?),
        None => None,
    };

    let mut bounds = [None; 2];
    for (bound, key) in bounds.iter_mut().zip(["absolute", "relative"]) {
        let Some(node) = fields.optional(key) else { continue };
        if !ty.is_float() {
            return Err(
                node.error(format!("a tolerance for elements of {}", ty.name()), "none: they are exact")
            );
        }
        if expected.is_none() {
            return Err(node.error("a tolerance without `expected`", "something to compare with"));
        }
        let value = node.number("a number that is not negative")?.as_f64();
        if !(value >= 0.0 && value.is_finite()) {
            return Err(node.error(node.found(), "a number that is not negative"));
        }
        *bound = Some(value);
    }
    let tolerance = match bounds {
        [None, None] => None,
        [absolute, relative] => {
            Some(Tolerance { absolute: absolute.unwrap_or(0.0), relative: relative.unwrap_or(0.0) })
        }
    };
    Ok(Check { buffer: index, expected, tolerance })
}

/// Reads the file that a value names, once its length is right.
fn read_file(
    node: &Node<'_>,
    base: &Path,
    right_length: impl Fn(u64) -> bool,
    expected: impl Fn() -> String,
) -> Result<Vec<u8>> {
    let path = base.join(node.name("the path of a file")?);
    let unreadable =
        |error: std::io::Error| node.error(format!("{} ({error})", node.found()), "a readable file");
    let meta = std::fs::metadata(&path).map_err(unreadable)?;
    if !meta.is_file() {
        return Err(node.error(format!("{}, which is no file", node.found()), "a readable file"));
    }
    let wrong = |bytes: u64| node.error(format!("a file of {bytes} bytes"), expected());
    if !right_length(meta.len()) {
        return Err(wrong(meta.len()));
    }
    let bytes = std::fs::read(&path).map_err(unreadable)?;
    // The file may have changed in between.
    if right_length(bytes.len() as u64) { Ok(bytes) } else { Err(wrong(bytes.len() as u64)) }
}
