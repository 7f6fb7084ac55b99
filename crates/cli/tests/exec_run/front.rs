//! What stands before a program, and what `--report` says of it.

use super::*;

/// A program in Python that loads the driver by a path that no search leads to, and asks for what is not there.
const ASKS: &str = "import ctypes, sys\n\
    cuda = ctypes.CDLL(sys.argv[1])\n\
    assert cuda.cuInit(0) == 0\n\
    assert cuda.cuIpcGetMemHandle(None, 0) == 801\n\
    found = ctypes.c_void_p(1)\n\
    assert cuda.cuGetProcAddress_v2(b'cuNewerThanAll', ctypes.byref(found), 99000, ctypes.c_uint64(0), None) == 500\n\
    assert not found.value\n";

#[test]
fn a_report_says_what_was_found_and_what_was_not() {
    let folder = folder("report");
    // The vendor's, which must not be loaded.
    let vendors = folder.join("libcuda.so.1");
    std::fs::write(&vendors, "no library").unwrap();
    let mut command = exec(&["--report", "--functional"]);
    command.args(["python3", "-c", ASKS]).arg(&vendors);
    let (status, err) = ran(&mut command);
    assert_eq!(status, 0, "{err}");
    for line in [
        format!("  libcuda.so.1 for {}", vendors.display()),
        "not in the driver: cuNewerThanAll".to_owned(),
        "of the driver, called and not supported: cuIpcGetMemHandle".to_owned(),
    ] {
        assert!(err.lines().any(|found| found == line), "{line} is not in: {err}");
    }
}

/// Loads a text for other devices than the reported one twice: as it is, and in a fat binary.
const FOR_OTHERS: &str = "import ctypes, struct, sys\n\
    cuda = ctypes.CDLL('libcuda.so.1')\n\
    held = ctypes.c_void_p()\n\
    assert cuda.cuInit(0) == 0\n\
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(held), 0) == 0\n\
    assert cuda.cuCtxSetCurrent(held) == 0\n\
    text = b'.version 8.0\\n.target sm_90a\\n.address_size 64\\n.visible .entry k() { ret; }\\n\\0'\n\
    text += bytes(-len(text) % 8)\n\
    entry = struct.pack('<HHIQIIIIQQQ', 1, 0x101, 64, len(text), 0, 0, 0, 90, 0, 0x100000, 0) + bytes(8) + text\n\
    packed = struct.pack('<IHHQ', 0xba55ed50, 1, 16, len(entry)) + entry\n\
    for image in [text, packed]:\n\
    \x20   module, kernel = ctypes.c_void_p(), ctypes.c_void_p()\n\
    \x20   assert cuda.cuModuleLoadData(ctypes.byref(module), image) == 0\n\
    \x20   assert cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b'k') == 0\n\
    \x20   assert cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, None, None) == 0\n";

#[test]
fn ptx_for_other_devices_runs_and_is_named_once() {
    let says = |capability: &str| {
        let mut command = exec(&["--report", "--functional", "--compute-capability", capability]);
        let (status, err) = ran(command.args(["python3", "-c", FOR_OTHERS]));
        assert_eq!(status, 0, "{err}");
        err.lines().filter(|line| line.contains("PTX for")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        says("12.0"),
        [
            "strata: PTX for sm_90a is not for devices of the reported compute capability 12.0; it is used nevertheless; \
             `strata exec --compute-capability 9.0` reports another",
            "PTX for other devices: sm_90a where 12.0 is reported",
        ]
    );
    assert_eq!(says("9.0"), [""; 0]);
}

#[test]
fn parts_are_left_out() {
    let folder = folder("without");
    let nvcc = folder.join("nvcc");
    std::fs::write(&nvcc, "#!/bin/sh\necho \"$@\"\n").unwrap();
    std::fs::set_permissions(&nvcc, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let says = |options: &[&str]| {
        let mut command = exec(options);
        let script = "nvcc --cubin -arch sm_80 k.cu; nvcc --version; echo ${TRITON_PTXAS_PATH:+ptxas}";
        let output = command
            .args(["sh", "-c", script])
            .env("PATH", &path)
            .env_remove("TRITON_PTXAS_PATH")
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(
        says(&[]),
        "--ptx -arch compute_80 k.cu --output-file k.cubin\n--version\nStrata: PTX in the place of a cubin\nptxas\n"
    );
    assert_eq!(says(&["--without", "nvcc,ptxas"]), "--cubin -arch sm_80 k.cu\n--version\n\n");
}

#[test]
fn an_assembler_hands_out_what_it_has_checked() {
    let folder = folder("ptxas");
    let assembles = |text: &str| {
        std::fs::write(folder.join("k.ptx"), text).unwrap();
        let mut command = exec(&[]);
        let script = "cd \"$0\" && \"$TRITON_PTXAS_PATH\" -v --gpu-name=sm_80 k.ptx -o k.cubin";
        ran(command.args(["sh", "-c", script]).arg(&folder))
    };
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";
    let (status, err) = assembles(text);
    assert_eq!(status, 0, "{err}");
    assert_eq!(std::fs::read_to_string(folder.join("k.cubin")).unwrap(), text);
    let (status, err) = assembles(&text.replace("ret;", "mov.u32 %r1, 1; ret;"));
    assert!(status == 255 && err.contains("ptxas error   : k.ptx:4"), "{status}: {err}");
}
