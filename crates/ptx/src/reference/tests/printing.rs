//! What kernels print.

use crate::reference::testing::Session;

#[test]
fn module_variables_and_printing() {
    let text = r#"
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 table[4] = {10, 20, 30, 40};
.global .align 8 .u64 pointer = table;
.global .align 1 .b8 format[16] = {118, 61, 37, 100, 32, 37, 46, 50, 102, 10, 0};
.extern .func (.param .b32 status) vprintf (.param .b64 a, .param .b64 b);
.visible .entry test(.param .u64 out) {
    .local .align 8 .b8 arguments[16];
    .reg .b32 %r<4>; .reg .b64 %rd<8>; .reg .f64 %fd<2>; .reg .pred %p<2>;
    mov.u32 %r0, %tid.x;
    setp.ge.u32 %p0, %r0, 2;
    @%p0 ret;
    ld.global.u64 %rd0, [pointer];
    mul.wide.u32 %rd1, %r0, 4;
    add.u64 %rd0, %rd0, %rd1;
    ld.global.u32 %r1, [%rd0+4];
    mov.u64 %rd2, arguments;
    cvta.local.u64 %rd3, %rd2;
    cvt.rn.f64.u32 %fd0, %r0;
    st.local.u32 [%rd2], %r1;
    st.local.f64 [%rd2+8], %fd0;
    mov.u64 %rd4, format;
    cvta.global.u64 %rd5, %rd4;
    {
    .param .b64 a; .param .b64 b; .param .b32 status;
    st.param.b64 [a], %rd5;
    st.param.b64 [b], %rd3;
    call.uni (status), vprintf, (a, b);
    ld.param.b32 %r2, [status];
    }
    ret;
}
"#;
    let mut session = Session::new(text);
    let out = session.buffer(&[0]);
    let summary = session.launch("test", 1, 4, &[out]).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(summary.printed, "v=20 0.00\nv=30 1.00\n");
}

/// More arguments than an instruction has operands, strings and widths among them.
#[test]
fn long_prints_and_strings() {
    let format: Vec<String> = b"%s %d %d %d %*d %f %d %s|\n\0".iter().map(u8::to_string).collect();
    let mut stores = String::new();
    for (at, value) in [(8, 1), (12, 2), (16, 3), (20, 4), (24, 5)] {
        stores += &format!("add.u32 %r1, %r0, {value}; st.local.u32 [buffer+{at}], %r1;\n");
    }
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64
.global .align 1 .b8 format[{}] = {{{}}};
.global .align 1 .b8 name[4] = {{97, 98, 99, 0}};
.extern .func (.param .b32 status) vprintf (.param .b64 a, .param .b64 b);
.visible .entry test(.param .u64 out) {{
    .local .align 8 .b8 buffer[56];
    .reg .b32 %r<4>; .reg .b64 %rd<8>; .reg .f64 %fd<2>;
    mov.u32 %r0, %tid.x;
    mov.u64 %rd1, name; cvta.global.u64 %rd1, %rd1;
    st.local.u64 [buffer], %rd1;
    {stores}
    mov.f64 %fd1, 0d3FF8000000000000; st.local.f64 [buffer+32], %fd1;
    st.local.u32 [buffer+40], 7;
    add.u64 %rd1, %rd1, 1; st.local.u64 [buffer+48], %rd1;
    mov.u64 %rd2, buffer; cvta.local.u64 %rd3, %rd2;
    mov.u64 %rd4, format; cvta.global.u64 %rd5, %rd4;
    {{ .param .b64 a; .param .b64 b; .param .b32 status;
    st.param.b64 [a], %rd5; st.param.b64 [b], %rd3;
    call.uni (status), vprintf, (a, b); ld.param.b32 %r2, [status]; }}
    ret;
}}",
        format.len(),
        format.join(", ")
    );
    let mut session = Session::new(&text);
    let out = session.buffer(&[0]);
    let summary = session.launch("test", 1, 2, &[out]).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(summary.printed, "abc 1 2 3    5 1.500000 7 bc|\nabc 2 3 4     6 1.500000 7 bc|\n");
}
