//! What the file of a workload uses.

#![allow(unused_imports, reason = "each workload uses a part")]

pub(super) use super::part::{Part, then_as_before};
pub(super) use super::{Body, Input, Kernel, Origin, Piece, Size, Workload};
pub(super) use crate::check::{Bounded, Near, RunningSum, gamma};
pub(super) use crate::host::{Host, args};
pub(super) use crate::random::Random;
pub(super) use crate::{Arg, DeviceError};

/// An input: its size, its size in words, its host side.
pub(super) const fn input(size: Size, words: &'static str, body: fn() -> Box<dyn Body>) -> Input {
    Input { size, words, origin: None, body }
}

/// The input of the workload's suite: in words, where the suite has it, what of the program runs, its host side.
pub(super) const fn suite_input(
    words: &'static str,
    source: &'static str,
    piece: Piece,
    body: fn() -> Box<dyn Body>,
) -> Input {
    Input { size: Size::Suite, words, origin: Some(Origin { source, piece }), body }
}

/// An entry, and the kernel of the suite's program that it stands for.
pub(super) const fn kernel(entry: &'static str, original: &'static str) -> Kernel {
    Kernel { entry, original }
}

/// The CTAs that cover `threads` threads, `block` at a time.
pub(super) fn ctas(threads: usize, block: u32) -> u32 {
    u32::try_from(threads.div_ceil(block as usize)).expect("a workload's grid fits its launch")
}

/// A size as kernels take it.
pub(super) fn int(n: usize) -> i32 {
    i32::try_from(n).expect("a workload's sizes fit an int")
}
