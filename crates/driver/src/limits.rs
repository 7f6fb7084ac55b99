//! Limits of a context. The stack and heap limits apply to kernels; the others are only stored.

use std::sync::Arc;

use strata_gpu::device::Entry;
use strata_ptx::front::ast::DEFAULT_HEAP_BYTES;
use strata_ptx::program::DEFAULT_STACK_BYTES;

use crate::objects::{Context, Function, Module};
use crate::state::State;
use crate::status::{Answer, Status};
use crate::table::Handle;

/// Kinds of limits: values of `CUlimit`.
mod number {
    pub const STACK: u32 = 0;
    pub const HEAP: u32 = 2;
}

/// Defaults, by number: bytes of stack, print buffer and heap; synchronisation depth, pending launches, fetch
/// granularity, persisting L2.
const DEFAULTS: [usize; 7] =
    [DEFAULT_STACK_BYTES as usize, 1 << 20, DEFAULT_HEAP_BYTES as usize, 2, 2048, 128, 0];

/// Maximum local memory of a thread in bytes (CUDA C programming guide, technical specifications).
const MAX_LOCAL_BYTES: usize = 512 << 10;

impl State {
    /// A limit as the client set it, or its default.
    pub fn limit(&self, context: Handle<Context>, limit: u32) -> Answer<usize> {
        let default = *DEFAULTS.get(limit as usize).ok_or(Status::UnsupportedLimit)?;
        Ok(self.contexts.get(context)?.limits.get(&limit).copied().unwrap_or(default))
    }

    /// Sets a limit for later launches. The heap limit cannot change once kernels have used the heap.
    pub fn set_limit(&mut self, context: Handle<Context>, limit: u32, value: usize) -> Answer {
        let before = self.limit(context, limit)?;
        match limit {
            number::STACK if value > MAX_LOCAL_BYTES => return Err(Status::InvalidValue),
            number::HEAP => {
                let modules = self.modules_of(context);
                if modules.iter().any(|module| self.modules.get(*module).is_ok_and(|module| module.heap_used))
                {
                    return Err(Status::InvalidValue);
                }
                let resized = modules.iter().try_for_each(|module| self.resize_heap(*module, value as u64));
                if let Err(status) = resized {
                    for module in &modules {
                        self.resize_heap(*module, before as u64)?;
                    }
                    return Err(status);
                }
            }
            _ => {}
        }
        self.contexts.get_mut(context)?.limits.insert(limit, value);
        Ok(())
    }

    /// Size in bytes of the heap of a context's kernels.
    pub fn heap_bytes(&self, context: Handle<Context>) -> Answer<u64> {
        Ok(self.limit(context, number::HEAP)? as u64)
    }

    /// The kernel that a function launches now, with the stack size of its context.
    pub fn entry(&mut self, function: Handle<Function>) -> Answer<Entry> {
        let known = self.functions.get(function)?;
        let bytes = self.limit(self.modules.get(known.module)?.context, number::STACK)? as u32;
        let known = self.functions.get_mut(function)?;
        let entry = known.stacked.as_ref().unwrap_or(&known.entry);
        if entry.kernel.stack_bytes > 0 && known.stack_limit != bytes {
            let kernel = known.entry.kernel.as_ref().clone().with_stack(bytes);
            known.stacked = Some(Entry { kernel: Arc::new(kernel), ..known.entry.clone() });
            known.stack_limit = bytes;
        }
        Ok(known.stacked.as_ref().unwrap_or(&known.entry).clone())
    }

    /// Records that a kernel of a function's module has run, and may have changed the module's heap.
    pub fn has_run(&mut self, entry: &Entry, function: Handle<Function>) -> Answer {
        let has_heap = self.card()?.program(entry.module).is_some_and(|program| program.has_heap());
        let module = self.functions.get(function)?.module;
        self.modules.get_mut(module)?.heap_used |= has_heap;
        Ok(())
    }

    fn modules_of(&self, context: Handle<Context>) -> Vec<Handle<Module>> {
        let all = self.modules.iter().filter(|(_, module)| module.context == context);
        all.map(|(handle, _)| handle).collect()
    }

    /// Changes the size of a module's heap, which recompiles its kernels.
    fn resize_heap(&mut self, module: Handle<Module>, bytes: u64) -> Answer {
        let known = self.modules.get(module)?;
        let (id, functions) = (known.id, known.functions.clone());
        self.card()?.resize_heap(id, bytes).map_err(|_| Status::OutOfMemory)?;
        for (name, function) in functions {
            let entry = self.card()?.kernel(id, &name).map_err(|_| Status::Unknown)?;
            let known = self.functions.get_mut(function)?;
            (known.entry, known.stacked, known.stack_limit) = (entry, None, DEFAULT_STACK_BYTES);
        }
        Ok(())
    }
}
