//! What a user sees of a text that is wrong: place, what stands there, what could.
//!
//! `bad_ptx.txt` holds one case after another: `=== name`, the text, `---`, the messages. A text that does not
//! begin with a `.version` is the body of a kernel; its first line is line 7. `UPDATE_EXPECT=1` rewrites the
//! messages.

use strata_ptx::front::{lower, parse_module};

/// What stands around a text that is only a body.
const HEAD: &str = ".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{ .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
  .reg .f32 %f<8>; .reg .f64 %d<8>;
";

struct Case {
    name: String,
    text: String,
    messages: String,
}

fn cases(data: &str) -> Vec<Case> {
    let parts = data.split("=== ").skip(1);
    parts
        .map(|part| {
            let (name, rest) = part.split_once('\n').expect("a case has a name");
            let (text, messages) = rest.split_once("---\n").expect("a case has messages");
            Case { name: name.into(), text: text.into(), messages: messages.into() }
        })
        .collect()
}

fn messages(text: &str) -> String {
    let whole = match text.trim_start().starts_with(".version") || text.starts_with("//") {
        true => text.to_string(),
        false => format!("{HEAD}{text}}}\n"),
    };
    match parse_module("bad.ptx", &whole).and_then(|module| lower(&module, None)) {
        Ok(_) => "accepted\n".to_string(),
        Err(diagnostics) => format!("{diagnostics}\n"),
    }
}

#[test]
fn every_bad_text_has_its_message() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bad_ptx.txt");
    let cases = cases(&std::fs::read_to_string(path).expect("the cases lie beside the test"));
    assert!(cases.len() >= 40, "only {} cases were read", cases.len());
    let mut rewritten = String::new();
    let mut wrong = Vec::new();
    for case in &cases {
        let actual = messages(&case.text);
        rewritten += &format!("=== {}\n{}---\n{}\n", case.name, case.text, actual);
        if actual.trim_end() != case.messages.trim_end() {
            wrong.push(format!(
                "{}:\n  expected {}\n  actual   {}",
                case.name,
                case.messages.trim_end(),
                actual
            ));
        }
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, rewritten.trim_end().to_string() + "\n").expect("the cases can be written");
        return;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// No text makes the front end panic, hang or fill the memory: every prefix of a good one, and every one with
/// a byte replaced.
#[test]
fn damaged_texts_are_refused_quietly() {
    let good = format!(
        "{HEAD}ld.param.u64 %rd1, [p];\n{{ .reg .b32 %q<3>; mov.b64 {{%q0, _}}, %rd1; }}\n\
         L: @!%p1 bra L; setp.lt.and.s32 %p1|%p2, %r1, (3+4)*2, !%p3;\n\
         st.global.v2.f32 [%rd1+8], {{%f1, 0f3F800000}}; ret; }}\n\
         .global .align 8 .b8 t[16] = {{0xFF(x), 0xFF00(x), 1, -2}}; .global .u64 x = generic(t)+4;\n"
    );
    let bytes = good.as_bytes();
    for at in 0..bytes.len() {
        messages(&good[..at]);
        for replacement in [b'{', b'(', b'\"', b'0', b'.', b';', b'-', b'%', b'\0', b'<'] {
            let mut damaged = bytes.to_vec();
            damaged[at] = replacement;
            messages(std::str::from_utf8(&damaged).expect("the text is ASCII"));
        }
    }
}

#[test]
fn hostile_sizes_cost_nothing() {
    let deep = |open: &str, middle: &str, close: &str| open.repeat(100_000) + middle + &close.repeat(100_000);
    for body in [
        deep("{", "", "}"),
        format!("mov.u32 %r1, {};", deep("(", "1", ")")),
        format!("mov.u32 %r1, {}1;", "-".repeat(100_000)),
        format!("mov.b64 {}, %rd1;", deep("{", "%r1", "}")),
        format!("mov.u32 %r1, {}1;", "1+".repeat(100_000)),
        ".reg .b32 %x<16777216>; mov.u32 %x16777215, 1;".to_string(),
        format!("add{} %r1, %r1, %r1;", ".u32".repeat(100_000)),
    ] {
        messages(&format!("{body}\n"));
    }
    let doubling: String =
        (0..60).map(|n| format!(".func f{n}() {{ call f{m}; call f{m}; }}\n", m = n + 1)).collect();
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.func f60() {{ ret; }}\n{doubling}.entry k() {{ call f0; }}\n"
    );
    // Sixty functions that each call the next twice: 2^60 expansions, refused long before.
    assert!(messages(&text).contains("calls"), "{}", messages(&text));
}
