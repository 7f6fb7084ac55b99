//! What is linked, apart from what nvJitLink links.

use std::ffi::CString;

use strata_ptx::front::{self, link};

/// Options of a link as they are given to nvJitLink: it is to link LTO-IR to PTX.
pub struct Options {
    /// The options.
    pub real: Vec<CString>,
    /// Whether the program itself wants PTX, or something else than machine code.
    pub is_plain: bool,
    /// Most registers of a thread.
    pub registers: Option<u32>,
}

impl Options {
    /// Reads a program's options.
    pub fn read(given: Vec<CString>) -> Options {
        let has = |name: &[u8]| given.iter().any(|option| option.as_bytes() == name);
        let is_plain = has(b"-ptx") || has(b"-r");
        let limit = |option: &CString| option.to_str().ok()?.strip_prefix("-maxrregcount=")?.parse().ok();
        let registers = given.iter().rev().find_map(limit);
        let missing: Vec<CString> = [c"-lto", c"-ptx"]
            .into_iter()
            .filter(|wanted| !is_plain && !has(wanted.to_bytes()))
            .map(|wanted| wanted.to_owned())
            .collect();
        Options { real: given.into_iter().chain(missing).collect(), is_plain, registers }
    }
}

/// A link to PTX.
#[derive(Default)]
pub struct Link {
    /// Name and text of each PTX that was added.
    texts: Vec<(String, String)>,
    /// Whether nvJitLink has anything to link.
    pub is_real: bool,
    registers: Option<u32>,
    /// What was wrong, for the program.
    pub log: Option<String>,
    /// What is loaded as machine code.
    pub image: Option<Vec<u8>>,
}

/// The PTX text in an input, without the NUL that may end it; nothing where it is something else.
pub fn text(input: &[u8]) -> Option<&str> {
    let end = input.iter().position(|byte| *byte == 0).unwrap_or(input.len());
    let text = str::from_utf8(&input[..end]).ok()?;
    // Every text says its version, behind comments at most.
    (text.contains(".version") && input[end..].iter().all(|byte| *byte == 0)).then_some(text)
}

/// Whether an input is the device runtime, `libcudadevrt.a`: machine code, whose functions that can be called Strata has itself.
pub fn is_device_runtime(input: &[u8]) -> bool {
    /// The archive's one member, as its header names it.
    const MEMBER: &[u8] = b"cuda_device_runtime.o/";
    input.starts_with(b"!<arch>\n") && input.windows(MEMBER.len()).any(|bytes| bytes == MEMBER)
}

impl Link {
    /// A link without inputs.
    pub fn new(registers: Option<u32>) -> Link {
        Link { registers, ..Link::default() }
    }

    /// Adds a PTX text.
    pub fn add(&mut self, name: &str, text: &str) {
        self.texts.push((name.to_owned(), text.to_owned()));
    }

    /// Links the texts with nvJitLink's, if it has made one.
    ///
    /// # Errors
    /// What is wrong with a text, or why the texts cannot be linked.
    pub fn complete(&mut self, of_real: Option<String>) -> Result<(), String> {
        let texts: Vec<(String, String)> = of_real
            .map(|text| ("linked LTO-IR".to_owned(), text))
            .into_iter()
            .chain(self.texts.clone())
            .collect();
        if texts.is_empty() {
            return Err("found no input, expected at least one".into());
        }
        let parsed =
            texts.iter().map(|(name, text)| front::parse_module(name, text)).collect::<Result<_, _>>();
        parsed.and_then(link::link).map_err(|wrong| wrong.to_string())?;
        self.image = Some(link::image(&texts, self.registers));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALLED: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .func f() { ret; }\n";
    const CALLER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func f();\n.visible .entry k() { call f; ret; }\n";

    fn options(given: &[&str]) -> Options {
        Options::read(given.iter().map(|option| CString::new(*option).unwrap()).collect())
    }

    #[test]
    fn machine_code_is_asked_for_as_ptx() {
        let read = options(&["-arch=sm_80", "-maxrregcount=32", "-lto"]);
        let real: Vec<&str> = read.real.iter().map(|option| option.to_str().unwrap()).collect();
        assert_eq!(real, ["-arch=sm_80", "-maxrregcount=32", "-lto", "-ptx"]);
        assert!(!read.is_plain && read.registers == Some(32));
        let plain = options(&["-arch=sm_80", "-ptx", "-lto"]);
        assert!(plain.is_plain && plain.real.len() == 3);
    }

    #[test]
    fn texts_are_told_from_other_inputs() {
        assert_eq!(text(format!("{CALLED}\0").as_bytes()), Some(CALLED));
        assert_eq!(text(b"\x7fELF.version"), Some("\u{7f}ELF.version"));
        for other in [&b"\x50\xed\x55\xba.version"[..], b"", b"\0", b".version\0more"] {
            assert_eq!(text(other), None);
        }
    }

    #[test]
    fn the_device_runtime_is_told_from_other_archives() {
        let archive =
            |member: &str| format!("!<arch>\n{member:16}0           0     0     644     0         `\n");
        assert!(is_device_runtime(archive("cuda_device_runtime.o/").as_bytes()));
        for other in [archive("mine.o/"), "cuda_device_runtime.o/".to_owned(), String::new()] {
            assert!(!is_device_runtime(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn texts_are_linked_and_what_is_wrong_is_said() {
        let mut link = Link::new(None);
        link.add("a.ptx", CALLER);
        link.add("b.ptx", CALLED);
        assert_eq!(link.complete(None), Ok(()));
        let image = String::from_utf8(link.image.unwrap()).unwrap();
        assert!(image.contains(CALLER) && image.contains(CALLED) && image.ends_with('\0'));
        let mut twice = Link::new(None);
        twice.add("a.ptx", CALLED);
        let wrong = twice.complete(Some(CALLED.into())).unwrap_err();
        assert!(wrong.contains("a.ptx:4") && wrong.contains("`f`"), "{wrong}");
        assert!(Link::new(None).complete(None).is_err());
    }
}
