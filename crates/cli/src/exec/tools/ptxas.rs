//! An assembler that checks PTX and hands it out in the place of machine code.

use std::ffi::OsString;

use strata_ptx::front::{self, Kind, link};

use super::options::{Word, words};

/// What `--version` says. Triton takes from it which PTX it may write: here, the newest that is read.
const VERSION: &str =
    "ptxas: Strata hands out PTX in the place of machine code\nCuda compilation tools, release 13.0, V13.0.0";

/// Options that have a value (ptxas' `--help`).
const VALUED: [&str; 18] = [
    "--output-file",
    "-o",
    "--gpu-name",
    "-arch",
    "--maxrregcount",
    "-maxrregcount",
    "--opt-level",
    "-O",
    "--machine",
    "-m",
    "--entry",
    "-e",
    "--def-load-cache",
    "-dlcm",
    "--def-store-cache",
    "-dscm",
    "--options-file",
    "-optf",
];

/// Checks a PTX file and writes it where machine code is to be.
pub fn run(words_given: Vec<OsString>) -> Result<(), String> {
    let line: Vec<String> = words_given.into_iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (mut inputs, mut output, mut registers) = (Vec::new(), "elf.o", None);
    for word in words(&line, &VALUED) {
        match word {
            Word::Flag("--version" | "-V") => {
                println!("{VERSION}");
                return Ok(());
            }
            Word::Value { name: "--output-file" | "-o", value, .. } => output = value,
            Word::Value { name: "--maxrregcount" | "-maxrregcount", value, .. } => {
                let number = value.parse::<u32>();
                registers = Some(number.map_err(|_| {
                    format!("ptxas fatal   : found `{value}`, expected a number of registers")
                })?);
            }
            Word::Input(name) => inputs.push(name),
            Word::Value { .. } | Word::Flag(_) => {}
        }
    }
    let [input] = inputs[..] else {
        return Err(format!("ptxas fatal   : found {} input files, expected one", inputs.len()));
    };
    let text = std::fs::read_to_string(input).map_err(|error| format!("ptxas fatal   : {input}: {error}"))?;
    check(input, &text)?;
    super::note(super::PTXAS, input);
    let image = match registers {
        None => text.into_bytes(),
        Some(_) => link::image(&[(input.to_owned(), text)], registers),
    };
    std::fs::write(output, image).map_err(|error| format!("ptxas fatal   : {output}: {error}"))
}

/// Whether a text keeps PTX's rules. What is valid and cannot be executed is refused when it is loaded.
fn check(name: &str, text: &str) -> Result<(), String> {
    let checked = front::parse_module(name, text).and_then(|module| front::lower(&module, None).map(|_| ()));
    match checked {
        Err(wrong) if wrong.0.iter().any(|one| one.kind == Kind::Invalid) => {
            Err(format!("ptxas error   : {wrong}"))
        }
        _ => Ok(()),
    }
}
