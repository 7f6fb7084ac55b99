//! The device heap: `malloc` and `free` for texts that only declare them.
//!
//! The heap is a PTX text of its own ([`HEAP`]), linked in when a text needs it: its memory is a `.global` variable, and it
//! works by the atomics that the machine models, so it costs what such a heap costs, and addresses follow from the order
//! of the machine's events alone, whatever the number of host threads.
//!
//! A block is a header of 16 bytes (size class, state, next free block of its class) and the bytes asked for, rounded up
//! to one of four sizes per power of two. Free blocks of a class are a list whose head carries a count of changes, so
//! that a compare-and-swap never mistakes an old head for a new one; without one, a block comes from where the heap was
//! never used. No thread waits for another, so lanes of a warp cannot lock each other out.

use std::borrow::Cow;

use super::ast::{Item, Module};
use super::diagnostic::Diagnostics;
use super::{link, parse_module};

/// The text; `HEAP_BYTES` and `MESSAGE` are filled in.
const HEAP: &str = include_str!("heap.ptx");

/// What a `free` of anything else is told.
const MESSAGE: &str = "the pointer is from malloc and not freed yet";

/// Most bytes of a heap: the size classes end there.
const MAX_HEAP_BYTES: u64 = 1 << 36;

/// The module with a heap, if it declares `malloc` or `free` without a body.
pub(super) fn linked(module: &Module) -> Result<Cow<'_, Module>, Diagnostics> {
    let is = |with_body: bool, wanted: &str| {
        module.items.iter().any(|item| match item {
            Item::Function(function) => {
                function.body.is_some() == with_body && module.names.text(function.name) == wanted
            }
            _ => false,
        })
    };
    let lacks = |name| is(false, name) && !is(true, name);
    if !lacks("malloc") && !lacks("free") || module.address_size != 64 {
        return Ok(Cow::Borrowed(module));
    }
    let bytes: Vec<String> = MESSAGE.bytes().chain([0]).map(|byte| byte.to_string()).collect();
    let text = HEAP
        .replace("HEAP_BYTES", &module.heap_bytes.clamp(16, MAX_HEAP_BYTES).next_multiple_of(16).to_string())
        .replace("MESSAGE", &bytes.join(", "));
    let heap = parse_module("the device heap", &text)?;
    link::link(vec![module.clone(), heap]).map(Cow::Owned)
}

/// Lines before those of the heap, in a module that [`linked`] linked with it.
pub(super) fn lines_before(with_heap: &Module) -> u32 {
    with_heap.sources.last().map_or(0, |source| source.before)
}
