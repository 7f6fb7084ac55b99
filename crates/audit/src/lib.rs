//! Decides which libraries a CUDA program finds: an audit library of glibc's dynamic linker, see rtld-audit(7).
//!
//! Programs ask for libraries in ways that no search path reaches: wheels bring them and name them by path or RPATH. The linker
//! asks an audit library before it searches, whatever the name. This one answers from the folder that `STRATA_AUDIT` names
//! (`folder`, `names`), and writes what was asked for and what was loaded to the file that `STRATA_AUDIT_LOG` names (`record`).
//!
//! The linker loads it, with a C library of its own, before the program, and calls it under its lock: so it does little, and never
//! fails.
#![deny(unsafe_op_in_unsafe_fn)]

mod folder;
mod linker;
mod names;
mod record;
