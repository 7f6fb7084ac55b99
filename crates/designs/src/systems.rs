//! The systems that papers compare. Each is a file, `systems/<paper>/<name>.toml`, whose settings override
//! those of a machine file.

/// The file of one system.
#[derive(Clone, Copy, Debug)]
pub struct SystemFile {
    /// Name of the system on the command line.
    pub name: &'static str,
    /// Path of the file in the project, for error messages.
    pub path: &'static str,
    /// Text of the file, in TOML.
    pub text: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/systems.rs"));

/// The systems that come with the program.
pub fn builtin() -> &'static [SystemFile] {
    &BUILTIN
}
