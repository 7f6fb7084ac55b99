//! PTX without a launch file: what the command offers runs when it is saved as told.

use super::{folder, refused, strata, well};

/// Runs the commands that a text gives, one in each line that begins with two spaces.
fn commands(text: &str) -> Vec<Vec<String>> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("  strata "));
    lines.map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

#[test]
fn ptx_alone_is_refused_with_a_launch_file_that_runs() {
    for name in ["saxpy", "gather", "gemm", "histo", "bfs", "atax"] {
        let folder = folder(&format!("offer-{name}"), &[]);
        std::fs::remove_dir_all(&folder).unwrap();
        well(&["workload", "export", name, folder.to_str().unwrap()]);
        let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let ptx = files.into_iter().find(|path| path.extension().is_some_and(|end| end == "ptx")).unwrap();
        let offer = refused(&["run", ptx.to_str().unwrap()]);
        assert!(offer.contains("found PTX, expected a launch file"), "{name}: {offer}");
        let [new, run] = &commands(&offer)[..] else { panic!("{name}: {offer}") };
        well(&new.iter().map(String::as_str).collect::<Vec<_>>());
        let written = std::fs::read_to_string(run.last().unwrap()).unwrap();
        assert!(offer.contains(&written), "{name}: {offer}\n{written}");
        let ran = strata(&run.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!((ran.status, ran.err.as_str()), (0, ""), "{name}: {written}");
        // A file that exists is kept, and not offered again.
        assert!(refused(&new.iter().map(String::as_str).collect::<Vec<_>>()).contains("exists"), "{name}");
        let again = commands(&refused(&["run", ptx.to_str().unwrap()]));
        assert_ne!(again[1].last(), run.last(), "{name}");
    }
}

#[test]
fn a_kernel_is_chosen_by_name_and_bad_ptx_is_named_by_line() {
    let ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry a() { ret; }\n\
        .visible .entry b(.param .u32 n) { ret; }\n";
    let folder = folder("offer-two", &[("two.ptx", ptx), ("bad.ptx", ".entry (\n")]);
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let offer = refused(&["run", &path("two.ptx"), "--kernel", "b"]);
    assert!(offer.contains("kernel = \"b\"") && offer.contains("--kernel b"), "{offer}");
    assert!(offer.contains("Other kernels, for --kernel: a"), "{offer}");
    assert!(refused(&["run", &path("two.ptx"), "--kernel", "c"]).contains("expected one of a, b"));
    assert!(refused(&["run", &path("bad.ptx")]).contains("bad.ptx:1:"));
    assert!(refused(&["run", &path("none.ptx")]).contains("none.ptx: No such file"));
}
