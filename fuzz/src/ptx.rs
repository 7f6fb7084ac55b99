//! PTX text: parsed, lowered, compiled, and run on the reference executor where that is cheap.

use strata_ptx::back::{self, AccessRules, Options, RegisterAllocation, WideAccesses};
use strata_ptx::front::{self, LoweredModule};
use strata_ptx::ir::Opaque;
use strata_ptx::isa::Geometry;
use strata_ptx::program::Kernel;
use strata_ptx::reference::{self, Executor, GlobalMemory, LaunchConfig, place_variables};
use strata_ptx::texture::{
    Addressing, Channel, Filter, Format, Header, Headers, Image, Layout, Read, Texture,
};

/// Instructions of a kernel beyond which it is not compiled: compilation is not linear, and a long kernel finds
/// nothing that a short one does not.
const MOST_INSTRUCTIONS: usize = 1_000;
/// Bytes of variables, and of shared or local memory, that are allocated for a run.
const MOST_BYTES: u64 = 1 << 16;
/// Warp instructions of a run.
const MOST_STEPS: u64 = 4_000;
/// Threads of a CTA: one warp and a part of another.
const THREADS: u32 = 40;

/// What to compile for: plenty of registers with loads moved ahead, and independent threads; and so few that values are spilled, as
/// written, with parameters loaded.
const OPTIONS: [Options; 2] = [
    Options {
        max_registers: 63,
        max_predicates: 7,
        reserved_registers: 3,
        sm_threads: 2048,
        register_unit: 8,
        sm_registers: 65_536,
        load_window: 32,
        allocation: RegisterAllocation::Spread,
        indirect_mov: true,
        independent_threads: true,
        loads_parameters: false,
        accesses: AccessRules { wide: WideAccesses::OneNumber, predicates: true },
    },
    Options {
        max_registers: 16,
        max_predicates: 2,
        reserved_registers: 3,
        sm_threads: 2048,
        register_unit: 8,
        sm_registers: 65_536,
        load_window: 0,
        allocation: RegisterAllocation::Separate,
        indirect_mov: true,
        independent_threads: false,
        loads_parameters: true,
        accesses: AccessRules { wide: WideAccesses::Once, predicates: true },
    },
];

/// Does with the text what a run of it would.
pub fn try_input(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Ok(parsed) = front::parse_module("fuzz.ptx", text) else { return };
    // One kernel that is not executed does not hide the others.
    if let Err(error) = front::lower(&parsed, Some(&[])) {
        let _ = error.to_string();
        return;
    }
    match front::lower(&parsed, None) {
        Ok(module) => compile_and_run(&module),
        Err(error) => drop(error.to_string()),
    }
}

fn compile_and_run(module: &LoweredModule) {
    for function in module.functions.iter().take(4) {
        if function.code.len() > MOST_INSTRUCTIONS {
            continue;
        }
        for options in &OPTIONS {
            match back::compile(function, options) {
                Ok(kernel) => run(&kernel, module),
                Err(error) => drop(error.to_string()),
            }
        }
    }
}

fn run(kernel: &Kernel, module: &LoweredModule) {
    let variables: u64 = module.variables.iter().fold(0, |sum, variable| sum.saturating_add(variable.bytes));
    let memory = [variables, u64::from(kernel.shared_bytes), u64::from(kernel.local_bytes)];
    if memory.iter().any(|bytes| *bytes > MOST_BYTES) || u64::from(kernel.param_bytes) > MOST_BYTES {
        return;
    }
    let mut memory = GlobalMemory::new();
    let mut headers = Headers::default();
    let addresses = place_variables(&module.variables, &mut memory, &mut headers);
    let buffer = memory.allocate_with((0..4096_u32).map(|n| (n * 7) as u8).collect());
    // Every reference is a texture or a surface of 16 by 16 texels on the buffer.
    for (variable, handle) in module.variables.iter().zip(&addresses) {
        let format = Format { channel: Channel::U8, channels: 4 };
        let (geometry, layout) = (Geometry::D2, Layout::Rows { pitch: 64 });
        let image = Image { base: buffer, format, geometry, width: 16, height: 16, depth: 1, layout };
        let texture = Texture {
            image,
            addressing: [Addressing::Wrap, Addressing::Mirror, Addressing::Border],
            filter: Filter::Linear,
            read: Read::Normalized,
            normalized: true,
            border: [0.5; 4],
            levels: strata_ptx::texture::Levels::ONE,
        };
        match variable.opaque {
            Some(Opaque::Texture) => headers.set(*handle, Header::Texture(texture)),
            Some(Opaque::Surface) => headers.set(*handle, Header::Surface(image)),
            _ => {}
        }
    }
    let mut params = vec![0; kernel.param_bytes as usize];
    for param in &kernel.params {
        let value = if param.bytes == 8 { buffer } else { 3 };
        let bytes = (param.bytes as usize).min(8);
        params[param.offset as usize..][..bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
    }
    let block = kernel.launch_bounds.required.unwrap_or([THREADS, 1, 1]);
    let config = LaunchConfig { grid: [2, 1, 1], block, cluster: None, dynamic_shared: 64, params };
    let options =
        reference::Options { instruction_limit: Some(MOST_STEPS), resident_ctas: 2, interrupt: None };
    let result = Executor::new(kernel, config, &addresses, &mut memory)
        .with_options(options)
        .with_headers(&headers)
        .run();
    if let Err(fault) = result {
        let _ = fault.to_string();
    }
}
