//! Checked text to the middle form.
//!
//! Checking and lowering are one walk: every operand is fetched with the type that the instruction wants,
//! and the fetch is the check.

mod address;
mod arithmetic;
mod asynchronous;
mod atomic;
mod barrier;
mod bits;
mod builder;
mod bulk;
mod call;
mod cluster;
mod compare;
mod convert;
mod dispatch;
mod extended;
mod float;
mod flow;
mod function;
mod graph;
mod indirect;
mod initialiser;
mod matrix;
mod memory;
mod moves;
mod operand;
mod pack;
mod params;
mod print;
mod scope;
mod special;
mod stack;
mod surface;
mod texture;
mod tile;
mod top_level;
mod variables;
mod vector_atomic;
mod video;
mod warp;
mod warpgroup;
mod wmma;

use super::diagnostic::{Diagnostic, Diagnostics, Place};
use super::{ast, grid, heap};
use crate::ir::{Function, Variable};
use builder::Builder;
use variables::Globals;

/// What [`lower`] makes of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct LoweredModule {
    /// Kernels in the order of the text, with all that they call.
    pub functions: Vec<Function>,
    /// `.global` and `.const` variables; `Constant::Symbol` indexes them.
    pub variables: Vec<Variable>,
    /// `.target`, for messages.
    pub target: String,
}

/// Lowers the kernels named in `kernels`, or all.
///
/// # Errors
/// Everything found wrong with, or not executable in, those kernels and the variables; a name in
/// `kernels` that the text lacks.
pub fn lower(module: &ast::Module, kernels: Option<&[&str]>) -> Result<LoweredModule, Diagnostics> {
    let with_grid = grid::linked(module)?;
    let linked = heap::linked(&with_grid)?;
    let heap_from = matches!(linked, std::borrow::Cow::Owned(_)).then(|| heap::lines_before(&linked));
    let module = &*linked;
    let mut failures = Vec::new();
    if module.address_size != 64 {
        let failure = Diagnostic::unsupported(module.address_size_place, "32-bit addresses")
            .found("`.address_size 32`")
            .expected("`.address_size 64`");
        return Err(Diagnostics::of_module(module, [failure]));
    }
    let globals = Globals::new(module, heap_from, &mut failures);
    let wanted = |function: &&ast::Function| {
        let name = module.names.text(function.name);
        function.entry && function.body.is_some() && kernels.is_none_or(|kernels| kernels.contains(&name))
    };
    let entries = || {
        module.items.iter().filter_map(|item| match item {
            ast::Item::Function(function) => Some(function),
            _ => None,
        })
    };
    for missing in kernels.unwrap_or_default() {
        let known = |function: &ast::Function| {
            function.entry && function.body.is_some() && module.names.text(function.name) == *missing
        };
        if !entries().any(known) {
            let names: Vec<String> = entries()
                .filter(|function| function.entry)
                .map(|function| format!("`{}`", module.names.text(function.name)))
                .collect();
            failures.push(
                Diagnostic::invalid(Place { line: 1, column: 1 }, "no such kernel")
                    .found(format!("`{missing}`"))
                    .expected(if names.is_empty() {
                        "a text with kernels".to_string()
                    } else {
                        names.join(", ")
                    }),
            );
        }
    }
    let mut functions = Vec::new();
    for function in entries().filter(wanted) {
        functions.extend(Builder::new(module, &globals).kernel(function, &mut failures));
    }
    // A body expanded at several calls fails at each of them alike.
    failures.sort_by_key(|failure| (failure.line, failure.column));
    failures.dedup();
    if failures.is_empty() {
        Ok(LoweredModule { functions, variables: globals.variables, target: module.target.clone() })
    } else {
        Err(Diagnostics::of_module(module, failures))
    }
}
