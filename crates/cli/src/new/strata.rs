//! Where a crate of one's own finds Strata.

use std::path::{Path, PathBuf};

use toml::Value;

/// A place that has Strata's crates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A checkout in this folder.
    Checkout(PathBuf),
    /// A Git repository, and a tag of it.
    Git(String, Option<String>),
    /// The registry, in this command's version.
    Registry,
}

/// The folder that this command was built in.
const BUILT_IN: &str = env!("CARGO_MANIFEST_DIR");

/// Version of all crates.
const VERSION: &str = env!("CARGO_PKG_VERSION");

impl Place {
    /// The place that is asked for, or the one that this command comes from.
    ///
    /// # Errors
    /// A folder that is no checkout.
    pub fn find(asked: Option<&str>) -> Result<Place, String> {
        let Some(asked) = asked else {
            let checkout = Path::new(BUILT_IN).join("../..");
            return Ok(checkout
                .canonicalize()
                .ok()
                .filter(|folder| is_checkout(folder))
                .map_or(Place::Registry, Place::Checkout));
        };
        if asked == "crates.io" {
            return Ok(Place::Registry);
        }
        if asked.contains("://") {
            let (address, tag) = match asked.split_once('#') {
                Some((address, tag)) => (address, Some(tag.to_owned())),
                None => (asked, None),
            };
            if tag.as_deref() == Some("") {
                return Err(format!("--strata {asked}: found no tag behind `#`, expected its name"));
            }
            return Ok(Place::Git(address.to_owned(), tag));
        }
        let folder = Path::new(asked).canonicalize().map_err(|error| {
            format!("--strata {asked}: {error}, expected a folder, an address with `://`, or crates.io")
        })?;
        if !is_checkout(&folder) {
            return Err(format!(
                "--strata {asked}: found no crates/workbench/Cargo.toml, expected a checkout of Strata"
            ));
        }
        if folder.to_str().is_none() {
            return Err(format!("--strata {asked}: expected a name in UTF-8"));
        }
        Ok(Place::Checkout(folder))
    }

    /// What a manifest gives as one of Strata's crates: `designs` for strata-designs.
    pub fn dependency(&self, room: &str) -> String {
        let quoted = |text: &str| Value::String(text.to_owned()).to_string();
        match self {
            Place::Checkout(folder) => {
                let path = folder.join("crates").join(room);
                format!("{{ path = {} }}", quoted(&path.to_string_lossy()))
            }
            Place::Git(address, None) => format!("{{ git = {} }}", quoted(address)),
            Place::Git(address, Some(tag)) => {
                format!("{{ git = {}, tag = {} }}", quoted(address), quoted(tag))
            }
            // All of Strata's crates have one version, exactly.
            Place::Registry => format!("\"={VERSION}\""),
        }
    }

    /// The place in words.
    pub fn words(&self) -> String {
        match self {
            Place::Checkout(folder) => folder.display().to_string(),
            Place::Git(address, None) => address.clone(),
            Place::Git(address, Some(tag)) => format!("{address} at {tag}"),
            Place::Registry => format!("crates.io, version {VERSION}"),
        }
    }
}

fn is_checkout(folder: &Path) -> bool {
    folder.join("crates/workbench/Cargo.toml").is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strata_is_found_where_it_is_asked_for_and_else_where_this_was_built() {
        let here = Path::new(BUILT_IN).join("../..").canonicalize().unwrap();
        assert_eq!(Place::find(None), Ok(Place::Checkout(here.clone())));
        assert_eq!(Place::find(Some(here.to_str().unwrap())), Ok(Place::Checkout(here)));
        let place = Place::find(Some("https://example.org/strata#v1")).unwrap();
        assert_eq!(place.dependency("designs"), r#"{ git = "https://example.org/strata", tag = "v1" }"#);
        let place = Place::find(Some("ssh://git@example.org/strata.git")).unwrap();
        assert_eq!(place.dependency("designs"), r#"{ git = "ssh://git@example.org/strata.git" }"#);
        assert_eq!(Place::find(Some("crates.io")).unwrap().dependency("designs"), format!("\"={VERSION}\""));
        let quoted = Place::Checkout("/a \"b\"".into()).dependency("designs");
        let table: toml::Table = format!("x = {quoted}").parse().unwrap();
        assert_eq!(table["x"]["path"].as_str(), Some("/a \"b\"/crates/designs"));
    }

    #[test]
    fn what_is_no_place_is_refused() {
        for (asked, expected) in [
            ("/nowhere/at/all", "expected a folder, an address with `://`, or crates.io"),
            ("/", "found no crates/workbench/Cargo.toml, expected a checkout of Strata"),
            ("https://example.org/strata#", "found no tag behind `#`, expected its name"),
        ] {
            let error = Place::find(Some(asked)).unwrap_err();
            assert!(
                error.starts_with(&format!("--strata {asked}: ")) && error.ends_with(expected),
                "{error}"
            );
        }
    }
}
