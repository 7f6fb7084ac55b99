//! What `strata run` says where it gets PTX in place of a launch file.

use std::path::Path;

use super::offer;

/// Why PTX alone cannot run, with the launch file that it lacks and how to write it.
///
/// # Errors
/// What is wrong with the PTX.
pub fn refusal(path: &Path, kernel: Option<&str>) -> Result<String, String> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    let name: String = stem.chars().map(letter).collect();
    let name = name.trim_start_matches('-');
    let name = if name.is_empty() { "mine" } else { name };
    // A name that no launch file has yet.
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    let is_free = |name: &String| !path.with_file_name(format!("{name}.toml")).exists();
    let name = &names.find(is_free).expect("numbers do not end");
    let module = path.file_name().unwrap_or_default().to_string_lossy();
    let offer = offer::offer(name, &module, path, &offer::read(path)?, kernel)?;
    let kernel = kernel.map_or(String::new(), |kernel| format!(" --kernel {kernel}"));
    let others = if offer.others.is_empty() {
        String::new()
    } else {
        format!("\nOther kernels, for --kernel: {}", offer.others.join(", "))
    };
    let file = path.with_file_name(format!("{name}.toml"));
    let path = path.display();
    Ok(format!(
        "{path}: found PTX, expected a launch file, which says what it runs on. One that fits {}:\n\n{}\n\
         To write it beside the PTX, and to run it:\n  strata new {name} --ptx {path}{kernel}\n  strata run {}{others}",
        offer.kernel,
        offer.text,
        file.display(),
    ))
}
