//! The systems that papers compare, each a file that is laid over a machine: `systems/<paper>/<name>.toml`.

/// A system's file.
#[derive(Clone, Copy, Debug)]
pub struct SystemFile {
    /// The system's name on a command line.
    pub name: &'static str,
    /// The file's path in the project, for errors.
    pub path: &'static str,
    /// The file's text.
    pub text: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/systems.rs"));

/// The systems that come with the program.
pub fn builtin() -> &'static [SystemFile] {
    &BUILTIN
}
