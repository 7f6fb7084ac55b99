//! Gives the library the name that executables look for, and its symbols that name as their version. The linker option for
//! the latter is GNU ld's.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-fuse-ld=bfd");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcudart.so.11.0");
    println!("cargo::rustc-cdylib-link-arg=-Wl,--default-symver");
}
