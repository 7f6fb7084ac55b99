//! Names of texture and surface references, as compilers register them.

use std::ffi::{CStr, CString};

/// The PTX name of a reference registered under a C++ name. nvcc registers functions and variables by their
/// PTX names, but references by their C++ names starting from the global namespace: `::t` is `t`, and
/// `::a::t` is the Itanium C++ ABI's mangled name `_ZN1a1tE`.
pub fn in_ptx(registered: &CStr) -> CString {
    let Some(name) = registered.to_bytes().strip_prefix(b"::") else { return registered.to_owned() };
    let mut parts: Vec<&[u8]> = Vec::new();
    let mut rest = name;
    while let Some(at) = rest.windows(2).position(|pair| pair == b"::") {
        parts.push(&rest[..at]);
        rest = &rest[at + 2..];
    }
    if parts.is_empty() {
        return CString::new(name).expect("a part of a C string holds no NUL");
    }
    parts.push(rest);
    let mut mangled = b"_ZN".to_vec();
    for part in parts {
        mangled.extend_from_slice(part.len().to_string().as_bytes());
        mangled.extend_from_slice(part);
    }
    mangled.push(b'E');
    CString::new(mangled).expect("parts of a C string hold no NUL")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_registered_by_their_names_in_cpp() {
        for (registered, ptx) in [
            (c"tex", c"tex"),
            (c"::tex", c"tex"),
            (c"::space::t_features", c"_ZN5space10t_featuresE"),
            (c"::a::b::c", c"_ZN1a1b1cE"),
            (c"::", c""),
            (c"", c""),
        ] {
            assert_eq!(in_ptx(registered).as_c_str(), ptx);
        }
    }
}
