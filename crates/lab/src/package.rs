//! A launch file inside a job's file, with every file that it names: the job then runs where those are not.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use strata_workloads::launch_file::Package;

/// A package as TOML. Texts stay readable; other bytes are base64.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Packed {
    /// The launch file.
    text: String,
    /// The files that it names, by the names that it has for them.
    files: BTreeMap<String, Content>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Content {
    Text(String),
    Base64(String),
}

impl Content {
    fn new(bytes: Vec<u8>) -> Content {
        match String::from_utf8(bytes) {
            // What a buffer holds is rarely meant as text.
            Ok(text) if !text.contains('\0') => Content::Text(text),
            Ok(text) => Content::Base64(BASE64.encode(text)),
            Err(error) => Content::Base64(BASE64.encode(error.into_bytes())),
        }
    }

    fn bytes(&self) -> Result<Vec<u8>, base64::DecodeError> {
        match self {
            Content::Text(text) => Ok(text.clone().into_bytes()),
            Content::Base64(text) => BASE64.decode(text),
        }
    }
}

impl Packed {
    /// A package as TOML.
    #[must_use]
    pub fn new(package: Package) -> Packed {
        let files = package.files.into_iter().map(|(name, bytes)| (name, Content::new(bytes)));
        Packed { text: package.text, files: files.collect() }
    }

    /// The package of a launch file that lay at `path`.
    ///
    /// # Errors
    /// A file that is not base64.
    pub fn unpack(&self, path: &str) -> Result<Package, String> {
        let file = |(name, content): (&String, &Content)| {
            let bytes =
                content.bytes().map_err(|error| format!("package.files.{name}: {error}, expected base64"))?;
            Ok((name.clone(), bytes))
        };
        let files = self.files.iter().map(file).collect::<Result<_, String>>()?;
        Ok(Package { path: path.to_owned(), text: self.text.clone(), files })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_back() {
        let contents = [
            b"// # end\r\n\"\"\" '''\n".to_vec(),
            vec![],
            vec![0, 1, 2, 255],
            b"a\0b".to_vec(),
            (0..=255).collect(),
        ];
        let files = contents.into_iter().enumerate().map(|(index, bytes)| (format!("sub/{index}.x"), bytes));
        let package =
            Package { path: "a.toml".into(), text: "module = \"x\"\n".into(), files: files.collect() };
        let text = toml::to_string(&Packed::new(package.clone())).unwrap();
        let again: Packed = toml::from_str(&text).unwrap();
        assert_eq!(again.unpack("a.toml").unwrap(), package);
        let spoilt: Packed = toml::from_str("text = ''\nfiles = { x = { base64 = '%' } }").unwrap();
        let error = spoilt.unpack("a.toml").unwrap_err();
        assert!(error.starts_with("package.files.x: ") && error.ends_with(", expected base64"), "{error}");
    }
}
