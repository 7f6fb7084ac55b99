//! Options for loading and linking: log buffers and a register limit.

use crate::client::{Bytes, In};
use crate::status::{Answer, Status};

/// Options with an effect; the others change nothing that is modelled.
mod option {
    pub const MAX_REGISTERS: u32 = 0;
    pub const INFO_LOG_BUFFER: u32 = 3;
    pub const INFO_LOG_BUFFER_BYTES: u32 = 4;
    pub const ERROR_LOG_BUFFER: u32 = 5;
    pub const ERROR_LOG_BUFFER_BYTES: u32 = 6;
    pub const COUNT: u32 = 64;
}

/// A client's buffer for log text.
#[derive(Clone, Copy, Debug, Default)]
struct Log {
    address: u64,
    bytes: u32,
    /// Address that receives the number of bytes written: the option's own value.
    written: Option<u64>,
}

impl Log {
    fn write(&self, text: &str) -> Answer {
        let room = if self.address == 0 { 0 } else { self.bytes as usize };
        let Some(most) = room.checked_sub(1) else { return Ok(()) };
        // Truncate between characters.
        let end = (0..=text.len().min(most)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        let buffer = Bytes::at(self.address).write(end + 1)?;
        buffer[..end].copy_from_slice(&text.as_bytes()[..end]);
        buffer[end] = 0;
        if let Some(written) = self.written {
            Bytes::at(written).out::<usize>().put(end)?;
        }
        Ok(())
    }
}

/// The options of one call.
#[derive(Clone, Copy, Debug, Default)]
pub struct Jit {
    max_registers: Option<u32>,
    info: Log,
    error: Log,
}

impl Jit {
    /// Reads `count` options and their values.
    pub fn read(count: u32, options: In<u32>, values: Bytes) -> Answer<Jit> {
        let mut jit = Jit::default();
        let count = count as usize;
        // There are fewer kinds of options than that.
        if count > option::COUNT as usize || count > 0 && (options.is_null() || values.is_null()) {
            return Err(Status::InvalidValue);
        }
        for index in 0..count {
            let value = values.values::<u64>().at(index)?;
            let place = Some(values.address() + 8 * index as u64);
            match options.at(index)? {
                option::MAX_REGISTERS => jit.max_registers = Some(value as u32).filter(|most| *most > 0),
                option::INFO_LOG_BUFFER => jit.info.address = value,
                option::INFO_LOG_BUFFER_BYTES => (jit.info.bytes, jit.info.written) = (value as u32, place),
                option::ERROR_LOG_BUFFER => jit.error.address = value,
                option::ERROR_LOG_BUFFER_BYTES => {
                    (jit.error.bytes, jit.error.written) = (value as u32, place)
                }
                other if other < option::COUNT => {}
                _ => return Err(Status::InvalidValue),
            }
        }
        Ok(jit)
    }

    /// Combines the options of a later call with those of the first.
    pub fn over(self, first: Jit) -> Jit {
        let given = |log: Log, or: Log| if log.address == 0 { or } else { log };
        Jit {
            max_registers: self.max_registers.or(first.max_registers),
            info: given(self.info, first.info),
            error: given(self.error, first.error),
        }
    }

    /// Compiler options with the client's register limit applied.
    pub fn compile(&self, options: strata_ptx::back::Options) -> strata_ptx::back::Options {
        let max_registers = self.max_registers.map_or(options.max_registers, |most| {
            // The lowest register limit that PTX compilers accept.
            most.max(16).min(options.max_registers)
        });
        strata_ptx::back::Options { max_registers, ..options }
    }

    /// The client's limit on registers per thread.
    pub fn max_registers(&self) -> Option<u32> {
        self.max_registers
    }

    /// These options with the register limit that an image carries.
    pub fn limited(self, max_registers: Option<u32>) -> Jit {
        Jit { max_registers: self.max_registers.or(max_registers), ..self }
    }

    /// Writes an error to the client's log.
    pub fn complain(&self, text: &str) -> Answer {
        self.error.write(text)
    }

    /// These options without log buffers, for use after the call.
    pub fn silent(self) -> Jit {
        Jit { max_registers: self.max_registers, ..Jit::default() }
    }

    /// Clears the logs, because there were no errors.
    pub fn done(&self) -> Answer {
        self.error.write("")?;
        self.info.write("")
    }
}
