//! Machine files that say in what they differ from another: `base = "rtx3080"`.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use strata_engine::config::{self, ConfigError, place_of};
use toml::Value;

use super::layer::Layer;
use super::{builtin, find};

/// A machine file, with its base if it has one.
pub(super) struct Source<'a> {
    /// Path of the file that has every section, for errors.
    pub(super) path: PathBuf,
    /// Text of the file that has every section.
    pub(super) text: Cow<'a, str>,
    /// What a file with a base replaces.
    pub(super) layer: Option<Layer>,
}

/// What a machine file with a base needs besides the parts that it replaces.
#[derive(Deserialize)]
struct Head {
    #[serde(rename = "name")]
    _name: String,
    #[serde(rename = "description")]
    _description: String,
}

impl<'a> Source<'a> {
    /// Reads a machine file's text and finds its base: a built-in machine, or a file (`*.toml`) beside this one.
    ///
    /// # Errors
    /// What is wrong with the text, or why there is no such base; a base that has a base itself.
    pub(super) fn new(path: &Path, text: &'a str) -> Result<Source<'a>, ConfigError> {
        let Some(base) = base_of(path, text)? else {
            return Ok(Source { path: path.to_owned(), text: text.into(), layer: None });
        };
        let refuse = |message: String| {
            let message = format!("`base`: {message}");
            ConfigError { file: path.to_owned(), place: place_of(text, "base"), message }
        };
        let Value::String(base) = base else {
            return Err(refuse(format!("found {base}, expected the name of a machine or a file (*.toml)")));
        };
        let _: Head = config::parse(path, text)?;
        let is_builtin = builtin().iter().any(|machine| machine.name == base);
        let beside = match is_builtin {
            true => base.clone(),
            false => path.with_file_name(&base).display().to_string(),
        };
        let (base_path, base_text) = find(&beside).map_err(|error| refuse(error.to_string()))?;
        if base_of(&base_path, &base_text)?.is_some() {
            return Err(refuse(format!(
                "found `{base}`, which has a base itself, expected a machine that has none"
            )));
        }
        Ok(Source { path: base_path, text: base_text, layer: Some(Layer::new(path, text, &["base"])?) })
    }
}

/// The value of the key `base`.
fn base_of(path: &Path, text: &str) -> Result<Option<Value>, ConfigError> {
    Ok(config::read_table(path, text)?.remove("base"))
}

#[cfg(test)]
mod tests {
    use super::super::Machine;
    use super::*;

    fn load(text: &str) -> Result<Machine, String> {
        Machine::parse(Path::new("m.toml"), text, &[]).map_err(|error| error.to_string())
    }

    #[test]
    fn a_machine_is_its_base_but_for_what_it_replaces() {
        let machine = load(
            "base = \"gtx480\"\nname = \"m\"\ndescription = \"d\"\n\
             [gpu]\nsms = { value = 3, source = \"s\" }\n",
        )
        .unwrap();
        let same = Machine::load("gtx480", &["gpu.sms=3".into()]).unwrap();
        assert_eq!(machine.hash(), same.hash());
        assert_eq!((machine.name(), machine.table()["description"].as_str()), ("m", Some("d")));
        let shown = Machine::parse(Path::new("n.toml"), &machine.table().to_string(), &[]).unwrap();
        assert_eq!(shown.table(), machine.table());
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        let head = "name = \"m\"\ndescription = \"d\"\n";
        for (text, expected) in [
            ("base = 3\n".to_owned(), "m.toml:1:1: `base`: found 3, expected the name of a machine"),
            ("base = \"gtx480\"\nname = \"m\"\n".into(), "m.toml:1:1: missing field `description`"),
            (format!("base = \"gtx\"\n{head}"), "m.toml:1:1: `base`: gtx: no such machine"),
            (format!("base = \"no.toml\"\n{head}"), "m.toml:1:1: `base`: no.toml: No such file"),
            (
                format!("base = \"rtx3080-quarter\"\n{head}"),
                "m.toml:1:1: `base`: found `rtx3080-quarter`, which has a base itself",
            ),
            (
                format!("base = \"gtx480\"\n{head}[gpu]\nsm = 3\n"),
                "m.toml:5:1: `gpu.sm`: unknown field `sm` (did you mean `sms`?)",
            ),
            (
                format!("base = \"gtx480\"\n{head}[gpu]\nsms = {{ value = 0, source = \"s\" }}\n"),
                "m.toml:5:1: gpu.sms: found 0, expected 1 to 1024",
            ),
        ] {
            let error = load(&text).expect_err(&text);
            assert!(error.starts_with(expected), "{error}\n{expected}");
        }
    }
}
