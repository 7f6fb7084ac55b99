//! `[[launch]]` tables.

use std::path::Path;

use super::super::node::Node;
use super::super::number::Type;
use super::super::{Argument, Buffer, Launch, Write, limits};
use super::buffer::number;
use super::{Result, find, read_file};

pub(super) fn launch(node: &Node<'_>, buffers: &[Buffer], kernels: &[&str], base: &Path) -> Result<Launch> {
    let known = ["before", "kernel", "grid", "block", "dynamic_shared_bytes", "repeat", "arguments"];
    let fields = node.table(&known)?;
    let before = match fields.optional("before") {
        Some(node) => node.array(0..=limits::WRITES, "writes")?,
        None => vec![],
    };
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
        before: before.iter().map(|node| write(node, buffers, base)).collect::<Result<_>>()?,
        kernel: kernel.into(),
        grid,
        block,
        dynamic_shared: u32::try_from(dynamic_shared).expect("the limit fits"),
        repeat,
        arguments: arguments.iter().map(|node| argument(node, buffers)).collect::<Result<_>>()?,
    })
}

/// What the host writes before a launch: `{ buffer = "a", byte_offset = 16, file = "a.bin" }`, or `bytes` and `fill`
/// instead of `file`.
fn write(node: &Node<'_>, buffers: &[Buffer], base: &Path) -> Result<Write> {
    let fields = node.table(&["buffer", "byte_offset", "bytes", "fill", "file"])?;
    let index = find(&fields.required("buffer", "the name of a buffer")?, buffers)?;
    let size = buffers[index].bytes() as u64;
    let byte_offset = match fields.optional("byte_offset") {
        Some(offset) => offset.integer(0..=size)?,
        None => 0,
    };
    let room = size - byte_offset;
    if let Some(file) = fields.optional("file") {
        if let Some(other) = fields.optional("fill").or(fields.optional("bytes")) {
            return Err(other.error("both it and `file`", "one of them"));
        }
        let expected = || format!("at most the {room} bytes that follow in the buffer");
        return Ok(Write::Bytes {
            buffer: index,
            byte_offset,
            bytes: read_file(&file, base, |bytes| bytes <= room, expected)?,
        });
    }
    let value = fields.required("fill", "a byte, or `file` with bytes")?.integer(0..=255)?;
    let bytes = match fields.optional("bytes") {
        Some(bytes) => bytes.integer(0..=room)?,
        None => room,
    };
    Ok(Write::Fill { buffer: index, byte_offset, bytes, value: u8::try_from(value).expect("the limit fits") })
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
