//! An `nvcc` that calls the user's own, and has it write PTX where a cubin is asked for.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::options::{Word, words};

/// The tool's name.
pub const NAME: &str = "nvcc";

/// Options with a value that matter here, or that would be taken for something else without it.
const VALUED: [&str; 34] = [
    "--gpu-architecture",
    "-arch",
    "--gpu-code",
    "-code",
    "--generate-code",
    "-gencode",
    "--output-file",
    "-o",
    "--output-directory",
    "-odir",
    "-I",
    "--include-path",
    "-isystem",
    "--system-include",
    "-D",
    "--define-macro",
    "-U",
    "--undefine-macro",
    "-L",
    "--library-path",
    "-l",
    "--library",
    "-include",
    "--pre-include",
    "-Xcompiler",
    "--compiler-options",
    "-Xptxas",
    "--ptxas-options",
    "-ccbin",
    "--compiler-bindir",
    "-std",
    "--std",
    "-maxrregcount",
    "--maxrregcount",
];

/// Calls the user's `nvcc`. Does not return if that starts.
pub fn run(given: Vec<OsString>) -> Result<(), String> {
    let real = std::env::var_os(super::NVCC)
        .ok_or_else(|| format!("nvcc: {} is not set, expected the user's nvcc", super::NVCC))?;
    let line: Option<Vec<String>> = given.iter().map(|word| word.to_str().map(str::to_owned)).collect();
    let changed = line.as_deref().and_then(to_ptx);
    let what = if changed.is_some() { "PTX in the place of a cubin, by " } else { "as it was called: " };
    super::note(NAME, &format!("{what}{}", Path::new(&real).display()));
    let mut command = Command::new(&real);
    if matches!(line.as_deref(), Some([option]) if ["--version", "-V"].contains(&option.as_str())) {
        return version(command.arg("--version"));
    }
    match changed {
        Some(line) => command.args(line),
        None => command.args(given),
    };
    Err(format!("nvcc: {}: {}", Path::new(&real).display(), command.exec()))
}

/// Prints the version. Programs keep cubins under names made of it, so it says that these are none.
fn version(command: &mut Command) -> Result<(), String> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("nvcc: {error}"))?;
    println!("{}Strata: PTX in the place of a cubin", String::from_utf8_lossy(&output.stdout));
    if output.status.success() { Ok(()) } else { Err(format!("nvcc: {}", output.status)) }
}

/// The command line that makes PTX where this one makes a cubin, under the cubin's name; nothing where it makes none.
fn to_ptx(line: &[String]) -> Option<Vec<String>> {
    let (mut changed, mut is_cubin, mut has_output) = (Vec::new(), false, false);
    let (mut inputs, mut folder) = (Vec::new(), None);
    for word in words(line, &VALUED) {
        match word {
            Word::Flag("--cubin" | "-cubin") => {
                is_cubin = true;
                changed.push("--ptx".to_owned());
            }
            Word::Flag(flag) => changed.push(flag.to_owned()),
            Word::Input(input) => {
                inputs.push(input);
                changed.push(input.to_owned());
            }
            Word::Value { name, value, joined } => {
                let value = match name {
                    "--gpu-architecture" | "-arch" | "--gpu-code" | "-code" => {
                        value.replace("sm_", "compute_")
                    }
                    "--generate-code" | "-gencode" => value.replace("code=sm_", "code=compute_"),
                    _ => value.to_owned(),
                };
                has_output |= matches!(name, "--output-file" | "-o");
                match joined {
                    Some(between) => changed.push(format!("{name}{between}{value}")),
                    None => changed.extend([name.to_owned(), value]),
                }
                if let "--output-directory" | "-odir" = name {
                    folder = changed
                        .last()
                        .map(|last| last.trim_start_matches(name).trim_start_matches('=').to_owned());
                }
            }
        }
    }
    if !is_cubin {
        return None;
    }
    if let ([input], false) = (&inputs[..], has_output) {
        let file = Path::new(Path::new(input).file_name()?).with_extension("cubin");
        let path = folder.map_or(file.clone(), |folder| Path::new(&folder).join(file));
        changed.extend(["--output-file".to_owned(), path.to_str()?.to_owned()]);
    }
    Some(changed)
}

/// The user's `nvcc`: in PATH, where CUDA_HOME, CUDA_PATH or habit say, or among the packages of the Python that is run.
pub fn find(program: &Path) -> Option<PathBuf> {
    let is_there = |path: PathBuf| path.is_file().then_some(path);
    let toolkits = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let toolkits = toolkits.chain([PathBuf::from("/usr/local/cuda")]);
    let in_path = which::which(NAME).ok();
    in_path
        .or_else(|| toolkits.map(|toolkit| toolkit.join("bin").join(NAME)).find_map(is_there))
        .or_else(|| among_packages(program))
}

/// The `nvcc` that pip has put among the packages of a Python, or of the environment that is active.
fn among_packages(program: &Path) -> Option<PathBuf> {
    let of_program = which::which(program).ok().and_then(|path| Some(path.parent()?.parent()?.to_owned()));
    let prefixes = of_program.into_iter().chain(std::env::var_os("VIRTUAL_ENV").map(PathBuf::from));
    let entries = |folder: PathBuf| {
        let found = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = found.map(|entry| entry.path()).collect();
        // The newest last.
        paths.sort();
        paths.into_iter().rev()
    };
    let versions = prefixes.flat_map(|prefix| entries(prefix.join("lib")));
    let packages = versions.flat_map(|version| entries(version.join("site-packages/nvidia")));
    packages.map(|package| package.join("bin").join(NAME)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(line: &str) -> Option<String> {
        let line: Vec<String> = line.split(' ').map(str::to_owned).collect();
        to_ptx(&line).map(|line| line.join(" "))
    }

    #[test]
    fn a_cubin_becomes_ptx_under_its_name() {
        let cases = [
            (
                "--cubin -arch sm_80 -I/x kernel.cu",
                "--ptx -arch compute_80 -I/x kernel.cu --output-file kernel.cubin",
            ),
            ("-cubin -arch=sm_90a -o out.cubin a/k.cu", "--ptx -arch=compute_90a -o out.cubin a/k.cu"),
            (
                "-gencode arch=compute_80,code=sm_80 --cubin -odir d a/k.cu",
                "-gencode arch=compute_80,code=compute_80 --ptx -odir d a/k.cu --output-file d/k.cubin",
            ),
            ("--cubin -D sm_1=sm_2 k.cu", "--ptx -D sm_1=sm_2 k.cu --output-file k.cubin"),
        ];
        for (line, expected) in cases {
            assert_eq!(changed(line).as_deref(), Some(expected), "{line}");
        }
        for line in ["-o a a.cu", "--version", "-ptx k.cu", "-Xcompiler --cubin k.cu"] {
            assert_eq!(changed(line), None, "{line}");
        }
    }

    #[test]
    fn the_newest_package_of_a_python_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let python = folder.path().join("bin/python3");
        let of =
            |cuda: &str| folder.path().join(format!("lib/python3.11/site-packages/nvidia/{cuda}/bin/nvcc"));
        for file in [&python, &of("cu12"), &of("cu13")] {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
            std::fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        }
        assert_eq!(among_packages(&python), Some(of("cu13")));
    }
}
