//! A launch file packed with the files it names: it reads the same where those are not.

use std::path::Path;

use strata_workloads::HostProgram;
use strata_workloads::launch_file::{pack, read, read_package};

const FILE: &str = "module = \"sub/k.ptx\"\n\
    [[buffer]]\nname = \"x\"\ntype = \"u32\"\ncount = 2\ncontents = { file = \"x.bin\" }\n\
    [[launch]]\nkernel = \"k\"\ngrid = [1]\nblock = [1]\narguments = [{ buffer = \"x\" }]\n\
    [[check]]\nbuffer = \"x\"\nexpected = { file = \"x.bin\" }\n";

const PTX: &str =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\nret;\n}\n";

#[test]
fn a_package_holds_each_file_once_and_reads_without_them() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("package");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("sub")).unwrap();
    let path = folder.join("mine.toml");
    std::fs::write(&path, FILE).unwrap();
    std::fs::write(folder.join("sub/k.ptx"), PTX).unwrap();
    std::fs::write(folder.join("x.bin"), [7, 0, 0, 0, 255, 255, 255, 255]).unwrap();
    let named: Vec<_> = read(&path).unwrap().files().map(Path::to_owned).collect();
    assert_eq!(named, [folder.join("sub/k.ptx"), folder.join("x.bin")]);

    let package = pack(&path).unwrap();
    assert_eq!(package.files.keys().collect::<Vec<_>>(), ["sub/k.ptx", "x.bin"]);
    let before = format!("{:?}", read_package(&package).unwrap());
    std::fs::remove_dir_all(&folder).unwrap();
    let file = read_package(&package).unwrap();
    assert_eq!((file.name(), file.module().text), ("mine", PTX));
    assert_eq!(format!("{file:?}"), before);

    let mut lacking = package.clone();
    lacking.files.remove("x.bin");
    let error = read_package(&lacking).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "mine.toml:6:21: `buffer[0].contents.file`: found \"x.bin\", expected a file that came along"
        ),
        "{error}"
    );
    let mut short = package;
    short.files.insert("x.bin".into(), vec![7]);
    let error = read_package(&short).unwrap_err().to_string();
    assert!(error.ends_with("found a file of 1 bytes, expected 8 bytes: 2 elements of u32"), "{error}");
}
