//! Faults of programs that are told: registers without a value, and livelocks.

use crate::{FILL, Ran, fill, folder, strata};

/// A launch file on a kernel of its own, in a folder of its own.
fn file(name: &str, kernel: &str, launch: &str) -> String {
    folder(name, &[("fill.ptx", kernel), ("launch.toml", launch)]).join("launch.toml").display().to_string()
}

/// A register that nothing writes is added to what is stored.
fn unwritten() -> String {
    FILL.replace("st.global", "add.u32 %r0, %r0, %r3;\nst.global")
}

#[test]
fn a_register_without_a_value_is_warned_of_once() {
    let launch = "[[launch]]\nkernel = \"fill\"\ngrid = [1]\nblock = [32]\n\
                  arguments = [{ buffer = \"to\" }, { u32 = 7 }]\n";
    let twice = fill("").replace("[[check]]\nbuffer = \"to\"\n", launch);
    assert_eq!(twice.matches("[[launch]]").count(), 2, "{twice}");
    let file = file("unwritten", &unwritten(), &twice);
    for arguments in [&["run", &file][..], &["run", &file, "--races"]] {
        let Ran { status, err, .. } = strata(arguments);
        assert_eq!(status, 0, "{arguments:?}: {err}");
        let warning =
            "fill.ptx:13:19: kernel `fill` reads `%r3` before it is written: its value is undefined\n";
        assert!(err.starts_with("warning: ") && err.ends_with(warning), "{err}");
        assert_eq!(err.lines().count(), 1, "{err}");
    }
}

#[test]
fn wrong_results_name_registers_without_a_value_and_point_to_races() {
    let launch = fill("expected = { constant = 1 }");
    let Ran { status, out, err } =
        strata(&["run", &file("unwritten-wrong", &unwritten(), &launch), "--check"]);
    assert_eq!(status, 1, "{out}{err}");
    let named =
        "wrong: `fill` reads %r3 before it is written (line 13): its value is undefined, which may be why\n";
    assert!(err.contains(named), "{err}");
    assert!(err.ends_with("the same command with --races in place of --check finds them\n"), "{err}");
    let Ran { status, err, .. } = strata(&["run", &file("written-wrong", FILL, &launch)]);
    assert!(status == 1 && !err.contains("undefined") && !err.contains("races"), "{err}");
}

#[test]
fn a_livelock_ends_the_run_and_names_its_lines() {
    let loops = "L: ld.volatile.global.u32 %r2, [%rd1];\nsetp.ne.u32 %p0, %r2, 9;\n@%p0 bra L;\nret;";
    let spins = FILL.replace("ret;", loops).replace(".reg .b32", ".reg .pred %p<2>;\n.reg .b32");
    let file = file("livelock", &spins, &fill(""));
    for extra in [&["--set", "gpu.sms=1"][..], &["--set", "gpu.sms=1", "--check"]] {
        let Ran { status, out, err } = strata(&[&["run", &file], extra].concat());
        assert_eq!(status, 2, "{out}{err}");
        assert!(out.contains("PARTIAL"), "{out}");
        assert!(err.contains("can never finish, a livelock"), "{err}");
        assert!(err.contains("goes round on lines 15, 16 and 17 with lanes 0xffffffff"), "{err}");
    }
    let Ran { status, err, .. } = strata(&["run", &file, "--races"]);
    assert!(status == 2 && err.contains("livelock: its warps go round for ever"), "{err}");
    assert!(err.contains("goes round on lines 15, 16 and 17"), "{err}");
}
