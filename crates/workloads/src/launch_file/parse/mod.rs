//! The file's tables.

mod buffer;
mod check;
mod launch;

use super::folder::Folder;
use super::node::{Fields, Node, Source, list};
use super::{Buffer, LaunchFile, LaunchFileError, limits, ptx};

type Result<T> = std::result::Result<T, LaunchFileError>;

/// Reads the text of a launch file, whose paths begin from `folder`.
pub(super) fn parse(file: &str, text: &str, default_name: &str, folder: Folder<'_>) -> Result<LaunchFile> {
    let source = Source { file, text };
    let document = source.parse()?;
    let root = Fields::root(source, &document, &["name", "module", "buffer", "launch", "check"])?;

    let name = match root.optional("name") {
        Some(node) => node.name("a name")?,
        None => default_name,
    };
    let module = root.required("module", "the path of a PTX file")?;
    let module_name = module.name("the path of a PTX file")?;
    let text = folder.read(
        &module,
        |bytes| bytes <= limits::MODULE_BYTES,
        || format!("at most {} bytes", limits::MODULE_BYTES),
    )?;
    let text = String::from_utf8(text).map_err(|_| module.error("a file that is not text", "a PTX file"))?;
    let code = ptx::without_comments(&text);
    let kernels = ptx::kernels(&code);
    if kernels.is_empty() {
        return Err(module.error("a file without a kernel", "a PTX file with at least one `.entry`"));
    }

    let mut this = LaunchFile {
        name: name.into(),
        module_name: module_name.into(),
        ptx: String::new(),
        buffers: vec![],
        launches: vec![],
        checks: vec![],
        files: vec![],
    };
    let mut total = 0;
    for node in root.tables("buffer", limits::BUFFERS)? {
        let buffer = buffer::buffer(&node, &this.buffers, &mut total, &folder)?;
        this.buffers.push(buffer);
    }
    for node in root.tables("launch", limits::LAUNCHES)? {
        this.launches.push(launch::launch(&node, &this.buffers, &kernels, &folder)?);
    }
    if this.launches.is_empty() {
        return Err(root.missing("launch", "at least one [[launch]] table"));
    }
    for node in root.tables("check", limits::CHECKS)? {
        this.checks.push(check::check(&node, &this.buffers, &folder)?);
    }
    this.ptx = text;
    this.files = folder.into_files();
    Ok(this)
}

fn find(node: &Node<'_>, buffers: &[Buffer]) -> Result<usize> {
    let names = || list(buffers.iter().map(|buffer| buffer.name.as_str()));
    let expected = || format!("the name of a buffer: {}", names());
    let name = node.string(&expected())?;
    let index = buffers.iter().position(|buffer| buffer.name == name);
    index.ok_or_else(|| node.error(node.found(), expected()))
}
