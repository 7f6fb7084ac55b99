//! Texts that nobody writes by accident: each is refused or compiled, soon, in little memory, without a panic.

use strata_ptx::back::{Options, compile};
use strata_ptx::front::{lower, parse_module};

/// Parses, lowers and compiles a text: what became of it, in a line.
fn fate(text: &str) -> String {
    let text = format!(".version 8.0\n.target sm_80\n.address_size 64\n{text}");
    let module = match parse_module("t", &text).and_then(|module| lower(&module, None)) {
        Ok(module) => module,
        Err(diagnostics) => return diagnostics.to_string().lines().next().unwrap_or_default().into(),
    };
    for function in &module.functions {
        if let Err(error) = compile(function, &Options::default()) {
            return error.to_string();
        }
    }
    "compiled".into()
}

/// The fate of a kernel with this body.
fn body(body: &str) -> String {
    fate(&format!(
        ".global .b32 g[4];\n.entry k(.param .u64 p)\n{{ .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; \
         .reg .f32 %f<8>; .reg .f64 %d<8>;\n{body}\n}}"
    ))
}

#[track_caller]
fn refused(fate: &str, reason: &str) {
    assert!(fate.contains(reason), "expected a refusal because of {reason:?}, found {fate:?}");
}

#[test]
fn brackets_inside_brackets_do_not_exhaust_the_stack() {
    let deep = format!("tex.2d {}", "[g,".repeat(200_000));
    refused(&body(&deep), "nested too deeply");
}

#[test]
fn a_name_of_many_digits_is_looked_up_soon() {
    refused(&body(&format!("mov.u32 %r1, %r{};", "1".repeat(200_000))), "undeclared name");
    assert_eq!(fate(".entry k() { .reg .b32 %r<16777216>; mov.u32 %r16777215, 1; }"), "compiled");
}

#[test]
fn the_largest_launch_bounds_compile() {
    for bounds in
        [".reqntid 65536, 65536, 2", ".maxntid 4294967295", ".maxntid 4294967295 .minnctapersm 4294967295"]
    {
        assert_eq!(fate(&format!(".entry k() {bounds} {{ ret; }}")), "compiled", "{bounds}");
    }
}

#[test]
fn offsets_at_the_end_of_64_bits_are_refused() {
    refused(&body("ld.param.u64 %rd1, [p+9223372036854775807];"), "access outside the parameter");
    refused(&body("ld.param.u64 %rd1, [p+-9223372036854775808];"), "access outside the parameter");
    let sum = "generic(g + 9223372036854775807) + 9223372036854775807";
    assert_eq!(fate(&format!(".global .u32 g; .global .u64 a = {sum}; .entry k() {{ ret; }}")), "compiled");
}

#[test]
fn a_declaration_has_no_initialiser() {
    let text = ".extern .global .u32 a[4] = {1, 2, 3, 4}; .global .u32 a; .entry k() { ret; }";
    refused(&fate(text), "initialiser of an external variable");
    let text = ".extern .global .u32 a[]; .global .u32 a[3][] = {{1}, {2}, {3}}; .entry k() { ret; }";
    refused(&fate(text), "array without a size");
    let text = ".extern .global .u32 a[]; .shared .u32 a[3]; .entry k() { ret; }";
    refused(&fate(text), "definition in another space than its declaration");
}

#[test]
fn a_short_initialiser_does_not_take_gigabytes() {
    refused(&fate(".global .b8 a[2][2147483648] = {{1}, {2}};"), "initialisers too large");
    let half = ".global .b8 a[2][268435450] = {{1}, {2}}; .global .b8 b[2][20000] = {{1}, {2}};";
    refused(&fate(half), "initialisers too large");
}

#[test]
fn the_bytes_of_an_address_lie_in_a_row() {
    let masks = |n: u32| format!("{:#x}(g)", 0xff_u64 << (8 * n));
    let row: Vec<String> = (0..8).map(masks).collect();
    let text = format!(".global .u32 g; .global .u8 a[8] = {{{}}}; .entry k() {{ ret; }}", row.join(", "));
    assert_eq!(fate(&text), "compiled");
    let apart: Vec<String> = (0..8).map(|n| format!("{{{}}}", masks(n))).collect();
    let text = format!(".global .u32 g; .global .u8 a[8][2] = {{{}}};", apart.join(", "));
    refused(&fate(&text), "part of an address");
}
