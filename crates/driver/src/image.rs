//! What a client loads as a module: a PTX text or several linked ones. Binary images are refused.
//!
//! A linked image is its texts in order. A first line gives the register limit they were linked with, and a
//! line before each text gives its length. Loading parses them as one program.

use strata_gpu::device::{Card, ModuleId};
use strata_gpu::program::{KernelError, Program};
use strata_ptx::back::Options;
use strata_ptx::front::{Diagnostics, Kind};
use strata_workloads::Module;

use crate::client::Bytes;
use crate::engine::Engine;
use crate::jit::Jit;
use crate::log;
use crate::status::{Answer, Status};

/// Name for a text that came without one, used in messages.
pub const UNNAMED: &str = "module.ptx";

/// First bytes of images that are not PTX: ELF, a fat binary, a fat binary's wrapper.
const BINARIES: [[u8; 4]; 3] = [*b"\x7fELF", 0xba55_ed50_u32.to_le_bytes(), 0x4662_43b1_u32.to_le_bytes()];

/// Start of a linked image; the maximum number of registers per thread follows, or 0.
const LINKED: &str = "// linked texts; registers a thread at most: ";
/// Start of a text in a linked image; its length in bytes, a space and its name follow.
const TEXT: &str = "// text: ";

/// One or more PTX texts that form a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// Name and text of each.
    pub texts: Vec<(String, String)>,
    /// Maximum number of registers per thread, if the image was linked with a limit.
    pub registers: Option<u32>,
}

impl Image {
    /// An image of one text.
    pub fn of(name: &str, text: String) -> Image {
        Image { texts: vec![(name.to_owned(), text)], registers: None }
    }

    /// Reads an image, which ends with NUL, from the client's memory.
    pub fn read(image: Bytes) -> Answer<Image> {
        let first = image.read(1)?;
        // Read byte by byte, because a text may be shorter than four bytes.
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
        let text = image.text().get().map_err(|_| Status::InvalidImage)?;
        match text.strip_prefix(LINKED) {
            None => Ok(Image::of(UNNAMED, text.to_owned())),
            Some(rest) => Image::linked(rest).ok_or(Status::InvalidImage),
        }
    }

    fn linked(rest: &str) -> Option<Image> {
        let (registers, mut rest) = rest.split_once('\n')?;
        let registers = Some(registers.parse().ok()?).filter(|most| *most > 0);
        let mut texts = Vec::new();
        while let Some(text) = rest.strip_prefix(TEXT) {
            let (head, text) = text.split_once('\n')?;
            let (bytes, name) = head.split_once(' ')?;
            let (text, after) = text.split_at_checked(bytes.parse().ok()?)?;
            texts.push((name.to_owned(), text.to_owned()));
            rest = after.strip_prefix('\n')?;
        }
        (rest.is_empty() && !texts.is_empty()).then_some(Image { texts, registers })
    }

    /// Encodes the image in the form that [`Image::read`] reads.
    pub fn to_bytes(&self) -> Box<[u8]> {
        let mut all = format!("{LINKED}{}\n", self.registers.unwrap_or(0));
        for (name, text) in &self.texts {
            all += &format!("{TEXT}{} {}\n{text}\n", text.len(), name.replace('\n', " "));
        }
        all.push('\0');
        all.into_bytes().into_boxed_slice()
    }

    /// Parses the texts into a program whose device heap has `heap_bytes` bytes. Errors go to the client's
    /// log.
    pub fn program(&self, options: Options, heap_bytes: u64, jit: &Jit) -> Answer<Program> {
        let modules: Vec<Module<'_>> = self.texts.iter().map(|(name, text)| Module { name, text }).collect();
        if modules.is_empty() {
            return Err(Status::InvalidImage);
        }
        let options = jit.limited(self.registers).compile(options);
        Program::link(&modules, heap_bytes, options)
            .or_else(|wrong| complain(jit, &wrong.to_string(), status(&wrong)))
    }

    /// Loads the texts and compiles their kernels. A violation of PTX's rules fails the load; a kernel with
    /// unsupported instructions fails only when it is looked up.
    pub fn load(
        &self,
        card: &mut Card<Engine>,
        options: Options,
        heap_bytes: u64,
        jit: &Jit,
    ) -> Answer<ModuleId> {
        let program = self.program(options, heap_bytes, jit)?;
        let names: Vec<String> = program.kernel_names().map(str::to_owned).collect();
        let id =
            card.load(program).or_else(|error| complain(jit, &error.to_string(), Status::OutOfMemory))?;
        if let Engine::Timed(engine) = card.backend_mut() {
            let most = jit.limited(self.registers).compile(options).max_registers;
            self.texts.iter().for_each(|(_, text)| engine.text(text, most));
        }
        for name in names {
            if let Err(KernelError::Text(wrong)) = card.kernel(id, &name)
                && wrong.0.iter().any(|diagnostic| diagnostic.kind == Kind::Invalid)
            {
                card.unload(id);
                return complain(jit, &wrong.to_string(), Status::InvalidPtx);
            }
        }
        jit.done()?;
        Ok(id)
    }
}

/// Reports an error to the client and on standard error.
fn complain<T>(jit: &Jit, text: &str, status: Status) -> Answer<T> {
    log::say(log::Level::Once, || text.to_owned());
    jit.complain(text)?;
    Err(status)
}

/// The status for errors in a text.
pub fn status(diagnostics: &Diagnostics) -> Status {
    if diagnostics.only_unsupported() { Status::NotSupported } else { Status::InvalidPtx }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linked_texts_are_read_as_they_were_written() {
        let texts =
            vec![("a.ptx".to_owned(), "one\n// text: 3 x\n".to_owned()), ("b c".into(), String::new())];
        for registers in [None, Some(38)] {
            let image = Image { texts: texts.clone(), registers };
            let bytes = image.to_bytes();
            let text = str::from_utf8(&bytes).unwrap().trim_end_matches('\0');
            assert_eq!(Image::linked(text.strip_prefix(LINKED).unwrap()), Some(image));
        }
        for wrong in
            ["", "0", "0\n", "0\n// text: 9 a\nshort\n", "x\n// text: 0 a\n\n", "0\n// text: 0 a\n\nmore"]
        {
            assert_eq!(Image::linked(wrong), None, "{wrong:?}");
        }
    }
}
