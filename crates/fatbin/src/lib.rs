//! Fat binaries: containers of PTX and machine code for several targets, optionally compressed.
//!
//! The vendor does not document the layout; this description was found from the output of nvcc 11.8 to 13.5.
//! Executables embed containers (`container.rs`) and register wrappers that point to them (`image.rs`).
#![deny(unsafe_op_in_unsafe_fn)]

mod container;
mod entry;
mod image;
mod number;
mod target;

#[cfg(test)]
mod pack;

use std::fmt;

pub use image::{is_file, is_start, texts, texts_in};
pub use target::{Reach, Target};

/// A PTX text of a fat binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The text, decompressed, without trailing NULs.
    pub text: String,
    /// Whether the device can run the text by the vendor's rules.
    pub runs: bool,
}

/// Why a fat binary is of no use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It breaks the layout; the sentence says where.
    Damaged(String),
    /// It holds no PTX, only machine code for these targets.
    OnlyMachineCode(Vec<u32>),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Damaged(why) => write!(f, "a fat binary is damaged: {why}"),
            Refused::OnlyMachineCode(targets) => {
                let what = match targets.as_slice() {
                    [] => "nothing".to_owned(),
                    targets => {
                        let names: Vec<String> =
                            targets.iter().map(|target| format!("sm_{target}")).collect();
                        format!("machine code for {} only", names.join(", "))
                    }
                };
                write!(
                    f,
                    "a fat binary holds {what}, expected PTX, which compilers put in when asked for \
                     `code=compute_80`"
                )
            }
        }
    }
}
