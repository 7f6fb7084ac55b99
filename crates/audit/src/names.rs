//! Names of libraries.

/// Libraries in front of which a stand-in is put that calls them: as their files are named, less version.
const CALLED: [&str; 2] = ["libnvrtc.so", "libnvJitLink.so"];

/// What the name begins with by which a stand-in asks for the library that it stands for.
const REAL: &str = "strata-real-";

/// What is meant by a name.
#[derive(Debug, PartialEq, Eq)]
pub enum Meaning<'a> {
    /// A library that another replaces whole.
    Replaced(&'a str),
    /// A library that its stand-in calls; its name less version.
    Called(&'static str),
    /// The library that a stand-in calls; its name less version.
    Real(&'static str),
}

/// The last part of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What is meant by a file name.
pub fn meaning(name: &str) -> Meaning<'_> {
    let find = |name: &str| CALLED.into_iter().find(|called| is_version_of(name, called));
    if let Some(real) = name.strip_prefix(REAL).and_then(find) {
        return Meaning::Real(real);
    }
    find(name).map_or(Meaning::Replaced(name), Meaning::Called)
}

/// Whether a name is another with nothing or with numbers behind it, as in `libnvrtc.so.12`. Not
/// `libnvrtc-builtins.so.12.9`, and not `libnvrtc.alt.so.12`.
fn is_version_of(name: &str, stem: &str) -> bool {
    let Some(rest) = name.strip_prefix(stem) else { return false };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    rest.is_empty() || rest.strip_prefix('.').is_some_and(|rest| rest.split('.').all(is_number))
}

/// Whether a library is one of CUDA's, so that a reader wants to know where it came from.
pub fn is_of_cuda(name: &str) -> bool {
    const STARTS: [&str; 8] = [
        "libcu",
        "libnv",
        "libstrata_",
        "libnccl",
        "libcaffe2_nvrtc",
        "libnpp",
        "libtorch_cuda",
        "libc10_cuda",
    ];
    // libcurl and libcups, for example, are not.
    const OTHERS: [&str; 3] = ["libcurl", "libcups", "libcurses"];
    STARTS.iter().any(|start| name.starts_with(start)) && !OTHERS.iter().any(|other| name.starts_with(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_of_the_same_library_and_companions_are_not() {
        for name in ["libnvrtc.so", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so.13.5.37"] {
            assert_eq!(meaning(name), Meaning::Called("libnvrtc.so"), "{name}");
        }
        for name in [
            "libnvrtc-builtins.so.13.5",
            "libnvrtc.alt.so.13",
            "libnvrtc.so.",
            "libnvrtc.so.a",
            "libcuda.so.1",
        ] {
            assert_eq!(meaning(name), Meaning::Replaced(name));
        }
        assert_eq!(meaning("strata-real-libnvJitLink.so"), Meaning::Real("libnvJitLink.so"));
        assert_eq!(file_name("/a/b/libcuda.so.1"), "libcuda.so.1");
        assert_eq!(file_name("libcuda.so.1"), "libcuda.so.1");
    }

    #[test]
    fn libraries_of_cuda_are_told_from_others() {
        assert!(
            is_of_cuda("libcudart.so.13")
                && is_of_cuda("libnvJitLink.so.12")
                && is_of_cuda("libcublasLt.so.13")
        );
        assert!(!is_of_cuda("libcurl.so.4") && !is_of_cuda("libc.so.6") && !is_of_cuda("libncursesw.so.6"));
    }
}
