//! Programs and packages from elsewhere.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::finding::Finding;

/// nvcc, for CUDA programs of one's own.
pub fn nvcc() -> Finding {
    let feature = "compiling CUDA C";
    match which::which("nvcc") {
        Ok(path) => Finding::ok(feature, path.display().to_string()),
        Err(_) => Finding::missing(feature, "no nvcc", "it is in NVIDIA's CUDA toolkit; PTX needs none"),
    }
}

/// NVRTC, which the Python package compiles with.
pub fn nvrtc(python: &Python) -> Finding {
    let feature = "CUDA C in Python";
    let home = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let folders = home.chain([PathBuf::from("/usr/local/cuda")]).map(|home| home.join("lib64"));
    let searched = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let folders = std::env::split_paths(&searched).chain(folders).chain(["/usr/lib/x86_64-linux-gnu".into()]);
    let names = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];
    let mut libraries = folders.flat_map(|folder| names.map(|name| folder.join(name)));
    let installed = libraries.find(|library| library.is_file()).map(|library| library.display().to_string());
    match python.nvrtc.clone().or(installed) {
        Some(library) => Finding::ok(feature, library),
        None => Finding::missing(feature, "no NVRTC", "pip install 'strata-gpu[cuda]'"),
    }
}

/// The Python package.
pub fn package(python: &Python) -> Finding {
    let feature = "Python";
    match (&python.program, &python.package) {
        (None, _) => Finding::missing(feature, "no python3", "Python 3.10 or later has it"),
        (Some(_), Some(version)) => Finding::ok(feature, format!("strata-gpu {version}")),
        (Some(program), None) => {
            let found = format!("no strata_gpu in {}{}", program.display(), python.trouble);
            Finding::missing(feature, found, "pip install strata-gpu, or the wheel that scripts/wheel builds")
        }
    }
}

/// Slurm's commands, for sweeps.
pub fn slurm() -> Finding {
    let feature = "sweeps on Slurm";
    let programs = ["sbatch", "squeue"];
    let absent: Vec<&str> = programs.into_iter().filter(|name| which::which(name).is_err()).collect();
    if absent.is_empty() {
        Finding::ok(feature, programs.join(", "))
    } else {
        let found = format!("no {}", absent.join(", "));
        Finding::missing(feature, found, "run where jobs of the cluster are submitted")
    }
}

/// HyperQueue's Python package, through which sweeps are submitted.
pub fn hyperqueue(python: &Python) -> Finding {
    let feature = "sweeps on HyperQueue";
    match &python.hyperqueue {
        Some(version) => Finding::ok(feature, format!("hyperqueue {version} in python3")),
        None => Finding::missing(
            feature,
            "no hyperqueue in python3",
            "pip install hyperqueue, in the server's version",
        ),
    }
}

/// What `python3` has.
#[derive(Default)]
pub struct Python {
    program: Option<PathBuf>,
    /// Version of the package.
    package: Option<String>,
    /// A library of NVRTC that came with a package.
    nvrtc: Option<String>,
    /// Version of HyperQueue's package.
    hyperqueue: Option<String>,
    /// Why it did not answer; empty where it did.
    trouble: String,
}

/// Asks for packages without importing them.
const ASK: &str = r#"
import glob, importlib.metadata, importlib.util, json, os, sys
def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
places = [os.path.join(path, "nvidia", name, "lib", "libnvrtc.so.*")
          for path in sys.path for name in ("cuda_nvrtc", "cu13", "cu12")]
found = [library for place in places for library in sorted(glob.glob(place))]
print(json.dumps({"package": version("strata-gpu"), "hyperqueue": version("hyperqueue"), "nvrtc": found[0] if found else None}))
"#;

/// How long an interpreter may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks the `python3` that a shell would run.
pub fn python() -> Python {
    let Ok(program) = which::which("python3") else { return Python::default() };
    let mut command = Command::new(&program);
    let (answer, trouble) = match answer(command.args(["-c", ASK]), PATIENCE) {
        Ok(text) => match serde_json::from_str(&text) {
            Ok(answer) => (answer, String::new()),
            Err(_) => (Value::Null, ", which answers something else than it was asked".into()),
        },
        Err(error) => (Value::Null, format!(", which {error}")),
    };
    let text = |key: &str| answer[key].as_str().map(str::to_owned);
    let (package, nvrtc, hyperqueue) = (text("package"), text("nvrtc"), text("hyperqueue"));
    Python { program: Some(program), package, nvrtc, hyperqueue, trouble }
}

/// Standard output of a program that ends well within a time. Its answer is short.
fn answer(command: &mut Command, patience: Duration) -> Result<String, String> {
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("does not start: {error}"))?;
    let (send, receive) = mpsc::channel();
    let pipe = child.stdout.take();
    // A thread of its own: whatever the program has started may hold the pipe open for ever.
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = pipe.map(|pipe| pipe.take(1 << 14).read_to_string(&mut text));
        let _ = send.send(read.transpose().map(|_| text));
    });
    let begun = Instant::now();
    let text = receive.recv_timeout(patience);
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => break,
            Ok(Some(status)) => return Err(format!("ended with {status}")),
            Ok(None) if begun.elapsed() < patience => std::thread::sleep(Duration::from_millis(5)),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                break;
            }
            Err(error) => return Err(error.to_string()),
        }
    }
    match text {
        Ok(text) => text.map_err(|error| error.to_string()),
        Err(_) => Err(format!("did not answer in {} ms", patience.as_millis())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_does_not_answer_is_not_waited_for() {
        let run = |script: &str| answer(Command::new("sh").args(["-c", script]), Duration::from_millis(500));
        assert_eq!(run("echo yes"), Ok("yes\n".into()));
        assert_eq!(run("exit 3"), Err("ended with exit status: 3".into()));
        assert_eq!(run("exec sleep 60"), Err("did not answer in 500 ms".into()));
        assert_eq!(run("sleep 5 & exit 0"), Err("did not answer in 500 ms".into()));
        let absent = answer(&mut Command::new("/nowhere/python3"), PATIENCE);
        assert!(absent.unwrap_err().starts_with("does not start: "));
    }
}
