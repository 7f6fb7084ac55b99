//! What a client loads as a module: a PTX text, several linked ones, or a fat binary of them. Machine code is refused.
//!
//! Several linked texts are one image (`strata_ptx::front::link::image`). Loading parses them as one program.

use std::collections::BTreeSet;

use strata_fatbin::{Refused, Target, Text};
use strata_gpu::device::{Card, ModuleId};
use strata_gpu::program::{KernelError, Program};
use strata_ptx::back::Options;
use strata_ptx::front::{Diagnostics, Kind, link};
use strata_workloads::Module;

use crate::asked::{self, Asked};
use crate::client::Bytes;
use crate::engine::Engine;
use crate::jit::Jit;
use crate::log;
use crate::settings::Capability;
use crate::status::{Answer, Status};

/// Name for a text that came without one, used in messages.
pub const UNNAMED: &str = "module.ptx";

/// First bytes of machine code.
const ELF: [u8; 4] = *b"\x7fELF";

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

    /// Reads an image from the client's memory: a text that ends with NUL, or a fat binary. Of the latter's texts, those
    /// for a device of `capability` are taken. Errors go to the client's log.
    pub fn read(image: Bytes, capability: Capability, jit: &Jit) -> Answer<Image> {
        let first = image.read(1)?;
        // Read byte by byte, because a text may be shorter than four bytes.
        let mut start = [first[0], 0, 0, 0];
        for place in 1..4 {
            if start[place - 1] == 0 {
                break;
            }
            start[place] = image.read(place + 1)?[place];
        }
        if strata_fatbin::is_start(start) {
            return Image::fat(strata_fatbin::texts(image, capability.target()), jit);
        }
        refuse_machine_code(start, jit)?;
        let text = image.text().get().map_err(|_| Status::InvalidImage)?;
        Image::of_text(UNNAMED, text)
    }

    /// Like [`Image::read`], from bytes that end where the image does. A text may end with NUL before.
    pub fn of_bytes(name: &str, bytes: &[u8], capability: Capability, jit: &Jit) -> Answer<Image> {
        if let Some(start) = bytes.first_chunk().copied() {
            if strata_fatbin::is_start(start) {
                return Image::fat(strata_fatbin::texts_in(bytes, capability.target()), jit);
            }
            refuse_machine_code(start, jit)?;
        }
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        let text = str::from_utf8(&bytes[..end]).ok().filter(|text| !text.is_empty());
        Image::of_text(name, text.ok_or(Status::InvalidImage)?)
    }

    fn of_text(name: &str, text: &str) -> Answer<Image> {
        if !link::is_image(text) {
            return Ok(Image::of(name, text.to_owned()));
        }
        let (texts, registers) = link::texts(text).ok_or(Status::InvalidImage)?;
        Ok(Image { texts, registers })
    }

    fn fat(texts: Result<Vec<Text>, Refused>, jit: &Jit) -> Answer<Image> {
        let texts = texts.or_else(|refused| {
            log::once(refused.to_string());
            jit.complain(&refused.to_string())?;
            Err(match refused {
                Refused::Damaged(_) => Status::InvalidImage,
                Refused::OnlyMachineCode(_) => Status::NoBinaryForGpu,
            })
        })?;
        let named = |(number, text): (usize, Text)| (format!("text {number}"), text.text);
        Ok(match <[Text; 1]>::try_from(texts) {
            Ok([text]) => Image::of(UNNAMED, text.text),
            Err(texts) => {
                Image { texts: texts.into_iter().enumerate().map(named).collect(), registers: None }
            }
        })
    }

    /// Names of the texts' managed variables.
    pub fn managed(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for (_, text) in &self.texts {
            for declaration in text.split(".attribute(.managed)").skip(1) {
                let end = declaration.find([';', '=', '[']).unwrap_or(0);
                found.extend(declaration[..end].split_whitespace().last().map(str::to_owned));
            }
        }
        found
    }

    /// Encodes the image in the form that [`Image::read`] reads.
    pub fn to_bytes(&self) -> Box<[u8]> {
        link::image(&self.texts, self.registers).into_boxed_slice()
    }

    /// Parses the texts into a program whose device heap has `heap_bytes` bytes. Errors go to the client's
    /// log. Texts that a device of `capability` does not run are named.
    pub fn program(
        &self,
        options: Options,
        heap_bytes: u64,
        capability: Capability,
        jit: &Jit,
    ) -> Answer<Program> {
        let modules: Vec<Module<'_>> = self.texts.iter().map(|(name, text)| Module { name, text }).collect();
        if modules.is_empty() {
            return Err(Status::InvalidImage);
        }
        let options = jit.limited(self.registers).compile(options);
        let program = Program::link(&modules, heap_bytes, options)
            .or_else(|wrong| complain(jit, &wrong.to_string(), status(&wrong)))?;
        program.targets().iter().for_each(|target| name_other_target(target, capability));
        Ok(program)
    }

    /// Loads the texts and compiles their kernels. A violation of PTX's rules fails the load; a kernel with
    /// unsupported instructions fails only when it is looked up.
    pub fn load(
        &self,
        card: &mut Card<Engine>,
        options: Options,
        heap_bytes: u64,
        capability: Capability,
        jit: &Jit,
    ) -> Answer<ModuleId> {
        let program = self.program(options, heap_bytes, capability, jit)?;
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

/// Names a target that devices of the reported capability do not run. Hardware refuses such a text; here it runs, since what
/// is modelled depends on the machine and not on the number that is reported.
fn name_other_target(words: &str, capability: Capability) {
    let Some(target) = Target::parse(words).filter(|target| !target.runs_on(capability.target())) else {
        return;
    };
    let needed = Capability::of_target(target.number);
    log::once(format!(
        "PTX for {words} is not for devices of the reported compute capability {capability}; it is used nevertheless; `strata exec \
         --compute-capability {needed}` reports another"
    ));
    asked::note(Asked::Target, &format!("{words} where {capability} is reported"));
}

/// Refuses machine code by name.
fn refuse_machine_code(start: [u8; 4], jit: &Jit) -> Answer {
    if start != ELF {
        return Ok(());
    }
    let text = "an image holds machine code, expected PTX";
    log::once(text.into());
    jit.complain(text)?;
    Err(Status::NoBinaryForGpu)
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
    fn managed_variables_are_found() {
        let text = ".global .attribute(.managed) .align 4 .u32 a;\n.global .u32 b;\n\
                    .visible .global .attribute(.managed) .align 8 .b8 c[16];\n.global .attribute(.managed) .u32 d = 4;\n\
                    .global .attribute(.managed)";
        let found = Image::of("a.ptx", text.to_owned()).managed();
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), ["a", "c", "d"]);
    }
}
