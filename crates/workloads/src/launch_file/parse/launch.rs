//! `[[launch]]` tables.

use super::super::folder::Folder;
use super::super::node::{Fields, Node, list, shorten};
use super::super::number::Type;
use super::super::ptx::{Kernel, Parameter};
use super::super::{Argument, Buffer, Launch, Processor, Write, limits, ptx};
use super::buffer::number;
use super::{Result, find};
use crate::Shape;

pub(super) fn launch(
    node: &Node<'_>,
    buffers: &[Buffer],
    kernels: &[Kernel<'_>],
    folder: &Folder<'_>,
) -> Result<Launch> {
    let known =
        ["before", "kernel", "cpu_threads", "grid", "block", "dynamic_shared_bytes", "repeat", "arguments"];
    let fields = node.table(&known)?;
    let before = match fields.optional("before") {
        Some(node) => node.array(0..=limits::WRITES, "writes")?,
        None => vec![],
    };
    let kernel = kernel(&fields, kernels)?;
    let place = match fields.optional("cpu_threads") {
        Some(node) => phase(&fields, &node)?,
        None => shape(&fields)?,
    };
    let repeat = match fields.optional("repeat") {
        Some(node) => node.integer(1..=limits::REPEAT)?,
        None => 1,
    };
    Ok(Launch {
        before: before.iter().map(|node| write(node, buffers, folder)).collect::<Result<_>>()?,
        kernel: kernel.name.into(),
        place,
        repeat,
        arguments: arguments(&fields, kernel.parameters.as_deref(), buffers)?,
    })
}

/// Grid and block of a launch on the GPU.
fn shape(fields: &Fields<'_>) -> Result<Processor> {
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
    let dynamic_shared = u32::try_from(dynamic_shared).expect("the limit fits");
    Ok(Processor::Gpu(Shape::new(grid, block).with_shared(dynamic_shared)))
}

/// The threads of a host phase, which has no other shape.
fn phase(fields: &Fields<'_>, threads: &Node<'_>) -> Result<Processor> {
    for key in ["grid", "block", "dynamic_shared_bytes"] {
        if let Some(other) = fields.optional(key) {
            return Err(other.error("both it and `cpu_threads`", "one of them"));
        }
    }
    let threads = threads.integer(1..=limits::CPU_THREADS)?;
    Ok(Processor::Cpu(u32::try_from(threads).expect("the limit fits")))
}

/// The kernel to launch.
fn kernel<'k, 'a>(fields: &Fields<'_>, kernels: &'k [Kernel<'a>]) -> Result<&'k Kernel<'a>> {
    let names = || list(kernels.iter().map(|kernel| kernel.name));
    let expected = || format!("a kernel of the module: {}", names());
    let node = fields.required("kernel", &expected())?;
    let name = node.string(&expected())?;
    let found = kernels.iter().find(|kernel| kernel.name == name);
    found.ok_or_else(|| node.error(node.found(), expected()))
}

/// One argument for each parameter of the kernel, where those are known.
fn arguments(
    fields: &Fields<'_>,
    parameters: Option<&[Parameter<'_>]>,
    buffers: &[Buffer],
) -> Result<Vec<Argument>> {
    let node = fields.optional("arguments");
    let nodes = match &node {
        Some(node) => node.array(0..=limits::ARGUMENTS, "arguments")?,
        None => vec![],
    };
    if let Some(parameters) = parameters
        && parameters.len() != nodes.len()
    {
        let expected = match parameters.len() {
            0 => "none: the kernel has no parameters".into(),
            count => format!("{count}, for the parameters {}", ptx::list(parameters)),
        };
        return Err(match node {
            Some(node) => node.error(format!("{} arguments", nodes.len()), expected),
            None => fields.missing("arguments", &expected),
        });
    }
    let parameter = |index| parameters.map(|parameters: &[Parameter<'_>]| &parameters[index]);
    nodes.iter().enumerate().map(|(index, node)| argument(node, parameter(index), buffers)).collect()
}

/// What the host writes before a launch: `{ buffer = "a", byte_offset = 16, file = "a.bin" }`, or `bytes` and `fill`
/// instead of `file`.
fn write(node: &Node<'_>, buffers: &[Buffer], folder: &Folder<'_>) -> Result<Write> {
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
            bytes: folder.read(&file, |bytes| bytes <= room, expected)?,
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

/// `{ u32 = 5 }`, `{ buffer = "a" }` or `{ buffer = "a", byte_offset = 16 }`, of the parameter's type where that is
/// known.
fn argument(node: &Node<'_>, parameter: Option<&Parameter<'_>>, buffers: &[Buffer]) -> Result<Argument> {
    let expected = || format!("a table with one of buffer, {}", Type::names());
    if node.has("buffer") {
        let fields = node.table(&["buffer", "byte_offset"])?;
        let index = find(&fields.required("buffer", "the name of a buffer")?, buffers)?;
        let byte_offset = match fields.optional("byte_offset") {
            Some(offset) => offset.integer(0..=buffers[index].bytes() as u64)?,
            None => 0,
        };
        return match parameter.filter(|parameter| !parameter.takes_address()) {
            Some(parameter) => Err(node.error("the address of a buffer", parameter.expected())),
            None => Ok(Argument::Buffer { index, byte_offset }),
        };
    }
    let (name, Some(value)) = node.choice(&expected())? else {
        return Err(node.error(node.found(), expected()));
    };
    let Some(ty) = Type::from_name(name) else {
        return Err(node.error(format!("\"{}\"", shorten(name)), expected()));
    };
    let argument = Argument::Scalar(ty.arg(number(&value, ty)?));
    match parameter.filter(|parameter| !parameter.takes(ty)) {
        Some(parameter) => Err(value.error(name, parameter.expected())),
        None => Ok(argument),
    }
}
