//! Barriers of a grid for texts that call the device runtime: `cudaCGGetIntrinsicHandle` and `cudaCGSynchronize`, which compilers
//! other than nvcc use, are declared there and defined in `libcudadevrt.a`, as machine code.
//!
//! They are a PTX text of their own, linked in when a text needs it. The handle of a grid is the workspace of its cooperative
//! launch ([`Kernel::with_grid_workspace`](crate::program::Kernel::with_grid_workspace)), in whose second word the CTAs are
//! counted, as nvcc's own headers do.

use std::borrow::Cow;

use super::ast::{Item, Module};
use super::diagnostic::Diagnostics;
use super::{link, parse_module};

/// The text.
const GRID: &str = include_str!("grid.ptx");

/// What it defines.
const NAMES: [&str; 2] = ["cudaCGGetIntrinsicHandle", "cudaCGSynchronize"];

/// The module with the functions, if it declares one of them without a body.
pub(super) fn linked(module: &Module) -> Result<Cow<'_, Module>, Diagnostics> {
    let functions = || {
        module.items.iter().filter_map(|item| match item {
            Item::Function(function) => Some((module.names.text(function.name), function.body.is_some())),
            _ => None,
        })
    };
    let is_defined = |wanted: &str| functions().any(|(name, defined)| defined && name == wanted);
    let lacks = functions().any(|(name, defined)| !defined && NAMES.contains(&name) && !is_defined(name));
    if !lacks || module.address_size != 64 {
        return Ok(Cow::Borrowed(module));
    }
    link::link(vec![module.clone(), parse_module("the device runtime", GRID)?]).map(Cow::Owned)
}
