//! What a client hands over as a module: PTX, or something that holds none.

use strata_gpu::device::{Card, LoadError, ModuleId};
use strata_gpu::program::KernelError;
use strata_ptx::back::Options;
use strata_ptx::front::{Diagnostics, Kind};

use crate::client::Bytes;
use crate::engine::Engine;
use crate::jit::Jit;
use crate::log;
use crate::status::{Answer, Status};

/// Name of a text in messages that came without one.
pub const UNNAMED: &str = "module.ptx";

/// First bytes of what is no PTX: ELF, a fat binary, the wrapper of one.
const BINARIES: [[u8; 4]; 3] = [*b"\x7fELF", 0xba55_ed50_u32.to_le_bytes(), 0x4662_43b1_u32.to_le_bytes()];

/// The text of an image that ends with NUL.
pub fn text(image: Bytes) -> Answer<String> {
    let first = image.read(1)?;
    // One byte after the other: a text may end before four.
    let mut start = [first[0], 0, 0, 0];
    for place in 1..4 {
        if start[place - 1] == 0 {
            break;
        }
        start[place] = image.read(place + 1)?[place];
    }
    if BINARIES.contains(&start) {
        log::once("an image holds machine code or a fat binary; only PTX is executed".into());
        return Err(Status::NoBinaryForGpu);
    }
    image.text().get().map(str::to_owned).map_err(|_| Status::InvalidImage)
}

/// Begins the last line of a linked image that was made for so many registers a thread.
const REGISTERS: &str = "// registers a thread at most: ";

/// A linked image: the text, what its options mean for its kernels, and NUL.
pub fn linked(text: &str, jit: &Jit) -> Box<[u8]> {
    let limit = jit.max_registers().map(|most| format!("\n{REGISTERS}{most}")).unwrap_or_default();
    [text.as_bytes(), limit.as_bytes(), b"\0"].concat().into_boxed_slice()
}

/// The registers that a linked image was made for.
pub fn registers(text: &str) -> Option<u32> {
    text.lines().next_back()?.strip_prefix(REGISTERS)?.parse().ok()
}

/// The status of what is wrong with a text.
pub fn status(diagnostics: &Diagnostics) -> Status {
    if diagnostics.only_unsupported() { Status::NotSupported } else { Status::InvalidPtx }
}

/// Loads a text, and says in the client's log what is wrong with it. Kernels are looked at too: what breaks a rule of PTX
/// fails the load; what is only not executed fails when such a kernel is asked for.
pub fn load(
    card: &mut Card<Engine>,
    name: &str,
    text: &str,
    options: Options,
    jit: &Jit,
) -> Answer<ModuleId> {
    let complain = |text: &str, status| {
        log::say(log::Level::Once, || text.to_owned());
        jit.complain(text)?;
        Err(status)
    };
    let module = strata_workloads::Module { name, text };
    let id = match card.load(module, jit.limited(registers(text)).compile(options)) {
        Ok(id) => id,
        Err(LoadError::Text(diagnostics)) => {
            return complain(&diagnostics.to_string(), status(&diagnostics));
        }
        Err(LoadError::Memory(error)) => return complain(&error.to_string(), Status::OutOfMemory),
    };
    let names: Vec<String> = card
        .program(id)
        .into_iter()
        .flat_map(|program| program.kernel_names().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    for name in names {
        if let Err(KernelError::Text(diagnostics)) = card.kernel(id, &name)
            && diagnostics.0.iter().any(|diagnostic| diagnostic.kind == Kind::Invalid)
        {
            card.unload(id);
            return complain(&diagnostics.to_string(), Status::InvalidPtx);
        }
    }
    jit.done()?;
    Ok(id)
}
