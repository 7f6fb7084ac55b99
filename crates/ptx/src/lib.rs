//! PTX: from text to a checked, register-allocated program, and what each instruction does.
#![allow(missing_docs)]

pub mod back;
pub mod exec;
pub mod front;
pub mod ir;
pub mod isa;
pub mod listing;
pub mod livelock;
pub mod load;
pub mod program;
pub mod reference;
pub mod simt;
pub mod tensor;
pub mod texture;

pub use strata_warp as lanes;
