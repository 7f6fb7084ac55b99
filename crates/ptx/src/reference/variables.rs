//! Module variables and kernel arguments as bytes.

use super::global::GlobalMemory;
use crate::ir::Variable;
use crate::program::Kernel;
use crate::texture::Headers;

/// Allocates a module's variables, initialised, the addresses inside initialisers filled in; returns their
/// addresses in order, as [`super::Executor::new`] takes them. References to textures and surfaces get handles.
///
/// # Panics
/// When an initialiser is longer than its variable, or an address in it lies outside: the front end checks both.
pub fn place_variables(variables: &[Variable], memory: &mut GlobalMemory, headers: &mut Headers) -> Vec<u64> {
    let addresses: Vec<u64> = variables
        .iter()
        .map(|variable| {
            if variable.opaque.is_some() {
                return headers.reserve();
            }
            let mut bytes = vec![0; variable.bytes as usize];
            bytes[..variable.init.len()].copy_from_slice(&variable.init);
            memory.allocate_with(bytes)
        })
        .collect();
    for (variable, address) in variables.iter().zip(&addresses) {
        for relocation in &variable.relocations {
            let target = addresses[relocation.symbol as usize].wrapping_add_signed(relocation.addend);
            memory
                .bytes_mut(address + relocation.at, 8)
                .expect("a relocation lies inside its variable")
                .copy_from_slice(&target.to_le_bytes());
        }
    }
    addresses
}

/// The parameter block of scalar arguments, each cut to its parameter's size.
///
/// # Errors
/// The numbers of parameters and arguments, when they differ.
pub fn pack_arguments(kernel: &Kernel, arguments: &[u64]) -> Result<Vec<u8>, String> {
    if kernel.params.len() != arguments.len() {
        return Err(format!(
            "kernel {} takes {} arguments, {} are given",
            kernel.name,
            kernel.params.len(),
            arguments.len()
        ));
    }
    let mut block = vec![0; kernel.param_bytes as usize];
    for (param, argument) in kernel.params.iter().zip(arguments) {
        let bytes = (param.bytes as usize).min(8);
        block[param.offset as usize..][..bytes].copy_from_slice(&argument.to_le_bytes()[..bytes]);
    }
    Ok(block)
}
