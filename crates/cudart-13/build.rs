//! Gives the library the file name that executables look for, and its symbols that name as their version. The
//! symbol version needs a GNU ld option.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-fuse-ld=bfd");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcudart.so.13");
    println!("cargo::rustc-cdylib-link-arg=-Wl,--default-symver");
}
